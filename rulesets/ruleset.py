"""A ruleset resolved for one model and one scenario: all rules of a run, in a form that a log can keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import asdict, dataclass, field, replace
from rulesets.condition import Condition
from rulesets.definitions import Definitions
from rulesets.demands import (
    AuditDemand,
    Baseline,
    DatasetDemand,
    GenerationDemand,
    LoadDemand,
    OptionsDemand,
    SteadyStateDemand,
    Sweep,
    ValidityDemand,
)
from rulesets.errors import ExpressionError, RulesetError, TargetError
from rulesets.expression import parse
from rulesets.from_plain import from_plain
from rulesets.target import Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_KINDS: Final[Mapping[str, Any]] = {
    "name": str,
    "version": str,
    "validity": ValidityDemand,
    "source": tuple[str, ...],
    "model": str,
    "scenario": str,
    "locked": bool,
    "definitions": Definitions,
    "load": LoadDemand | None,
    "dataset": DatasetDemand,
    "generation": GenerationDemand,
    "options": OptionsDemand,
    "audits": tuple[AuditDemand, ...],
    "steady_state": SteadyStateDemand,
    "baseline": Baseline | None,
    "sweep": Sweep | None,
    "power": dict[str, Any],
    "report": dict[str, Any],
    "notes": tuple[str, ...],
    "overrides": tuple[str, ...],
}
"""The fields that are kept as they are; targets and seeds are not."""


_AUDIT_KEYS: Final = {"name": "name", "told": "parameters"}
"""The fields of an audit by the keys that a log has for them."""


@dataclass(frozen=True, slots=True)
class Ruleset:
    """The rules of a run, resolved for one model and one scenario.

    Attributes:
        version: Its version, as its author counts.
        targets: What the run must reach, with unique ids; accuracy gates and goodput are among them.
        validity: What makes a run valid.
        source: Where the rules come from.
        model: The entry of the document that it was resolved for; empty for a flat file.
        scenario: The scenario of that model; empty for a flat file.
        locked: Whether a file that extends it may only tighten it.
        load: The load that is prescribed; None for any.
        options: The options that the run must have been started with.
        seeds: Those that are prescribed: `sample_index`, `schedule`, `model`, `qsl`.
        audits: Checks of the run's integrity.
        power: `source` and `required`.
        report: `junit`, `github_annotations`, `keys`.
        notes: Conflicts between sources, and the like.
        overrides: What a file, or a command line, changed in the rules that it extends.
    """

    name: str
    version: str
    targets: tuple[Target, ...]
    validity: ValidityDemand = field(default_factory=ValidityDemand)
    source: tuple[str, ...] = ()
    model: str = ""
    scenario: str = ""
    locked: bool = False
    definitions: Definitions = field(default_factory=Definitions)
    load: LoadDemand | None = None
    dataset: DatasetDemand = field(default_factory=DatasetDemand)
    generation: GenerationDemand = field(default_factory=GenerationDemand)
    options: OptionsDemand = field(default_factory=OptionsDemand)
    seeds: Mapping[str, int] = field(default_factory=dict)
    audits: tuple[AuditDemand, ...] = ()
    steady_state: SteadyStateDemand = field(default_factory=SteadyStateDemand)
    baseline: Baseline | None = None
    sweep: Sweep | None = None
    power: Mapping[str, Any] = field(default_factory=dict)
    report: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The ruleset as JSON-able values, for `of_dict`. Seeds are texts: as doubles not all are exact."""
        audits = [{"name": audit.name, "told": dict(audit.parameters)} for audit in self.audits]
        return asdict(self) | {
            "seeds": {name: str(seed) for name, seed in self.seeds.items()},
            "audits": audits,
        }

    @classmethod
    def of_dict(cls, plain: Mapping[str, Any]) -> Ruleset:
        """Make the ruleset that `to_dict` of this version, or of one with fewer keys, has written.

        Raises:
            RulesetError: The values are not those of a ruleset.
        """
        try:
            return cls._of_dict(plain)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, TargetError) as error:
            raise RulesetError(f"the log's rules cannot be read ({error}); give others") from error

    @classmethod
    def _of_dict(cls, plain: Mapping[str, Any]) -> Ruleset:
        if unknown := plain.keys() - cls.__dataclass_fields__.keys():
            raise TypeError(f"there is no {min(unknown)!r} in a ruleset")
        stored = {name: plain[name] for name in _KINDS if name in plain}
        if "audits" in stored:
            stored["audits"] = [
                {_AUDIT_KEYS[key]: value for key, value in audit.items()} for audit in stored["audits"]
            ]
        values = {name: from_plain(_KINDS[name], value) for name, value in stored.items()}
        _check(values.get("validity", ValidityDemand()))
        return cls(
            **values,
            targets=tuple(map(_kept_target, plain["targets"])),
            seeds={name: int(seed) for name, seed in plain.get("seeds", {}).items()},
        )


def _kept_target(plain: Mapping[str, Any]) -> Target:
    stored = from_plain(Target, plain)
    parts = {name: getattr(stored, name) for name in Target.__dataclass_fields__ if name != "id"}
    parts["confidence"] = None if stored.confidence is None else asdict(stored.confidence)
    parts["conditions"] = [
        Condition.of(metric=condition.metric, op=condition.op, value=condition.value, unit=condition.unit)
        for condition in stored.conditions
    ]
    return replace(Target.of(**parts), id=stored.id)


def _check(validity: ValidityDemand) -> None:
    """Check the bounds of a stored validity."""
    rate = validity.max_error_rate
    if rate is not None and not 0 <= rate < 1:
        raise ValueError(f"max_error_rate must be a fraction from 0 to below 1, not {rate}")
    for name in ("min_samples", "min_duration_s", "min_passes", "min_samples_per_concurrency"):
        least = getattr(validity, name)
        if least is not None and not least > 0:
            raise ValueError(f"{name} must be above 0, not {least}")


def of_expressions(expressions: Iterable[str]) -> Ruleset:
    """Make a ruleset from short forms, as given on the command line.

    Raises:
        ExpressionError: One cannot be read, or two ask for the same, or for what no run can meet at once.
        RulesetError: No expression is given.
    """
    targets: dict[str, Target] = {}
    for expression in expressions:
        target = parse(expression)
        if target.id in targets:
            raise ExpressionError(expression, 1, "is asked for twice; leave one out")
        for other in targets.values():
            if _exclude(other, target):
                raise ExpressionError(
                    expression, 1, f"can never pass together with {other.id!r}; leave one out"
                )
        targets[target.id] = target
    if not targets:
        raise RulesetError("there is no requirement, and a gate without one would pass everything")
    return Ruleset("command line", "", tuple(targets.values()))


def _exclude(target: Target, other: Target) -> bool:
    """Whether no figure meets both, and both must be met."""
    from rulesets import bounds

    same = target.severity == other.severity == "fail" and bounds.subject(target) == bounds.subject(other)
    return same and not bounds.of(target).meets(bounds.of(other))
