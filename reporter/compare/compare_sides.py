"""Comparison of sides with the first side in every metric, and the result.

The metrics that decide are one family: Holm's method (reporter/compare/family.py) keeps the chance of a false
alarm in any of them, on any side, below alpha. Those that are only shown are tested each by itself.
"""

from __future__ import annotations

import math
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reporter.compare.comparable import Mismatch, unlike
from reporter.compare.compared_metric import DECIDING, metric
from reporter.compare.comparison import Comparison, SideSummary
from reporter.compare.family import Family, is_constant
from reporter.number_text import decimals
from rulesets.statistics import mann_whitney

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from reporter.compare.compared_figure import ComparedFigure
    from reporter.compare.compared_metric import ComparedMetric
    from reporter.compare.comparison import ComparisonRow, MetricChange, Rules, Status
    from reporter.compare.side import Side

LENGTHS: Final = ("input_tokens:mean", "output_tokens:mean")
"""Lengths: where these differ, the servers did not do the same work."""

_SHARES: Final = frozenset({"error"})
"""Shares, which are known even of very short runs."""

LENGTHS_DIFFER: Final = (0.01, 0.01)
"""The share and the p from which lengths count as different: equal ones hardly ever do."""


def compare(
    sides: Sequence[Side],
    deciding: Sequence[ComparedMetric],
    further: Sequence[ComparedMetric],
    rules: Rules,
    *,
    by_runs: bool = False,
    notes: Sequence[str] = (),
) -> Comparison:
    """Compare sides with the first."""
    by_runs = by_runs or any(len(side.runs) > 1 for side in sides)
    rows = (
        *Family(sides, rules, decides=True, by_runs=by_runs).rows(deciding),
        *Family(sides, rules, decides=False, by_runs=by_runs).rows(further),
    )
    differences = (*_unlike(sides), *_other_lengths(rows, sides[0].name))
    status, reasons = _status(sides, rows, differences, rules, by_runs=by_runs)
    return Comparison(
        status=status,
        reasons=tuple(reasons),
        test="mann_whitney" if by_runs else "within_runs",
        rules=rules,
        sides=tuple(
            SideSummary(side.name, tuple(run.name for run in side.runs), label, side.requests, side.sessions)
            for side, label in zip(sides, labels(sides), strict=True)
        ),
        rows=rows,
        unlike=differences,
        notes=(*_notes(sides, rows, rules, by_runs=by_runs), *notes),
    )


_UNTESTED: Final = (
    "no rate, latency or score could be tested; compare runs with logs and at least 8 requests "
    "each, or several runs per side"
)
_FEW: Final = "no rate, latency or score could be tested: the runs have too few requests for these metrics"


def _unlike(sides: Sequence[Side]) -> Iterator[Mismatch]:
    """The problems of runs, and the differences from the very first run, each once per side."""
    first = sides[0].runs[0]
    for side in sides:
        yield from chain.from_iterable(run.faults for run in side.runs)
        seen = set()
        for run in side.runs:
            for difference in unlike(run.name, run.facts, first.name, first.facts):
                if (difference.about, difference.what, str(difference.value)) not in seen:
                    seen.add((difference.about, difference.what, str(difference.value)))
                    yield difference


def _other_lengths(rows: Sequence[ComparisonRow], reference: str) -> Iterator[Mismatch]:
    least, doubt = LENGTHS_DIFFER
    for row in rows:
        for change, cell in zip(row.changes, row.figures[1:], strict=True):
            differs = change.by is not None and abs(change.by) > least and change.p is not None
            if row.metric in LENGTHS and differs and (change.p or 0.0) < doubt:
                values = [
                    None if figure is None else round(figure.value, 1) for figure in (cell, row.figures[0])
                ]
                yield Mismatch("lengths", row.metric, change.side, values[0], reference, values[1])


def _status(
    sides: Sequence[Side],
    rows: Sequence[ComparisonRow],
    differences: Sequence[Mismatch],
    rules: Rules,
    *,
    by_runs: bool,
) -> tuple[Status, list[str]]:
    if differences and rules.strict:
        return "INVALID", ["the runs are not comparable, and --strict asks for that"]
    failing = [
        f"{row.metric} of {change.side} is worse" for row in rows for change in row.changes if change.fails
    ]
    if failing:
        return "FAIL", failing
    changes = [(row, change) for row in rows if row.decides for change in row.changes]
    doubts = [_doubt(row, change) for row, change in changes if change.finding == "in doubt"]
    if doubts:
        return "INCONCLUSIVE", doubts
    if by_runs and (few := _too_few(sides, _family(rows, by_runs=by_runs), rules)):
        return "INCONCLUSIVE", [few]
    tested = [change.finding for row, change in changes if row.metric not in _SHARES]
    if tested and not set(tested) - {"not tested", "too few requests"}:
        return "INCONCLUSIVE", [_FEW if "too few requests" in tested else _UNTESTED]
    lost = [
        f"{change.side} has no {row.metric}"
        for row in rows
        if row.decides and row.figures[0] is not None
        for change, cell in zip(row.changes, row.figures[1:], strict=True)
        if cell is None
    ]
    unseen = lost or [why for row in rows if row.decides for why in shortcomings(row, rules, by_runs=by_runs)]
    return ("INCONCLUSIVE", unseen) if unseen else ("PASS", [])


def _doubt(row: ComparisonRow, change: MetricChange) -> str:
    """The message that late stamps of the client leave a difference open."""
    unit = "points" if row.in_points else "%"
    ends = [
        "unknown" if end is None else f"{100 * end:+,.{decimals(100 * end, 2)}f} {unit}"
        for end in (change.least, change.most)
    ]
    return (
        f"chunks were read late, so the difference in {row.metric} of {change.side} is only known to be "
        f"between {ends[0]} and {ends[1]}"
    )


def _family(rows: Sequence[ComparisonRow], *, by_runs: bool) -> int:
    """How many tests of primary metrics there are."""
    return sum(
        change.p is not None
        and not is_constant((*reference.runs, *cell.runs), by_runs=by_runs, of_requests=row.metric in _SHARES)
        for row in rows
        if row.decides and (reference := row.figures[0]) is not None
        for cell, change in zip(row.figures[1:], row.changes, strict=True)
        if cell is not None
    )


def _too_few(sides: Sequence[Side], family: int, rules: Rules) -> str | None:
    """The message that there are too few runs for even sides without overlap to differ significantly."""
    least = max(_least_p(sides))
    if least * family <= rules.alpha:
        return None
    return (
        f"{_sizes(sides)} runs are too few: the smallest possible p is {least:.2g}, times {family} tests, "
        f"above the alpha of {rules.alpha:g}; give {mann_whitney.fewest(rules.alpha / family)} runs "
        f"per side, or {mann_whitney.fewest(rules.alpha)} with one --metric"
    )


def _notes(
    sides: Sequence[Side], rows: Sequence[ComparisonRow], rules: Rules, *, by_runs: bool
) -> Iterator[str]:
    if by_runs:
        yield (
            f"{_sizes(sides)} runs: each run is one observation (Mann-Whitney, smallest possible p "
            f"{max(_least_p(sides)):.2g}); figures are medians, changes Hodges-Lehmann estimates"
        )
    else:
        yield (
            "one run per side shows how requests vary within a run, not how runs vary; several runs per "
            "side do (--baseline)"
        )
    tests = _family(rows, by_runs=by_runs)
    if tests > 1:
        yield (
            f"p of primary metrics is adjusted for {tests} tests (Holm): the probability of any false "
            f"positive is at most {rules.alpha:g}. Other p and intervals are for one metric each"
        )
    yield from _other_questions(rows)


def _other_questions(rows: Sequence[ComparisonRow]) -> Iterator[str]:
    """Notes on scores compared over a part of the questions, or not question by question."""
    for row in rows:
        for cell, change in zip(row.figures[1:], row.changes, strict=True):
            reference = row.figures[0]
            if not row.metric.startswith("accuracy.") or reference is None or cell is None:
                continue
            if change.paired is None and change.p is not None and len(cell.runs) == len(reference.runs) == 1:
                yield f"{row.metric} of {change.side}: not paired, as most questions are not in both runs"
            elif change.paired is not None and change.paired < max(reference.n, cell.n):
                yield (
                    f"{row.metric} of {change.side}: the change is over the {change.paired:,} questions "
                    "that both runs answered"
                )


def _least_p(sides: Sequence[Side]) -> list[float]:
    reference = len(sides[0].runs)
    return [mann_whitney.least_p(reference, len(side.runs)) for side in sides[1:]]


def _sizes(sides: Sequence[Side]) -> str:
    return " and ".join(str(len(side.runs)) for side in sides)


LONGEST: Final = 26
"""Columns of a name; two with their figures fit on a page of 80."""

_CUT: Final = "..."


def labels(sides: Sequence[Side]) -> list[str]:
    """A name for each side, no two alike.

    The dataset and the model where these differ from side to side; else as much of the end of its path as
    distinguishes it. Long names are cut in the middle.
    """
    names = [_about(side) for side in sides]
    if not all(names) or len(set(names)) < len(names):
        names = _endings([side.name for side in sides])
    short = [_cut(name) for name in names]
    if len(set(short)) < len(short):
        short = [f"{number}:{_cut(name, LONGEST - 3)}" for number, name in enumerate(names, start=1)]
    return short


def _about(side: Side) -> str:
    """The common dataset and model of a side's runs; empty for different ones."""
    about = {(run.dataset, run.model) for run in side.runs}
    if len(about) != 1:
        return ""
    [(dataset, model)] = about
    parts = [Path(dataset).stem if dataset else "", model.rstrip("/").rpartition("/")[2]]
    return " ".join(part for part in parts if part)


def _endings(paths: Sequence[str]) -> list[str]:
    """The shortest ends of paths that differ from each other."""
    parts = [Path(path).parts or (path,) for path in paths]
    for many in range(1, max(map(len, parts)) + 1):
        ends = ["/".join(part[-many:]).lstrip("/") or path for part, path in zip(parts, paths, strict=True)]
        if len(set(ends)) == len(ends):
            return ends
    return [f"{path} ({number})" for number, path in enumerate(paths, start=1)]


def _cut(name: str, longest: int = LONGEST) -> str:
    if len(name) <= longest:
        return name
    kept_length = longest - len(_CUT)
    return f"{name[: kept_length // 2]}{_CUT}{name[-(kept_length - kept_length // 2) :]}"


LARGE: Final = 30
"""A change for the worse of this many times `min_effect`, or `min_points`, must be excluded."""

_LEAST: Final = -1 + 1e-12


def shortcomings(row: ComparisonRow, rules: Rules, *, by_runs: bool) -> Iterator[str]:
    """Messages that a metric is untested, or that its interval has room for a large change for the worse."""
    large = LARGE * (rules.min_points if row.in_points else rules.min_effect)
    units = "runs" if by_runs else "requests"
    reference = row.figures[0]
    for cell, change in zip(row.figures[1:], row.changes, strict=True):
        if cell is None or reference is None:
            continue
        name = f"{row.metric} of {change.side}"
        if change.finding == "too few requests":
            enough = f"{change.needed or 0:,} requests a side"
            yield f"{name} cannot be tested: send {enough}, or leave it out (--metric)"
        elif change.finding == "not tested":
            yield f"{name} cannot be tested: compare runs with their logs, or several runs a side"
        elif change.finding == "no significant difference" and large:
            yield from _open(row, change, large, f"{units} a side, or leave it out (--metric)")


def _open(row: ComparisonRow, change: MetricChange, large: float, rest: str) -> Iterator[str]:
    """The message that the interval of a change goes beyond a large change for the worse."""
    name, worst = f"{row.metric} of {change.side}", _worst(row, change)
    limit, unit = _scaled(large, row), "points" if row.in_points else "%"
    if worst is None:
        # An interval without an end is narrow all the same where no pair of scores differs.
        if change.detectable is None or _scaled(change.detectable, row) > limit:
            yield f"{name}: a change of any size is not excluded; take more {rest}"
    elif (far := abs(_scaled(worst, row)) / limit) > 1:
        fewest = min(0 if cell is None else cell.n for cell in row.figures)
        size = "any size" if row.in_points and abs(worst) >= 1 else f"{100 * worst:+.0f} {unit}"
        yield (
            f"{name}: a change of {size} is not excluded; take about {math.ceil(fewest * far**2):,} {rest}"
        )


def _worst(row: ComparisonRow, change: MetricChange) -> float | None:
    """The worst change in the interval; None without an end on that side."""
    low = 0.0 if row.better == "lower" else change.low
    high = 0.0 if row.better == "higher" else change.high
    if low is None or high is None:
        return None
    return max(min(low, 0.0), max(high, 0.0), key=lambda end: abs(_scaled(end, row)))


def _scaled(change: float, row: ComparisonRow) -> float:
    """A change on the scale on which standard errors shrink with the root of the number."""
    return change if row.in_points else math.log1p(max(change, _LEAST))


BEYOND: Final = 10
"""The fewest independent requests beyond a percentile, on each side, with which it decides by default."""

_LOWER: Final = (95, 90)
"""The percentiles that decide in place of a higher one."""


def primary(sides: Sequence[Side]) -> tuple[list[ComparedMetric], list[str]]:
    """Choose the metrics that decide, with a note on each percentile that these runs cannot tell.

    The choice depends on the effective number of requests only: the chance of a false alarm stays as it is.
    Groups of runs, and runs without their logs, keep the highest percentiles.
    """
    chosen, notes = [], []
    for asked in map(metric, DECIDING):
        needed = _needed(sides, asked)
        if asked.p is None or needed is None:
            chosen.append(asked)
            continue
        names = (f"{asked.of}:p({lower})" for lower in _LOWER)
        other = next((lower for lower in map(metric, names) if _needed(sides, lower) is None), None)
        needs = f"about {needed:,} such requests a side, {BEYOND} independent ones beyond it"
        if other is None:
            notes.append(f"{asked.name} does not decide, and needs {needs}")
        else:
            chosen.append(other)
            notes.append(f"{other.name} decides in place of {asked.name}, which needs {needs}")
    return chosen, notes


def _needed(sides: Sequence[Side], asked: ComparedMetric) -> int | None:
    """How many requests a side would need for a percentile to decide; None where the runs have enough."""
    figures = [run.figures.get(asked.name) for side in sides for run in side.runs]
    if len(figures) > len(sides) or asked.p is None:
        return None
    return max((needed for each in figures if (needed := _needed_of(each, asked.p))), default=None)


def _needed_of(figure: ComparedFigure | None, p: Fraction) -> int | None:
    if figure is None or figure.ordered is None:
        return None
    fewest = math.ceil(BEYOND / (1 - p))
    return None if figure.ordered.n >= fewest else math.ceil(fewest * figure.n / figure.ordered.n)
