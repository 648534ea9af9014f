"""The sections of a ruleset file as rules by section and name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rulesets import baseline_targets
from rulesets.demands import TOLERANCES, AuditDemand, Baseline
from rulesets.errors import TargetError, listing
from rulesets.reading.document_targets import accuracy_runs, all_targets
from rulesets.reading.section_rules import Rules, RuleShape, section

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulesets.document import DocumentPart
    from rulesets.reading.shape import Located

_SHARED: Final = ("seeds", "steady_state", "power", "report")
"""Sections whose keys are rules as they stand."""


def scenario_rules(fields: Mapping[str, Located]) -> Rules:
    """The rules of a scenario, or of a flat file.

    Raises:
        RulesetFileError: What it says does not go together.
    """
    rules = demands(fields)
    if "validity" in fields:
        rules |= section("validity", fields["validity"])
    if "load" in fields:
        rules |= section("load", fields["load"])
        _check_load(fields["load"])
        concurrency = rules.get(("load", "concurrency"))
        if concurrency is not None and isinstance(concurrency.value, int):
            exactly = {"min": concurrency.value, "max": concurrency.value}
            rules["load", "concurrency"] = RuleShape(exactly, concurrency.part)
    if "options" in fields:
        rules |= section("options", fields["options"])
    return rules | (_audits(fields["audit"]) if "audit" in fields else {})


def _check_load(load: Located) -> None:
    concurrency = load.value.get("concurrency")
    if concurrency is None or isinstance(concurrency.value, int):
        return
    there = set(concurrency.value)
    if not (there and there <= {"min", "max"}) and there != {"from", "to", "factor"}:
        raise concurrency.part.error("takes a number, min and max, or from, to and factor")
    for least, upper in (("min", "max"), ("from", "to")):
        if {least, upper} <= there and concurrency.value[least].value > concurrency.value[upper].value:
            raise concurrency.value[least].part.error(f"is above {upper}")


def demands(fields: Mapping[str, Located]) -> Rules:
    """The rules that models and scenarios can both have.

    Raises:
        RulesetFileError: A target makes no sense, or two have one id.
    """
    rules = all_targets(fields)
    if "accuracy" in fields:
        rules |= accuracy_runs(fields["accuracy"])
    if "dataset" in fields:
        rules |= section("dataset", fields["dataset"])
    if "generation" in fields:
        rules |= section("generation", fields["generation"])
        extra = rules.pop(("generation", "extra_body"), None)
        if extra is not None:
            rules |= section("generation", fields["generation"].value["extra_body"])
    return rules


def _audits(audits: Located) -> Rules:
    rules: Rules = {}
    for item in audits.value:
        named = item.value if isinstance(item.value, dict) else {item.value: None}
        if len(named) != 1:
            raise item.part.error("must be one audit: a name, or one name with its parameters")
        for name, fields in named.items():
            if ("audit", name) in rules:
                raise item.part.error(f"the audit {name!r} stands twice")
            rules["audit", name] = RuleShape(
                AuditDemand(name, _parameters(name, fields, item.part)), item.part
            )
    return rules


def _parameters(name: str, located: Located | None, part: DocumentPart) -> dict[str, Any]:
    overrides: Any = {} if located is None else located.plain()
    if isinstance(overrides, list):
        if len(overrides) != 2:  # noqa: PLR2004 (a range has two ends)
            raise part.error("osl_range takes two numbers, the least and the greatest mean length")
        overrides = dict(zip(("min", "max"), overrides, strict=True))
    parameters: dict[str, Any] = {**TOLERANCES.get(name, {}), **overrides}
    least, upper = parameters.get("min"), parameters.get("max")
    if name == "osl_range" and (least is None or upper is None or least > upper):
        raise part.error("osl_range needs its least and its greatest mean length: {osl_range: [1150, 1406]}")
    if name == "perf_mode_accuracy" and ("metric" in parameters) != ("min" in parameters):
        raise part.error("perf_mode_accuracy takes metric and min, or neither for the first gate of accuracy")
    return parameters


def shared(fields: Mapping[str, Located]) -> Rules:
    """The rules of a file for all models and scenarios.

    Raises:
        RulesetFileError: What it says does not go together.
    """
    rules: Rules = {}
    for name in _SHARED:
        if name in fields:
            rules |= section(name, fields[name])
    if "definitions" in fields:
        rules |= _definitions(fields["definitions"])
    if "baseline" in fields:
        rules |= _nested("baseline", fields["baseline"], "metrics")
        _check_metrics(fields["baseline"].value.get("metrics"))
    if "sweep" in fields:
        rules |= _sweep(fields["sweep"])
    if "audit" in fields and "models" in fields:
        rules |= _audits(fields["audit"])
    return rules


_SPELLED: Final[Mapping[tuple[str, str], str]] = {
    ("tpot", "denominator"): "tpot_denominator",
    ("tpot", "end"): "tpot_end",
    ("tpot", "n1"): "tpot_n1",
    ("tokens", "source"): "token_source",
    ("tokens", "tokenizer"): "tokenizer",
    ("tokens", "categories"): "token_categories",
    ("throughput_window", "kind"): "throughput_window",
}
"""The fields of `Definitions` that stand one level deeper in a file."""


def _definitions(located: Located) -> Rules:
    rules: Rules = {}
    for name, located_definition in located.value.items():
        if not isinstance(located_definition.value, dict):
            rules["definitions", name] = RuleShape(located_definition.value, located_definition.part)
            continue
        for key, value in located_definition.value.items():
            if key == "exclude_warmup":
                if value.value is False:
                    raise value.part.error("must be true: a warm-up request is never measured")
                continue
            plain = value.plain()
            definition = tuple(dict.fromkeys(plain)) if isinstance(plain, list) else plain
            rules["definitions", _SPELLED[name, key]] = RuleShape(definition, value.part)
    return rules


def _check_metrics(metrics: Located | None) -> None:
    """See that each metric of a baseline exists, and can be better in the declared direction."""
    for name, better in () if metrics is None else metrics.value.items():
        try:
            baseline_targets.target(name, better.value, Baseline())
        except TargetError as error:
            raise better.part.error(str(error)) from error


def _nested(name: str, located: Located, *deeper: str) -> Rules:
    """The keys of a section, including nested keys that are separate rules."""
    rules: Rules = {}
    for key, value in located.value.items():
        if key in deeper:
            rules |= section(f"{name}.{key}", value)
        else:
            rules[name, key] = RuleShape(value.plain(), value.part)
    return rules


def _sweep(located: Located) -> Rules:
    rules = {
        key: rule
        for key, rule in _nested("sweep", located, "points", "pareto", "search").items()
        if key[1] != "checks"
    }
    require = rules.pop(("sweep.points", "require"), None)
    if require is not None:
        for region in located.value["points"].value["require"].value:
            name = region.value["region"].value
            if ("sweep.points.require", name) in rules:
                raise region.part.error(f"the region {name!r} stands twice")
            rules["sweep.points.require", name] = RuleShape(region.value["min"].value, region.part)
    for check in located.value["checks"].value if "checks" in located.value else ():
        named = check.plain() if isinstance(check.value, dict) else {check.value: None}
        if len(named) != 1:
            raise check.part.error(f"must be one check, and not {listing(named, 'and')} at once")
        for name, located_check in named.items():
            if ("sweep.checks", name) in rules:
                raise check.part.error(f"the check {name!r} stands twice")
            _check_parameters(name, located_check, check.part)
            rules["sweep.checks", name] = RuleShape(located_check, check.part)
    return rules


def _check_parameters(name: str, parameters: Any, part: DocumentPart) -> None:
    """Check the parameters of an audit where a mistake would make the audit more lenient."""
    if not isinstance(parameters, dict):
        return
    if name == "accuracy_per_region" and parameters != {"exactly": 1}:
        raise part.error("accuracy_per_region takes how many points of each region at least, or {exactly: 1}")
    if parameters.get("severity", "fail") not in {"fail", "warn"}:
        raise part.error(f"{name}: severity is fail or warn")
