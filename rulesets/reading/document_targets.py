"""Targets, accuracy gates and goodputs of a document: all become targets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, get_args

from rulesets.condition import Condition
from rulesets.demands import Form, Method, Side
from rulesets.errors import ExpressionError, TargetError, suggestion
from rulesets.evaluators.rule_row import Group
from rulesets.expression import described, parse
from rulesets.metric_table import METRICS
from rulesets.quantity import ACCURACY as SCORE
from rulesets.quantity import COMPARE, EVERYTHING, METRIC_ALIASES, SCORE_NAME, SCORES, exact
from rulesets.reading.section_rules import Rules, RuleShape
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
    """A word that `Target.of` accepts, or rejects with a message."""
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
"""What the ids of rules that are not targets begin with, before the first dot."""

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


def all_targets(fields: Mapping[str, Located]) -> Rules:
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
        if name not in fields:
            continue
        for target, part in reader(fields[name]):
            _check_id(target.id, part)
            first = rules.get(("targets", target.id))
            if first is not None:
                raise part.error(f"the id {target.id!r} stands twice, first on line {first.part.line}")
            rules["targets", target.id] = RuleShape(target, part)
    return rules


def _check_id(own: str, part: DocumentPart) -> None:
    """Require an id that differs from those of other rules, and can be shown."""
    if own in _GROUPS or own.partition(".")[0] in _TAKEN:
        raise part.error(f"the id {own!r} is also the id of other rules, or of a group; choose another")
    if not own.isprintable():
        raise part.error(f"the id {own!r} has signs that cannot be shown; choose another")


def _targets(located: Located) -> Iterator[tuple[Target, DocumentPart]]:
    if not located.value:
        raise located.part.error("is empty, and a gate without a target would pass everything")
    for item in located.value:
        yield (_long(item) if isinstance(item.value, dict) else _short(item)), item.part


def _short(item: Located) -> Target:
    try:
        return parse(item.value)
    except ExpressionError as error:
        raise item.part.error(str(error)) from error


def _long(item: Located) -> Target:
    """Read a target that is written out key by key."""
    fields = {name: field.plain() for name, field in item.value.items()}
    parts = {name: field.part for name, field in item.value.items()}
    own = fields.pop("id", None)
    if "where" in fields:
        fields["where"] = [(tag, field.part.node.value) for tag, field in item.value["where"].value.items()]
    if "op" not in fields or "value" not in fields:
        fields = _unbounded(fields, item.part)
    if "conditions" in item.value:
        fields["conditions"] = [_condition(field) for field in item.value["conditions"].value]
    target = _made(fields, item.part, parts)
    return replace(target, id=own or described(target))


def _condition(located: Located) -> Condition:
    try:
        return Condition.parse(located.value)
    except TargetError as error:
        raise located.part.error(str(error)) from error


def _unbounded(fields: Mapping[str, Any], part: DocumentPart) -> dict[str, Any]:
    """Give an informational figure a bound that every value meets."""
    missing = next(name for name in ("op", "value") if name not in fields)
    if fields.get("severity") != "info" or "op" in fields or "value" in fields:
        raise part.error(f"the key {missing!r} is missing")
    metric = METRIC_ALIASES.get(fields["metric"], fields["metric"])
    metric_kind = METRICS.get(metric, SCORE)
    if metric_kind.kind not in EVERYTHING or fields.get("delta"):
        raise part.error(f"the key {missing!r} is missing; {fields['metric']} is not shown without a bound")
    op, bound = EVERYTHING[metric_kind.kind]
    unit = fields.get("unit") or ("ms" if metric_kind.kind == "latency" else None)
    each = metric_kind.scale.units.get(unit) if unit else None
    return {**fields, "op": op, "value": float(exact(bound) / each) if each else bound, "unit": unit}


def _made(fields: Mapping[str, Any], part: DocumentPart, parts: Mapping[str, DocumentPart]) -> Target:
    """Make a target from keys; an error names the offending key."""
    try:
        arguments = dict(fields)
        if "confidence" in arguments:
            arguments["confidence"] = _confidence(arguments["confidence"])
        return Target.of(**arguments)
    except TargetError as error:
        raise parts.get(error.part, part).error(str(error)) from error


def _confidence(fields: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if fields.get("method") != "none":
        return fields
    if len(fields) > 1:
        raise TargetError("confidence", "has no level, form or side with the method none")
    return None


def _gates(located: Located) -> Iterator[tuple[Target, DocumentPart]]:
    for item in located.value:
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
    fields: dict[str, Any] = {name: gate[name].value for name in _SAYINGS if name in gate}
    fields |= {"metric": metric, "op": op, "value": _limit(gate[key], gate.get("reference"))}
    if "ci" in gate:
        fields["confidence"] = {"method": _CI[gate["ci"].value]}
    parts = {
        name: gate[key_in_gate].part
        for name, key_in_gate in (("value", key), ("confidence", "ci"))
        if key_in_gate in gate
    }
    return replace(_made(fields, item.part, parts), id=f"{metric}{ending}")


def _limit(limit: Located, reference: Located | None) -> float:
    """The bound of a gate: absolute, or an exact share of the reference."""
    one_of(limit, ("factor", "abs"))
    if "abs" in limit.value:
        return float(limit.value["abs"].value)
    if reference is None:
        raise limit.part.error("is a share of the reference, and the key 'reference' is missing")
    return float(exact(limit.value["factor"].value) * exact(reference.value))


def accuracy_runs(located: Located) -> Rules:
    """The number of runs for each score, and the way of combining runs."""
    rules: Rules = {}
    for item in located.value:
        fields = {name: item.value[name].value for name in ("runs", "combine") if name in item.value}
        if fields:
            if "runs" not in fields:
                raise item.part.error(
                    "says how runs are combined, and not how many: the key 'runs' is missing"
                )
            metric = f"{SCORES}{item.value['metric'].value}"
            rules["accuracy_runs", metric] = RuleShape({"combine": "each", **fields}, item.part)
    return rules


def _goodput(located: Located) -> Iterator[tuple[Target, DocumentPart]]:
    fields = located.value
    conditions = [_slo(name, limit) for name, limit in fields["slo"].value.items()]
    bounds = [
        (key, stat) for key, stat in (("min_fraction", "fraction"), ("min_rps", "rate")) if key in fields
    ]
    if not bounds:
        raise located.part.error("needs a bound: min_fraction, min_rps or both")
    for key, stat in bounds:
        rest = {name: fields[name].value for name in _SAYINGS if name in fields}
        rest |= {
            "metric": "good",
            "stat": stat,
            "op": ">=",
            "value": fields[key].value,
            "conditions": conditions,
        }
        parts = {"value": fields[key].part, "conditions": fields["slo"].part}
        yield replace(_made(rest, located.part, parts), id=f"goodput.{stat}"), fields[key].part


def _slo(name: str, limit: Located) -> Condition:
    """Read one latency of a goodput: a request is good up to the bound in ms."""
    metric = name.removesuffix("_ms")
    names = [f"{metric_name}_ms" for metric_name in (*METRICS, *METRIC_ALIASES)]
    if metric == name or f"{metric}_ms" not in names:
        raise limit.part.error(f"unknown latency {name!r}; {suggestion(name, names)}")
    try:
        return Condition.of(metric=metric, op="<=", value=limit.value, unit="ms")
    except TargetError as error:
        raise limit.part.error(str(error)) from error


__all__ = ["ACCURACY", "GOODPUT", "TARGETS", "accuracy_runs", "all_targets"]
