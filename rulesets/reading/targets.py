"""Targets, accuracy gates and goodputs of a document: all become targets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, get_args

from rulesets.condition import Condition
from rulesets.confidence import Form, Method, Side
from rulesets.errors import ExpressionError, TargetError
from rulesets.evaluators.row import Group
from rulesets.expression import described, parse
from rulesets.metric_table import METRICS
from rulesets.nearest import suggestion
from rulesets.quantity import ACCURACY as SCORE
from rulesets.quantity import COMPARE, EVERYTHING, METRIC_ALIASES, SCORE_NAME, SCORES, exact
from rulesets.reading.rules import Rules, RuleShape
from rulesets.reading.shape import (
    ANY_NUMBER,
    COUNT,
    NOT_NEGATIVE,
    SHARE,
    Located,
    Shape,
    choice,
    either,
    items,
    keys,
    named,
    number,
    one_of,
    scalar,
    text,
    truth,
    whole,
)
from rulesets.target import OnMissing, Severity, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from rulesets.document import DocumentPart

_METRIC: Final = "|".join([*METRICS, *METRIC_ALIASES])


def _word(names: Iterable[str]) -> Shape:
    """A word that `Target.of` knows, or refuses in its own words."""
    return Shape(text().read, {"enum": list(names)})


_CONFIDENCE: Final = keys(
    {
        "method": _word(("none", *get_args(Method))),
        "level": number(SHARE),
        "form": _word(get_args(Form)),
        "side": _word(get_args(Side)),
    }
)
_SAYINGS: Final[Mapping[str, Shape]] = {
    "severity": _word(get_args(Severity)),
    "on_missing": _word(get_args(OnMissing)),
    "source": text(),
    "note": text(),
}
"""What every way to write a target takes."""

_LONG: Final = keys(
    {
        "id": text(),
        "metric": Shape(text().read, {"type": "string", "pattern": rf"^\s*({_METRIC}|accuracy\..+)\s*$"}),
        "where": named(scalar(), "a tag"),
        "stat": text(),
        "op": _word(COMPARE),
        "value": number(),
        "unit": text(),
        "delta": truth(),
        "conditions": items(text(), least=1),
        "confidence": _CONFIDENCE,
        **_SAYINGS,
    },
    required=("metric",),
)
_BOUNDED: Final = {
    "if": {"properties": {"severity": {"const": "info"}}, "required": ["severity"]},
    "else": {"required": ["op", "value"]},
}
_SHORT: Final = Shape(
    text().read, {"type": "string", "pattern": rf"^\s*(({_METRIC})\b|accuracy\.).*[<>=!]=?\s*[-+.\d]"}
)
_TARGET: Final = either(scalar=_SHORT, mapping=Shape(_LONG.read, {**_LONG.schema, **_BOUNDED}))

_GROUPS: Final = frozenset(get_args(Group))
_TAKEN: Final = _GROUPS - {"target", "accuracy", "goodput"} | {"dataset", "generation", "seeds", "power"}
"""What the ids of rules that are no targets begin with, before the first dot."""

TARGETS: Final = items(_TARGET, least=1)

_LIMIT: Final = Shape(
    keys({"factor": number(NOT_NEGATIVE), "abs": number()}).read,
    {
        "type": "object",
        "properties": {"factor": {"type": "number", "minimum": 0}, "abs": {"type": "number"}},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    },
)
_GATE: Final = keys(
    {
        "metric": Shape(text().read, {"type": "string", "pattern": rf"^\s*{SCORE_NAME.pattern}\s*$"}),
        "reference": number(ANY_NUMBER),
        "min": _LIMIT,
        "max": _LIMIT,
        "runs": whole(COUNT),
        "combine": choice(("each", "mean")),
        "ci": choice(("wilson", "clustered", "none")),
        **_SAYINGS,
    },
    required=("metric",),
)
ACCURACY: Final = items(
    Shape(_GATE.read, {**_GATE.schema, "anyOf": [{"required": ["min"]}, {"required": ["max"]}]}), least=1
)

_GOODPUT: Final = keys(
    {
        "slo": Shape(
            named(number(), "a latency").read,
            {
                "type": "object",
                "propertyNames": {"pattern": "_ms$"},
                "additionalProperties": {"type": "number", "minimum": 0},
                "minProperties": 1,
            },
        ),
        "min_fraction": number(SHARE),
        "min_rps": number(NOT_NEGATIVE),
        **_SAYINGS,
    },
    required=("slo",),
)
GOODPUT: Final = Shape(
    _GOODPUT.read,
    {**_GOODPUT.schema, "anyOf": [{"required": ["min_fraction"]}, {"required": ["min_rps"]}]},
)

_CI: Final = {"none": "none", "wilson": "wilson", "clustered": "normal"}
"""The method of a confidence by the name of an interval: standard errors are clustered if samples repeat."""
_BOUNDS: Final = (("min", ">=", ""), ("max", "<=", ".max"))
"""Of an accuracy gate: the key, the operator, and what the id ends with."""


def all_targets(said: Mapping[str, Located]) -> Rules:
    """The targets that a scenario, a model or a flat file makes, in the order of the file.

    Raises:
        RulesetFileError: One makes no sense, or two have one id.
    """
    rules: Rules = {}
    readers: Mapping[str, Callable[[Located], Iterator[tuple[Target, DocumentPart]]]] = {
        "targets": _targets,
        "accuracy": _gates,
        "goodput": _goodput,
    }
    for name, reader in readers.items():
        if name not in said:
            continue
        for target, part in reader(said[name]):
            _check_id(target.id, part)
            first = rules.get(("targets", target.id))
            if first is not None:
                raise part.error(f"the id {target.id!r} stands twice, first on line {first.part.line}")
            rules["targets", target.id] = RuleShape(target, part)
    return rules


def _check_id(own: str, part: DocumentPart) -> None:
    """See that the id can be told from those of other rules, and be shown."""
    if own in _GROUPS or own.partition(".")[0] in _TAKEN:
        raise part.error(f"the id {own!r} is that of other rules, or of a group of them; choose another")
    if not own.isprintable():
        raise part.error(f"the id {own!r} has signs that cannot be shown; choose another")


def _targets(said: Located) -> Iterator[tuple[Target, DocumentPart]]:
    if not said.value:
        raise said.part.error("is empty, and a gate without a target would pass everything")
    for item in said.value:
        yield (_long(item) if isinstance(item.value, dict) else _short(item)), item.part


def _short(item: Located) -> Target:
    try:
        return parse(item.value)
    except ExpressionError as error:
        raise item.part.error(str(error)) from error


def _long(item: Located) -> Target:
    """Read a target that is written out key by key."""
    told = {name: said.plain() for name, said in item.value.items()}
    parts = {name: said.part for name, said in item.value.items()}
    own = told.pop("id", None)
    if "where" in told:
        told["where"] = [(tag, said.part.node.value) for tag, said in item.value["where"].value.items()]
    if "op" not in told or "value" not in told:
        told = _unbounded(told, item.part)
    if "conditions" in item.value:
        told["conditions"] = [_condition(said) for said in item.value["conditions"].value]
    target = _made(told, item.part, parts)
    return replace(target, id=own or described(target))


def _condition(said: Located) -> Condition:
    try:
        return Condition.parse(said.value)
    except TargetError as error:
        raise said.part.error(str(error)) from error


def _unbounded(told: Mapping[str, Any], part: DocumentPart) -> dict[str, Any]:
    """Give a figure that is only shown a bound that it meets."""
    missing = next(name for name in ("op", "value") if name not in told)
    if told.get("severity") != "info" or "op" in told or "value" in told:
        raise part.error(f"the key {missing!r} is missing")
    metric = METRIC_ALIASES.get(told["metric"], told["metric"])
    found = METRICS.get(metric, SCORE)
    if found.kind not in EVERYTHING or told.get("delta"):
        raise part.error(f"the key {missing!r} is missing; {told['metric']} is not shown without a bound")
    op, bound = EVERYTHING[found.kind]
    unit = told.get("unit") or ("ms" if found.kind == "latency" else None)
    each = found.scale.units.get(unit) if unit else None
    return {**told, "op": op, "value": float(exact(bound) / each) if each else bound, "unit": unit}


def _made(told: Mapping[str, Any], part: DocumentPart, parts: Mapping[str, DocumentPart]) -> Target:
    """Make a target of its keys; an error names the key that it is about."""
    try:
        given = dict(told)
        if "confidence" in given:
            given["confidence"] = _confidence(given["confidence"])
        return Target.of(**given)
    except TargetError as error:
        raise parts.get(error.part, part).error(str(error)) from error


def _confidence(told: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if told.get("method") != "none":
        return told
    if len(told) > 1:
        raise TargetError("confidence", "has no level, form or side where its method is none")
    return None


def _gates(said: Located) -> Iterator[tuple[Target, DocumentPart]]:
    for item in said.value:
        gate = item.value
        if "min" not in gate and "max" not in gate:
            raise item.part.error("needs a bound: min, max or both")
        if not SCORE_NAME.fullmatch(gate["metric"].value):
            raise gate["metric"].part.error(f"{gate['metric'].value!r} names no score; write ROUGE1, say")
        for key, op, ending in _BOUNDS:
            if key in gate:
                yield _gate(item, key, op, ending), item.part


def _gate(item: Located, key: str, op: str, ending: str) -> Target:
    gate = item.value
    metric = f"{SCORES}{gate['metric'].value}"
    told: dict[str, Any] = {name: gate[name].value for name in _SAYINGS if name in gate}
    told |= {"metric": metric, "op": op, "value": _limit(gate[key], gate.get("reference"))}
    if "ci" in gate:
        told["confidence"] = {"method": _CI[gate["ci"].value]}
    parts = {
        name: gate[given].part for name, given in (("value", key), ("confidence", "ci")) if given in gate
    }
    return replace(_made(told, item.part, parts), id=f"{metric}{ending}")


def _limit(limit: Located, reference: Located | None) -> float:
    """The bound of a gate: as it is, or a share of the reference, exactly."""
    one_of(limit, ("factor", "abs"))
    if "abs" in limit.value:
        return float(limit.value["abs"].value)
    if reference is None:
        raise limit.part.error("is a share of the reference, and there is no key 'reference' beside it")
    return float(exact(limit.value["factor"].value) * exact(reference.value))


def accuracy_runs(said: Located) -> Rules:
    """How many runs must show each score, and how they count together."""
    rules: Rules = {}
    for item in said.value:
        told = {name: item.value[name].value for name in ("runs", "combine") if name in item.value}
        if told:
            if "runs" not in told:
                raise item.part.error(
                    "says how runs are combined, and not how many: the key 'runs' is missing"
                )
            metric = f"{SCORES}{item.value['metric'].value}"
            rules["accuracy_runs", metric] = RuleShape({"combine": "each", **told}, item.part)
    return rules


def _goodput(said: Located) -> Iterator[tuple[Target, DocumentPart]]:
    told = said.value
    conditions = [_slo(name, limit) for name, limit in told["slo"].value.items()]
    bounds = [(key, stat) for key, stat in (("min_fraction", "fraction"), ("min_rps", "rate")) if key in told]
    if not bounds:
        raise said.part.error("needs a bound: min_fraction, min_rps or both")
    for key, stat in bounds:
        rest = {name: told[name].value for name in _SAYINGS if name in told}
        rest |= {
            "metric": "good",
            "stat": stat,
            "op": ">=",
            "value": told[key].value,
            "conditions": conditions,
        }
        parts = {"value": told[key].part, "conditions": told["slo"].part}
        yield replace(_made(rest, said.part, parts), id=f"goodput.{stat}"), told[key].part


def _slo(name: str, limit: Located) -> Condition:
    """Read one latency of a goodput: what is at most so many ms is good."""
    metric = name.removesuffix("_ms")
    known = [f"{known}_ms" for known in (*METRICS, *METRIC_ALIASES)]
    if metric == name or f"{metric}_ms" not in known:
        raise limit.part.error(f"there is no latency {name!r}; {suggestion(name, known)}")
    try:
        return Condition.of(metric=metric, op="<=", value=limit.value, unit="ms")
    except TargetError as error:
        raise limit.part.error(str(error)) from error


__all__ = ["ACCURACY", "GOODPUT", "TARGETS", "accuracy_runs", "all_targets"]
