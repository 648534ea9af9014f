"""Tables of the parts of a run: a row for each value that tells requests apart, or for each moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from reporter.number_text import NOTHING, decimals, fixed, whole
from reporter.render import score_tables
from reporter.render.console_page import clean, tables
from reporter.render.table import Column, Mark, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from reporter.report import Moment, PartReport, Report

TIME: Final = "time"
"""What a run is broken down by moment by moment."""

_PART_COLUMNS: Final = (
    ("issued", 4),
    ("failed", 3),
    ("req/s", 1),
    ("tok/s", 2),
    ("TTFT p50", 0),
    ("TTFT p99", 5),
    ("TPOT p50", 6),
    ("TPOT p99", 7),
    ("latency p50", 0),
    ("latency p99", 8),
)
"""Titles, and which goes first where the page is too narrow; the same holds below."""

_MOMENT_COLUMNS: Final = (
    ("due/s", "offered_qps", 4),
    ("req/s", "qps", 0),
    ("tok/s", "output_tps", 2),
    ("in flight", "in_flight", 1),
    ("failed", "failed", 3),
    ("TTFT p50", "ttft_p50_ms", 0),
    ("TTFT p99", "ttft_p99_ms", 5),
    ("latency p50", "latency_p50_ms", 0),
    ("latency p99", "latency_p99_ms", 6),
)


def names(report: Report) -> list[str]:
    """The possible breakdowns of a report."""
    tags = [tag for score in report.accuracy for tag in score.groups]
    return list(dict.fromkeys([*report.breakdown, *([TIME] if report.over_time else []), *tags]))


def section(report: Report, name: str, *, width: int) -> Sequence[RenderableType]:
    """The tables for one of `names`, each with a title."""
    if name == TIME:
        return tables(_moments(report.over_time), width=width)
    scores = tables(*score_tables.group_tables(report, name), width=width)
    if name not in report.breakdown:
        return scores
    return [*tables(parts(report, name), width=width), *([Text(), *scores] if scores else [])]


def _caption(name: str) -> str:
    return f"By {clean(name)}, latencies in milliseconds"


def parts(report: Report, name: str, sql: str = "") -> Table:
    """The table of the parts of one of `report.breakdown`."""
    of_name = report.breakdown[name]
    rates = [_column([getattr(part, rate) for part in of_name], 4) for rate in ("qps", "output_tps")]
    times = [
        _column([getattr(summary, which) if (summary := getattr(part, metric)) else None for part in of_name])
        for metric in ("ttft_ms", "tpot_ms", "latency_ms")
        for which in ("p50", "p99")
    ]
    failed = [Mark(whole(part.failed), "bad" if part.failed else "") for part in of_name]
    issued = [whole(part.issued) for part in of_name]
    return Table(
        (
            Column(clean(name), justify="left", folds=True),
            *(Column(title, rank) for title, rank in _PART_COLUMNS),
        ),
        tuple(zip(map(_value, of_name), issued, failed, *rates, *times, strict=True)),
        _caption(name),
        sql,
    )


def _moments(moments: Sequence[Moment]) -> Table:
    several = len({moment.segment for moment in moments}) > 1
    columns = (Column("from s", justify="left"), *(Column(title, rank) for title, _, rank in _MOMENT_COLUMNS))
    shown = [_column([getattr(moment, field) for moment in moments], 4) for _, field, _ in _MOMENT_COLUMNS]
    starts = _column([moment.start_s for moment in moments])
    named = [
        f"{moment.segment}: {start}" if several else start
        for moment, start in zip(moments, starts, strict=True)
    ]
    return Table(columns, tuple(zip(named, *shown, strict=True)), _caption(TIME))


def _value(part: PartReport) -> str:
    if part.values > 1:
        return f"({part.values} others)"
    return "(none)" if part.value is None else clean(part.value)


def _column(values: Sequence[float | None], digits: int = 3) -> list[str]:
    """Figures below each other, all with as many decimals as the greatest calls for."""
    if all(value is None or isinstance(value, int) for value in values):
        return [NOTHING if value is None else whole(int(value)) for value in values]
    sizes = [abs(value) for value in values if value]
    places = decimals(max(sizes, default=0.0), digits)
    return [fixed(value, places) for value in values]
