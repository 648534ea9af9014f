"""The verdict of rules over several runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass, replace
from loadgen.sessions.errors import UsageError
from loadgen.sessions.gating.reference import require_known
from loadgen.sessions.settings.verdict_options import exit_code, most_severe
from reporter.render.named_verdict import NamedVerdict
from rulesets.ruleset import Ruleset
from rulesets.sweeps import Point, evaluate, names
from rulesets.verdict import Verdict, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loadgen.sessions.series_outcome import PointOutcome
    from reporter.report import Report
    from rulesets.evaluators.rule_row import VerdictRow


def over_all(
    runs: Mapping[str, tuple[Report, Ruleset]],
    skip: Sequence[str],
    baseline: Sequence[Point] = (),
    c_max: int | None = None,
    c_min: int | None = None,
) -> Iterator[NamedVerdict]:
    """The verdict of the rules over several runs, for each model that was run.

    Args:
        runs: The reports of the runs and the rules that they were evaluated by, by the runs' names.
        skip: Rules that are left out, by id or by group.
        baseline: The points of the sweep that ours must dominate, where the rules ask for that.
        c_max: The greatest concurrency, as declared; None for that of the greatest point.
        c_min: Where Ultra Low ends, as declared; None for the lowest point.
    """
    for option, concurrency in (("--c-max", c_max), ("--c-min", c_min)):
        if concurrency is not None and not any(_has_regions(rules) for _, rules in runs.values()):
            raise UsageError(f"{option} {concurrency}: these rules have no regions; leave it out")
    models = dict.fromkeys(report.run.model for report, _ in runs.values())
    for model in models:
        own = {name: run for name, run in runs.items() if run[0].run.model == model}
        rules = next(iter(own.values()))[1]
        require_known(rules, skip)
        if rules.sweep is not None:
            points = [point(name, report) for name, (report, _) in own.items()]
            rows = evaluate(rules.sweep, points, baseline=baseline, c_max=c_max, c_min=c_min)
            yield _verdict_of(rules, rows, skip, "all runs" + f" of {model}" * (len(models) > 1))


def _has_regions(rules: Ruleset) -> bool:
    return rules.sweep is not None and any(name.startswith("sweep.regions") for name in names(rules.sweep))


@dataclass(frozen=True, slots=True)
class SeriesVerdicts:
    """The verdicts of a series that has been run.

    Attributes:
        parts: Those of its runs, and those of the rules over all of them.
        together: Those of the rules over all runs.
        scored: Scored runs without requirements.
        exit_code: That of the rules over all runs.
    """

    parts: tuple[NamedVerdict, ...]
    together: tuple[NamedVerdict, ...]
    scored: tuple[NamedVerdict, ...]
    exit_code: int


def verdicts_of(outcomes: Sequence[PointOutcome]) -> SeriesVerdicts:
    """The verdicts of a series that has just been run, including those of the rules over all its runs."""
    with_verdict = {outcome.point.name: outcome for outcome in outcomes if outcome.report.verdict is not None}
    scored = (
        _scored(outcome) for outcome in outcomes if outcome.report.verdict is None and outcome.report.accuracy
    )
    runs = {
        name: (outcome.report, Ruleset.of_dict(outcome.report.run.ruleset))
        for name, outcome in with_verdict.items()
        if outcome.report.run.ruleset
    }
    options = next(iter(with_verdict.values())).point.options if with_verdict else {}
    together = tuple(over_all(runs, [name for name in options.get("skip", ()) if name.startswith("sweep")]))
    parts = (*(NamedVerdict.of(outcome.report, name) for name, outcome in with_verdict.items()), *together)
    code = most_severe(exit_code(part.status, options.get("inconclusive", "5")) for part in together)
    return SeriesVerdicts(parts, together, tuple(scored), code)


def _scored(outcome: PointOutcome) -> NamedVerdict:
    """A scored run without requirements: it is valid or not, and has no verdict."""
    validity = outcome.report.validity
    verdict = None if validity.stands else Verdict("INVALID", "", "", reasons=tuple(validity.reasons))
    return replace(NamedVerdict.of(outcome.report, outcome.point.name), verdict=verdict)


def point(name: str, report: Report) -> Point:
    """A run as the rules over several runs see it."""
    load: Mapping[str, Any] = report.run.load
    offline = load.get("kind") == "offline"
    return Point(
        concurrency=report.counts.issued if offline else load.get("concurrency"),
        offline=offline,
        report=report.to_dict(),
        verdict=report.verdict,
        name=name,
    )


def _verdict_of(rules: Ruleset, rows: Sequence[VerdictRow], skip: Sequence[str], name: str) -> NamedVerdict:
    rows = tuple(_left_out(row, skip) for row in rows)
    verdict = Verdict(
        status=whole(rows),
        ruleset=rules.name,
        version=rules.version,
        source=rules.source,
        rows=rows,
        reasons=(),
        model=rules.model,
        scenario="sweep",
        locked=rules.locked,
        overrides=(*rules.overrides, *(f"left out: {rule}" for rule in skip)),
        notes=rules.notes,
    )
    return NamedVerdict(verdict, name, over_runs=True)


def _left_out(row: VerdictRow, skip: Sequence[str]) -> VerdictRow:
    name = next((name for name in skip if name in {row.id, row.group}), None)
    if name is None:
        return row
    return replace(row, status="SKIP", reason=f"left out on request (--skip {name})", remedy="")
