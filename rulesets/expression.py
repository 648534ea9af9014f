"""The short form of a target, as used on the command line: `ttft:p(99)<500ms`.

    EXPRESSION := METRIC [ '{' TAG ':' VALUE { ',' TAG ':' VALUE } '}' ] [ ':' STAT ] [ ':delta' ]
                  OP NUMBER [ UNIT ] [ '@' CONFIDENCE ] [ '!' SEVERITY ]
    METRIC     := NAME | 'accuracy.' NAME | 'good(' CONDITION { ',' CONDITION } ')'
    CONDITION  := NAME OP NUMBER UNIT

It is read from left to right, one part after the other, with white space allowed between the parts. A tag or
value with signs in it goes in double quotes, as JSON writes text. CONFIDENCE is described in `confidence`.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from rulesets.condition import Condition
from rulesets.errors import ExpressionError, TargetError
from rulesets.quantity import DECIMAL
from rulesets.target import Target, spell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_PARTS: Final = (
    ("metric", re.compile(r"(accuracy\.[\w.-]*|[A-Za-z]\w*)", re.ASCII), "a metric"),
    ("conditions", re.compile(r"(\([^()]*\))"), None),
    ("where", re.compile(r'(\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\})'), None),
    ("stat", re.compile(r":\s*([^<>=!:@{}]*)"), None),
    ("delta", re.compile(r":\s*([^<>=!@{}]*)"), None),
    ("op", re.compile(r"([<>=!]+)"), "an operator"),
    ("value", re.compile(f"({DECIMAL})", re.ASCII), "a number"),
    ("unit", re.compile(r"([A-Za-z%][\w%/]*)"), None),
    ("confidence", re.compile(r"@\s*([\w.-]*)"), None),
    ("severity", re.compile(r"!\s*(\w*)"), None),
)
"""Name, pattern, and how it is called when it is missing; what has no such name can be left out."""

_BARE: Final = r"[\w./+-]+"
_TEXT: Final = rf'({_BARE}|"(?:[^"\\]|\\.)*")'
_PAIR: Final = re.compile(rf"\s*{_TEXT}\s*:\s*{_TEXT}\s*(,|$)")
_FRACTION: Final = 0.5
"""A percentile from here to 1 is refused: `p(0.99)` was meant to be `p(99)`."""
_DELTA: Final = "delta"

_HOW: Final = (
    "write METRIC:STAT OP NUMBER UNIT, e.g. 'ttft:p(99)<500ms' or 'error<1%'. Add @es99 or "
    "@ucl95 for a proof, and !warn or !info for a rule that cannot fail the run"
)


def parse(text: str) -> Target:
    """Read a short form.

    Returns:
        The target; its id is the short form as `unparse` writes it.

    Raises:
        ExpressionError: It does not follow the grammar, or names what does not exist; where it is plain what
            was meant, the message has the short form to type.
    """
    try:
        return _parsed(text)
    except ExpressionError as error:
        if (instead := _meant(text)) is None:
            raise
        what = error.message.partition("; ")[0]
        raise ExpressionError(text, error.column, f"{what}; type {instead!r}") from error


def _meant(text: str) -> str | None:
    """The short form that a text was meant to be; None where it is not plain."""
    from rulesets.meant import meant

    for candidate in meant(text):
        with suppress(ExpressionError):
            _parsed(candidate)
            return candidate
    return None


def _parsed(text: str) -> Target:
    parts, columns = _scan(text)
    try:
        target = Target.of(
            metric=parts["metric"],
            stat=parts.get("stat"),
            op=parts["op"],
            value=float(parts["value"]),
            unit=parts.get("unit"),
            severity=parts.get("severity", "fail"),
            where=_optional(parts, "where", _where) or (),
            confidence=_optional(parts, "confidence", _confidence),
            conditions=_optional(parts, "conditions", _conditions) or (),
            delta="delta" in parts,
        )
    except TargetError as error:
        raise ExpressionError(text, columns[error.part], str(error)) from error
    if target.percentile is not None and _FRACTION <= 100 * target.percentile < 1:
        raise ExpressionError(text, columns["stat"], f"{parts['stat']} is a percentile below 1 %")
    return replace(target, id=unparse(target))


def unparse(target: Target) -> str:
    """The short form of a target, without `id`, `source`, `note` and `on_missing`."""
    return "".join(_written(target))


def described(target: Target) -> str:
    """The short form of a target, without the bound for an informational figure."""
    return "".join(_written(target, bounded=not target.is_only_shown))


def subject(text: str) -> str:
    """The metric and the statistic of a short form, without bound, conditions and confidence.

    Another text, such as the id of a rule, stays as it is.
    """
    try:
        target = _parsed(text)
    except ExpressionError:
        return text
    plain = replace(target, conditions=(), confidence=None, severity="fail")
    severity = "" if target.severity == "fail" else f"!{target.severity}"
    return "".join(_written(plain, bounded=False)) + severity


def _written(target: Target, *, bounded: bool = True) -> Iterator[str]:
    yield target.metric
    if target.conditions:
        yield f"({','.join(map(str, target.conditions))})"
    if target.where:
        yield "{" + ",".join(f"{_quoted(tag)}:{_quoted(value)}" for tag, value in target.where) + "}"
    yield f":{spell(target.stat)}"
    if target.delta:
        yield f":{_DELTA}"
    if bounded:
        yield f"{target.op}{repr(target.value).removesuffix('.0')}{target.unit}"
    if target.confidence:
        from rulesets import confidence

        default, *_ = confidence.methods(target.quantity, target.stat, delta=target.delta)
        yield f"@{confidence.write(target.confidence, default)}"
    if target.severity != "fail":
        yield f"!{target.severity}"


def _confidence(text: str) -> Any:
    from rulesets.confidence import read

    return read(text)


def _scan(text: str) -> tuple[Mapping[str, str], Mapping[str, int]]:
    """Split a short form into parts, with the column of each, present or missing."""
    parts: dict[str, str] = {}
    columns: dict[str, int] = {}
    position = _skip(text, 0)
    for name, pattern, needed in _PARTS:
        columns.setdefault(name, position + 1)
        match = pattern.match(text, position)
        if match:
            parts[name] = match[1].strip()
            columns[name] = match.start(1) + 1
            position = _skip(text, match.end())
        elif needed:
            raise ExpressionError(text, position + 1, f"{needed} is missing{_before(text, position)}; {_HOW}")
        if name == "stat" and parts.get(name) == _DELTA:  # the only statistic of a metric need not be named
            parts[_DELTA], columns[_DELTA] = parts.pop(name), columns[name]
    if position < len(text):
        raise ExpressionError(text, position + 1, f"{text[position:]!r} is too much; {_HOW}")
    if parts.get(_DELTA, _DELTA) != _DELTA:
        message = f"only :{_DELTA} can follow a statistic, not {parts[_DELTA]!r}"
        raise ExpressionError(text, columns[_DELTA], message)
    return parts, columns


def _optional(parts: Mapping[str, str], name: str, read: Callable[[str], Any]) -> Any:
    return read(parts[name]) if name in parts else None


def _conditions(text: str) -> list[Condition]:
    return [Condition.parse(condition) for condition in text[1:-1].split(",") if text[1:-1].strip()]


def _where(text: str) -> list[tuple[str, str]]:
    """Read `{region:high,"a tag":"a, b"}`."""
    pairs: list[tuple[str, str]] = []
    position, inner = 0, text[1:-1].strip()
    while position < len(inner) or not pairs:
        pair = _PAIR.match(inner, position)
        if pair is None or (pair[3] == "," and pair.end() == len(inner)):
            wrong = inner[position:] or text
            raise TargetError("where", f'{wrong!r} is not TAG:VALUE; put signs in quotes: {{region:"a b"}}')
        pairs.append((_text(pair[1]), _text(pair[2])))
        position = pair.end()
    return pairs


def _text(written: str) -> str:
    if not written.startswith('"'):
        return written
    try:
        return str(json.loads(written))
    except ValueError:
        raise TargetError("where", f"{written} is not a JSON string in quotes") from None


def _quoted(text: str) -> str:
    return text if re.fullmatch(_BARE, text) else json.dumps(text)


def _skip(text: str, position: int) -> int:
    """Step over white space."""
    return len(text) - len(text[position:].lstrip())


def _before(text: str, position: int) -> str:
    return f" before {text[position:]!r}" if position < len(text) else ""
