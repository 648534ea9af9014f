"""What rules demand of several runs together: where the points of a sweep lie, and what they show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from loadgen.sessions.errors import UsageError
from loadgen.sessions.gating.outcome import exit_code, gravest
from loadgen.sessions.gating.reference import require_known
from reporter.render.judged import NamedVerdict
from rulesets.verdict import Verdict, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loadgen.sessions.series.outcome import PointOutcome
    from reporter.report import Report
    from rulesets.evaluators.row import VerdictRow
    from rulesets.ruleset import Ruleset
    from rulesets.sweeps import Point


def over_all(
    runs: Mapping[str, tuple[Report, Ruleset]],
    skip: Sequence[str],
    baseline: Sequence[Point] = (),
    c_max: int | None = None,
    c_min: int | None = None,
) -> Iterator[NamedVerdict]:
    """The verdict of the rules over several runs, for each model that was run.

    Args:
        runs: The reports of the runs and the rules that they were held against, by the runs' names.
        skip: Rules that are left out, by id or by group.
        baseline: The points of the sweep that ours must dominate, where the rules ask for that.
        c_max: The greatest concurrency, as declared; None for that of the greatest point.
        c_min: Where Ultra Low ends, as declared; None for the lowest point.

    Raises:
        UsageError: One is declared, and no rule has to do with it.
    """
    for option, concurrency in (("--c-max", c_max), ("--c-min", c_min)):
        if concurrency is not None and not any(_has_regions(rules) for _, rules in runs.values()):
            raise UsageError(f"{option} {concurrency}: these rules have no regions; leave it out")
    from rulesets.sweeps import judge

    models = dict.fromkeys(report.run.model for report, _ in runs.values())
    for model in models:
        own = {name: one for name, one in runs.items() if one[0].run.model == model}
        rules = next(iter(own.values()))[1]
        require_known(rules, skip)
        if rules.sweep is not None:
            points = [point(name, report) for name, (report, _) in own.items()]
            rows = judge(rules.sweep, points, baseline=baseline, c_max=c_max, c_min=c_min)
            yield _judged(rules, rows, skip, "all runs" + f" of {model}" * (len(models) > 1))


def _has_regions(rules: Ruleset) -> bool:
    from rulesets.sweeps import names

    return rules.sweep is not None and any(name.startswith("sweep.regions") for name in names(rules.sweep))


@dataclass(frozen=True, slots=True)
class SeriesVerdicts:
    """The verdicts of a series that has been run.

    Attributes:
        parts: Those of its runs, and those of the rules over all of them.
        together: The latter alone.
        scored: Runs that scored and of which nothing was required.
        exit_code: That of the rules over all runs.
    """

    parts: tuple[NamedVerdict, ...]
    together: tuple[NamedVerdict, ...]
    scored: tuple[NamedVerdict, ...]
    exit_code: int


def verdicts_of(outcomes: Sequence[PointOutcome]) -> SeriesVerdicts:
    """The verdicts of a series that has just been run, those of the rules over all its runs included."""
    from rulesets.ruleset import Ruleset

    judged = {one.point.name: one for one in outcomes if one.report.verdict is not None}
    scored = (_scored(one) for one in outcomes if one.report.verdict is None and one.report.accuracy)
    runs = {
        name: (one.report, Ruleset.of_dict(one.report.run.ruleset))
        for name, one in judged.items()
        if one.report.run.ruleset
    }
    options = next(iter(judged.values())).point.options if judged else {}
    together = tuple(over_all(runs, [one for one in options.get("skip", ()) if one.startswith("sweep")]))
    parts = (*(NamedVerdict.of(one.report, name) for name, one in judged.items()), *together)
    code = gravest(exit_code(part.status, options.get("inconclusive", "5")) for part in together)
    return SeriesVerdicts(parts, together, tuple(scored), code)


def _scored(outcome: PointOutcome) -> NamedVerdict:
    """A run that scored and of which nothing was required: it is valid or not, and has no verdict."""
    validity = outcome.report.validity
    verdict = None if validity.stands else Verdict("INVALID", "", "", reasons=tuple(validity.reasons))
    return replace(NamedVerdict.of(outcome.report, outcome.point.name), verdict=verdict)


def point(name: str, report: Report) -> Point:
    """A run as the rules over several runs see it."""
    from rulesets.sweeps import Point

    load: Mapping[str, Any] = report.run.load
    offline = load.get("kind") == "offline"
    return Point(
        concurrency=report.counts.issued if offline else load.get("concurrency"),
        offline=offline,
        report=report.to_dict(),
        verdict=report.verdict,
        name=name,
    )


def _judged(rules: Ruleset, found: Sequence[VerdictRow], skip: Sequence[str], name: str) -> NamedVerdict:
    rows = tuple(_left_out(row, skip) for row in found)
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
        overrides=(*rules.overrides, *(f"left out: {one}" for one in skip)),
        notes=rules.notes,
    )
    return NamedVerdict(verdict, name, over_runs=True)


def _left_out(row: VerdictRow, skip: Sequence[str]) -> VerdictRow:
    name = next((name for name in skip if name in {row.id, row.group}), None)
    if name is None:
        return row
    return replace(row, status="SKIP", reason=f"left out on request (--skip {name})", remedy="")
