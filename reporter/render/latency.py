"""Tables of distributions: one row per metric, one column per statistic; times in ms, speeds in tok/s."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from reporter.number_text import decimals, fixed, whole
from reporter.render.console_page import LABEL_WIDTH
from reporter.render.table import Column, Table
from rulesets.metric_table import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.render.table import Cell
    from reporter.report import Report, Summary
    from rulesets.quantity import ConsoleRow, MetricDefinition

_PERCENTILES: Final = ("p50", "p90", "p95", "p99", "p999")
_COMPARED: Final = ("mean", *_PERCENTILES, "max")
_ALIKE: Final = 0.01
_RANKS: Final = {"n": 8, "std": 7, "min": 6, "p95": 5, "p999": 4, "mean": 3, "max": 2, "p90": 1}
"""What a narrow page leaves out, the highest first; the median, p99 and percentiles of choice always stay."""
_MOST_DECIMALS: Final = 3
"""1 µs: finer ones are beyond the client's clock, and make a p99 too wide for a narrow page."""
_TITLE: Final = "milliseconds"
_SPEED_TITLE: Final = "tok/s"


@dataclass(frozen=True, slots=True)
class LatencyRow:
    """One row.

    Attributes:
        twin: The Report's field of the metric whose figures are nearly the same in many runs.
    """

    label: str
    metric: str
    twin: str | None
    shown: ConsoleRow


def _row_of(metric: MetricDefinition, shown: ConsoleRow) -> LatencyRow:
    return LatencyRow(metric.label, metric.column, BY_NAME[shown.twin].column if shown.twin else None, shown)


_FIRST: Final = (
    *("ttft", "ttft_from_schedule", "ttfo", "ttfv", "tpot", "itl", "latency", "latency_from_schedule"),
    *("last_token", "ttfb", "held", "issue_lag", "send_lag", "dns", "connect", "tls"),
)
"""The order of the rows, first what is asked for most; others of the table follow."""

_ROWS: Final = tuple(
    _row_of(BY_NAME[name], shown)
    for name in dict.fromkeys((*_FIRST, *BY_NAME))
    if (shown := BY_NAME[name].console) is not None
)
SERVER: Final = tuple(row for row in _ROWS if row.shown.group == "server")
"""What the server is measured by."""

SHORT: Final = tuple(row for row in _ROWS if row.shown.headline)
"""The rows of a summary."""

HELD: Final = tuple(row for row in _ROWS if row.shown.group == "held")
"""How long requests waited for a place."""

CLIENT: Final = tuple(row for row in _ROWS if row.shown.group == "client")
"""What the client itself took."""

SPEED: Final = tuple(row for row in _ROWS if row.shown.group == "speed")
"""How many tokens per second a request was served."""


def groups(report: Report, *, verbose: bool, client: bool) -> Sequence[Sequence[LatencyRow]]:
    """The rows of a report."""
    is_open = report.run.load.get("kind") not in {"closed", None}
    server = [
        row for row in SERVER if verbose or (not row.shown.detail and (is_open or not row.shown.open_loop))
    ]
    return [server, [*HELD, *(CLIENT if client else ())]]


def table(report: Report, *groups: Sequence[LatencyRow], verbose: bool = False) -> Table | None:
    """The rows that have samples, an empty one between two groups; None when there are none at all.

    Args:
        report: What to show; the percentiles are those that `report.run` names, or the usual ones.
        groups: The rows: only `SPEED`, or rows of times.
        verbose: Whether to show min and std as well.
    """
    names = _statistics(report, verbose=verbose)
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        shown = [_row(report, line, summary, names) for line in group if (summary := _summary(report, line))]
        rows += [*([()] if rows and shown else []), *shown]
    if not rows:
        return None
    is_long = any(len(str(row[0])) > LABEL_WIDTH for row in rows if row)
    title = _SPEED_TITLE if SPEED in groups else _TITLE
    columns = (
        Column(title, justify="left", folds=is_long, least=LABEL_WIDTH),
        *(Column(_title(name), _RANKS.get(name, 0)) for name in names),
        Column("n", _RANKS["n"], is_dim=True),
    )
    return Table(columns, tuple(rows))


def _statistics(report: Report, *, verbose: bool) -> Sequence[str]:
    chosen = report.run.percentiles or _PERCENTILES
    return ["mean", *(["std", "min"] if verbose else []), *chosen, "max"]


def _title(name: str) -> str:
    """`p99.9` of `p999`: digits after the first two are decimals."""
    return f"{name[:3]}.{name[3:]}" if name.startswith("p") and name[3:].isdigit() else name


def _summary(report: Report, line: LatencyRow) -> Summary | None:
    """The figures of a row; None without any, or if equal to the row above."""
    summary: Summary | None = getattr(report, line.metric)
    twin: Summary | None = getattr(report, line.twin) if line.twin else None
    if summary and twin and not line.shown.always and _alike(summary, twin):
        return None
    return summary


def _alike(summary: Summary, other: Summary) -> bool:
    return all(
        math.isclose(getattr(summary, name), getattr(other, name), rel_tol=_ALIKE) for name in _COMPARED
    )


def _row(report: Report, line: LatencyRow, summary: Summary, names: Sequence[str]) -> tuple[Cell, ...]:
    """The figures of a row with equal decimals: three significant digits of the median, if that many."""
    places = min(_MOST_DECIMALS, decimals(summary.p50 or summary.max))
    figures = (fixed(_figure(summary, name), places) for name in names)
    by_token = line.metric == "tpot_ms" and report.run.tpot_mode == "token_weighted"
    label = f"{line.label} by token" if by_token else line.label
    return (label, *figures, whole(summary.count))


def _figure(summary: Summary, name: str) -> float | None:
    return summary.percentiles[name] if name in summary.percentiles else getattr(summary, name, None)
