"""Sides held against the first of them, in every metric, and what that comes to.

The metrics that decide are one family: Holm's method (reporter/compare/holm.py) keeps the chance of a false
alarm in any of them, on any side, below alpha. Those that are only shown are tested each by itself.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from reporter.compare.comparable import Unlike, unlike
from reporter.compare.comparison import Comparison, Told
from reporter.compare.family import Family
from rulesets.statistics import mann_whitney

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.compare.comparison import Row, Rules, Status
    from reporter.compare.metric import Metric
    from reporter.compare.side import Side

LENGTHS: Final = ("input_tokens:mean", "output_tokens:mean")
"""Where these differ, the servers did not do the same work."""

LENGTHS_DIFFER: Final = (0.01, 0.01)
"""By more than this share, with a p below this: so that two that are alike are hardly ever called unlike."""


def compare(
    sides: Sequence[Side],
    deciding: Sequence[Metric],
    further: Sequence[Metric],
    rules: Rules,
    *,
    by_runs: bool = False,
) -> Comparison:
    """Compare sides with the first of them.

    Args:
        sides: Two at least, each with the figures of all metrics.
        deciding: What the comparison can fail by.
        further: What is shown beside it.
        rules: When a difference counts.
        by_runs: Whether runs are to be what is sampled; they are anyway where a side has several.
    """
    by_runs = by_runs or any(len(side.runs) > 1 for side in sides)
    rows = (
        *Family(sides, rules, decides=True, by_runs=by_runs).rows(deciding),
        *Family(sides, rules, decides=False, by_runs=by_runs).rows(further),
    )
    found = (*_unlike(sides), *_other_lengths(rows, sides[0].name))
    status, reasons = _status(sides, rows, found, rules, by_runs=by_runs)
    return Comparison(
        status=status,
        reasons=tuple(reasons),
        test="mann_whitney" if by_runs else "within_runs",
        rules=rules,
        sides=tuple(Told(side.name, tuple(run.name for run in side.runs)) for side in sides),
        rows=rows,
        unlike=found,
        notes=tuple(_notes(sides, rows, rules, by_runs=by_runs)),
    )


_UNTESTED: Final = (
    "no rate and no latency could be tested: a run is too short, or nothing but its report is left; give "
    "logs of at least 40 requests, or several runs a side"
)


def _unlike(sides: Sequence[Side]) -> Iterator[Unlike]:
    """What is wrong with runs, and what they differ in from the first of all, each thing once a side."""
    first = sides[0].runs[0]
    for side in sides:
        yield from chain.from_iterable(run.faults for run in side.runs)
        seen = set()
        for run in side.runs:
            for one in unlike(run.name, run.facts, first.name, first.facts):
                if (one.about, one.what, str(one.value)) not in seen:
                    seen.add((one.about, one.what, str(one.value)))
                    yield one


def _other_lengths(rows: Sequence[Row], reference: str) -> Iterator[Unlike]:
    least, doubt = LENGTHS_DIFFER
    for row in rows:
        for change, cell in zip(row.changes, row.figures[1:], strict=True):
            differs = change.by is not None and abs(change.by) > least and change.p is not None
            if row.metric in LENGTHS and differs and (change.p or 0.0) < doubt:
                values = [None if one is None else round(one.value, 1) for one in (cell, row.figures[0])]
                yield Unlike("lengths", row.metric, change.side, values[0], reference, values[1])


def _status(
    sides: Sequence[Side], rows: Sequence[Row], found: Sequence[Unlike], rules: Rules, *, by_runs: bool
) -> tuple[Status, list[str]]:
    if found and rules.strict:
        return "INVALID", ["the runs are not comparable, and --strict asks for that"]
    failing = [f"{row.metric} of {one.side} is worse" for row in rows for one in row.changes if one.fails]
    if failing:
        return "FAIL", failing
    changes = [(row, one) for row in rows if row.decides for one in row.changes]
    if by_runs and (few := _too_few(sides, len(changes), rules)):
        return "INCONCLUSIVE", [few]
    if all(one.finding == "not tested" for row, one in changes if not row.in_points):
        return "INCONCLUSIVE", [_UNTESTED]
    lost = [
        f"{one.side} has no {row.metric}"
        for row in rows
        if row.decides and row.figures[0] is not None
        for one, cell in zip(row.changes, row.figures[1:], strict=True)
        if cell is None
    ]
    return ("INCONCLUSIVE", lost) if lost else ("PASS", [])


def _too_few(sides: Sequence[Side], family: int, rules: Rules) -> str | None:
    """Say so where runs are so few that not even sides without an overlap differ significantly."""
    least = max(_least_p(sides))
    if least * family <= rules.alpha:
        return None
    smallest = "p cannot be below" if least < 1 else "there is no p but"
    return (
        f"{_sizes(sides)} runs are too few: {smallest} {least:.2g}, times {family} for as many tests, and "
        f"alpha is {rules.alpha:g}; it takes {mann_whitney.fewest(rules.alpha / family)} runs a side, or "
        f"{mann_whitney.fewest(rules.alpha)} with one --metric"
    )


def _notes(sides: Sequence[Side], rows: Sequence[Row], rules: Rules, *, by_runs: bool) -> Iterator[str]:
    if by_runs:
        yield (
            f"{_sizes(sides)} runs: runs are what is sampled (Mann-Whitney, p {max(_least_p(sides)):.2g} at "
            "best); a side shows its median, a difference is Hodges and Lehmann's"
        )
    else:
        yield (
            "one run a side: this sees how requests scatter inside each run, and cannot see how runs of one "
            "server differ from each other; several runs a side can (--baseline)"
        )
    tests = sum(one.p is not None for row in rows if row.decides for one in row.changes)
    if tests > 1:
        yield (
            f"p of what decides is adjusted for {tests} tests (Holm): the chance of a false alarm in any of "
            f"them is {rules.alpha:g} at most; each further p and each interval is about one metric"
        )


def _least_p(sides: Sequence[Side]) -> list[float]:
    reference = len(sides[0].runs)
    return [mann_whitney.least_p(reference, len(side.runs)) for side in sides[1:]]


def _sizes(sides: Sequence[Side]) -> str:
    return " and ".join(str(len(side.runs)) for side in sides)
