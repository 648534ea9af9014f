"""From rules by section and name to a ruleset."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from rulesets.definitions import Definitions
from rulesets.demands import (
    Baseline,
    DatasetDemand,
    GenerationDemand,
    LoadDemand,
    OptionsDemand,
    SteadyStateDemand,
    Sweep,
    ValidityDemand,
)
from rulesets.extending.resolving import resolve
from rulesets.quantity import SCORES
from rulesets.reading.section_rules import Rules, values
from rulesets.ruleset import Ruleset
from rulesets.target import Target

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rulesets.reading.ruleset_file import RulesetPage


def assemble(pages: Sequence[RulesetPage], model: str, scenario: str) -> Ruleset:
    """Make the ruleset of a model and a scenario.

    Raises:
        RulesetFileError: See `resolve`; or a load has no pattern.
    """
    resolved = resolve(pages, model, scenario)
    rules, last = resolved.rules, pages[-1]
    generation = values(rules, "generation")
    locked = bool(generation.pop("locked", False))
    return Ruleset(
        name=last.name,
        version=last.version,
        targets=tuple(sorted(values(rules, "targets").values(), key=_group)),
        validity=_validity(values(rules, "validity")),
        source=tuple(_sources(pages, rules)),
        model="" if all(page.flat for page in pages) else model,
        scenario="" if all(page.flat for page in pages) else scenario,
        locked=any(page.locked for page in pages),
        definitions=Definitions(**values(rules, "definitions")),
        load=_load(rules),
        dataset=DatasetDemand(**values(rules, "dataset")),
        generation=GenerationDemand(generation, locked),
        options=_options(values(rules, "options")),
        seeds=values(rules, "seeds"),
        audits=tuple(values(rules, "audit").values()),
        steady_state=SteadyStateDemand(**values(rules, "steady_state")),
        baseline=_baseline(rules),
        sweep=_sweep(rules),
        power=values(rules, "power"),
        report=values(rules, "report"),
        notes=resolved.notes,
        overrides=resolved.overrides,
    )


def _sources(pages: Sequence[RulesetPage], rules: Rules) -> Iterator[str]:
    """The sources of the files, without those that only rules of other models and scenarios come from."""
    own = {rule.value.source for rule in rules.values() if isinstance(rule.value, Target)}
    models = [model for page in pages for model in page.models]
    layers = [model.rules for model in models] + [
        section.rules for model in models for section in model.scenarios
    ]
    others = {
        rule.value.source for rules in layers for rule in rules.values() if isinstance(rule.value, Target)
    }
    sources = dict.fromkeys(source for page in reversed(pages) for source in page.source)
    return (source for source in sources if source in own or source not in others)


def _group(target: Target) -> int:
    """The rank of a target's group: plain targets, then accuracy, then goodput."""
    return 1 if target.metric.startswith(SCORES) else 2 if target.id.startswith("goodput.") else 0


def _validity(keys: dict[str, Any]) -> ValidityDemand:
    return ValidityDemand(**{**keys, "warn": tuple(dict.fromkeys(keys.get("warn", ())))})


def _options(keys: dict[str, Any]) -> OptionsDemand:
    free = keys.get("free")
    return OptionsDemand(keys.get("set", {}), None if free is None else tuple(free))


def _load(rules: Rules) -> LoadDemand | None:
    load = values(rules, "load")
    if not load:
        return None
    if "pattern" not in load:
        first = next(rule for (section, _), rule in rules.items() if section == "load")
        raise first.part.error("the key 'pattern' is missing next to it")
    own = {field.name for field in fields(LoadDemand)}
    others = {name: value for name, value in load.items() if name not in own}
    return LoadDemand(**{name: load[name] for name in own if name in load}, others=others)


def _baseline(rules: Rules) -> Baseline | None:
    baseline, metrics = values(rules, "baseline"), values(rules, "baseline.metrics")
    return Baseline(**baseline, metrics=metrics) if baseline or metrics else None


def _sweep(rules: Rules) -> Sweep | None:
    points: dict[str, Any] = values(rules, "sweep.points")
    require = values(rules, "sweep.points.require")
    if require:
        points["require"] = [{"region": region, "min": least} for region, least in require.items()]
    runs = values(rules, "accuracy_runs")
    sweep = Sweep(
        points=points,
        pareto=values(rules, "sweep.pareto"),
        search=values(rules, "sweep.search"),
        checks=(
            *values(rules, "sweep.checks").items(),
            *(("accuracy_runs", {"metric": metric, **fields}) for metric, fields in runs.items()),
        ),
    )
    return None if sweep == Sweep() else sweep
