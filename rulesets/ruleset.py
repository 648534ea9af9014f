"""A ruleset, from a YAML file or from short forms: the targets of a run, and what makes it valid at all."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rulesets.errors import ExpressionError, RulesetError, TargetError
from rulesets.expression import parse, unparse
from rulesets.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rulesets.document import Part

SCHEMA: Final = "rulesets/1"
"""The format that this version reads."""

_TARGET_KEYS: Final = ("id", "metric", "stat", "op", "value", "unit", "severity", "source")

_LAWS: Final[Mapping[str, tuple[str, Callable[[float], bool]]]] = {
    "max_error_rate": ("a fraction from 0 to below 1 (0.01 is one in a hundred)", lambda rate: 0 <= rate < 1),
    "min_samples": ("a whole number from 1 up", lambda count: count >= 1 and count == int(count)),
    "min_duration_s": ("a number of seconds above 0", lambda seconds: seconds > 0),
}
"""What each validity rule must be, in words and as a test."""


@dataclass(frozen=True, slots=True)
class Validity:
    """What a run must have to stand for the server. None asks for nothing.

    Attributes:
        max_error_rate: The greatest share of failed requests among those that ended, 0 to below 1.
        min_samples: The least number of completed requests.
        min_duration_s: The shortest window, in seconds.
    """

    max_error_rate: float | None = None
    min_samples: int | None = None
    min_duration_s: float | None = None


@dataclass(frozen=True, slots=True)
class Ruleset:
    """The targets of a run, and what makes it valid.

    Attributes:
        name: What the ruleset is called.
        version: Its version, as its author counts.
        targets: At least one, with unique ids.
        validity: What makes a run valid.
        source: Where the rules come from.
    """

    name: str
    version: str
    targets: tuple[Target, ...]
    validity: Validity = Validity()
    source: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The ruleset as JSON-able values; `of_dict` makes it again."""
        return asdict(self)

    @classmethod
    def of_dict(cls, plain: Mapping[str, Any]) -> Ruleset:
        """Make the ruleset that `to_dict` told of.

        Raises:
            RulesetError: It told of none.
        """
        try:
            return cls._of_dict(plain)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, TargetError) as error:
            raise RulesetError(f"the log holds rules that are none ({error}); give others") from error

    @classmethod
    def _of_dict(cls, plain: Mapping[str, Any]) -> Ruleset:
        return cls(
            name=_text(plain["name"]),
            version=_text(plain["version"]),
            targets=tuple(map(_kept_target, plain["targets"])),
            validity=_kept_validity(plain["validity"]),
            source=tuple(map(_text, plain["source"])),
        )


def _kept_target(plain: Mapping[str, Any]) -> Target:
    given = {name: value for name, value in plain.items() if name not in {"id", "where"}}
    where = tuple((_text(tag), _text(value)) for tag, value in plain["where"])
    _text(plain["source"])
    return replace(Target.of(**given), id=_text(plain["id"]), where=where)


def _kept_validity(plain: Mapping[str, Any]) -> Validity:
    for name, value in plain.items():
        if value is not None and not _LAWS[name][1](value):
            raise ValueError(f"{name} must be {_LAWS[name][0]}, not {value}")
    return Validity(**plain)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def of_expressions(expressions: Iterable[str]) -> Ruleset:
    """Make a ruleset of short forms, as a command line gives them.

    Raises:
        ExpressionError: One cannot be read, or two ask for the same.
        RulesetError: There are none.
    """
    targets: dict[str, Target] = {}
    for expression in expressions:
        target = parse(expression)
        if target.id in targets:
            raise ExpressionError(expression, 1, "is asked for twice; leave one out")
        targets[target.id] = target
    if not targets:
        raise RulesetError("there is no requirement, and a gate without one would pass everything")
    return Ruleset("command line", "", tuple(targets.values()))


def load(path: Path | str) -> Ruleset:
    """Read a ruleset from a YAML file (docs/rulesets.md).

    Raises:
        RulesetFileError: It cannot be read or is no ruleset; the message names file, line and key.
    """
    from rulesets import document

    whole = document.read(Path(path))
    top = whole.mapping(
        ("schema", "ruleset", "targets", "validity"), required=("schema", "ruleset", "targets")
    )
    schema = top["schema"].text()
    if schema != SCHEMA:
        raise top["schema"].error(f"is {schema!r}, and this version reads {SCHEMA!r}")
    head = top["ruleset"].mapping(("name", "version", "source"), required=("name", "version"))
    return Ruleset(
        name=head["name"].text(),
        version=head["version"].text(),
        targets=_targets(top["targets"]),
        validity=_validity(top["validity"]) if "validity" in top else Validity(),
        source=_source(head["source"]) if "source" in head else (),
    )


def _source(part: Part) -> tuple[str, ...]:
    return tuple(line.text() for line in part.sequence()) if part.is_sequence() else (part.text(),)


def _targets(part: Part) -> tuple[Target, ...]:
    targets: list[Target] = []
    lines: dict[str, int] = {}
    for item in part.sequence():
        target = _detailed(item) if item.is_mapping() else _short(item)
        if target.id in lines:
            raise item.error(f"the id {target.id!r} stands twice, first on line {lines[target.id]}")
        lines[target.id] = item.line
        targets.append(target)
    if not targets:
        raise part.error("is empty, and a gate without a target would pass everything")
    return tuple(targets)


def _short(part: Part) -> Target:
    try:
        return parse(part.text())
    except ExpressionError as error:
        raise part.error(str(error)) from error


def _detailed(part: Part) -> Target:
    """Read a target that is written out key by key."""
    keys = part.mapping(_TARGET_KEYS, required=("metric", "op", "value"))
    texts = {name: keys[name].text() for name in keys if name != "value"}
    try:
        target = Target.of(
            metric=texts["metric"],
            stat=texts.get("stat"),
            op=texts["op"],
            value=keys["value"].number(),
            unit=texts.get("unit"),
            severity=texts.get("severity", "fail"),
            source=texts.get("source", ""),
        )
    except TargetError as error:
        raise keys.get(error.part, part).error(str(error)) from error
    return replace(target, id=texts.get("id", unparse(target)))


def _validity(part: Part) -> Validity:
    keys = part.mapping([field.name for field in fields(Validity)])
    numbers = {name: value.number() for name, value in keys.items()}
    for name, (allowed, lawful) in _LAWS.items():
        if name in numbers and not lawful(numbers[name]):
            raise keys[name].error(f"must be {allowed}, not {numbers[name]:g}")
    samples = numbers.get("min_samples")
    return Validity(
        max_error_rate=numbers.get("max_error_rate"),
        min_samples=None if samples is None else int(samples),
        min_duration_s=numbers.get("min_duration_s"),
    )
