"""The latency table: one row a metric, one column a statistic, milliseconds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.text import Text

from reporter.render.figures import decimals, fixed, whole
from reporter.render.page import Column, grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from reporter.report import Report, Summary

_STATISTICS: Final = ("mean", "p50", "p90", "p95", "p99", "p999", "max")
_ALIKE: Final = 0.01
_TITLES: Final = {"p999": "p99.9"}
_RANKS: Final = {"n": 6, "p95": 5, "p999": 4, "mean": 3, "max": 2, "p90": 1}
"""What a narrow page leaves out, the highest first; the median and p99 always stay."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row.

    Attributes:
        label: What stands in the margin.
        metric: The Report's field.
        twin: The field of a row above that this one stands beside.
        always: Whether it is shown even where no two figures of the twins are 1 % apart.
    """

    label: str
    metric: str
    twin: str | None = None
    always: bool = False


SERVER: Final = (
    Line("TTFT", "ttft_ms"),
    Line("from schedule", "ttft_from_schedule_ms", twin="ttft_ms"),
    Line("TTFO", "ttfo_ms", twin="ttft_ms"),
    Line("TTFV", "ttfv_ms", twin="ttfo_ms"),
    Line("TPOT", "tpot_ms"),
    Line("ITL", "itl_ms"),
    Line("Latency", "latency_ms"),
    Line("from schedule", "latency_from_schedule_ms", twin="latency_ms", always=True),
    Line("to last token", "last_token_ms", twin="latency_ms"),
    Line("TTFB", "ttfb_ms"),
)
"""What the server is measured by, first what is asked for most."""

SHORT: Final = (Line("TTFT", "ttft_ms"), Line("TPOT", "tpot_ms"), Line("Latency", "latency_ms"))
"""The rows of a summary."""

CLIENT: Final = (
    Line("Held", "held_ms"),
    Line("Issue lag", "issue_lag_ms"),
    Line("Send lag", "send_lag_ms"),
    Line("DNS", "dns_ms"),
    Line("Connect", "connect_ms"),
    Line("TLS", "tls_ms"),
)
"""What the client itself took."""


def table(report: Report, *groups: Sequence[Line], width: int) -> Table | None:
    """The rows that have samples, a blank one between two groups; None when there are none at all."""
    columns = [
        Column("milliseconds", justify="left"),
        *(Column(_TITLES.get(name, name), _RANKS.get(name, 0)) for name in _STATISTICS),
        Column("n", _RANKS["n"]),
    ]
    rows: list[list[Text]] = []
    for group in groups:
        shown = [_row(report, line, summary) for line in group if (summary := _summary(report, line))]
        if rows and shown:
            rows.append([Text()] * len(columns))
        rows += shown
    return grid(columns, rows, width=width) if rows else None


def _summary(report: Report, line: Line) -> Summary | None:
    """The figures of a row, None when there are none or when the row above tells the same."""
    summary: Summary | None = getattr(report, line.metric)
    twin: Summary | None = getattr(report, line.twin) if line.twin else None
    told = summary and twin and not line.always and _alike(summary, twin)
    return None if told else summary


def _alike(one: Summary, other: Summary) -> bool:
    return all(math.isclose(getattr(one, name), getattr(other, name), rel_tol=_ALIKE) for name in _STATISTICS)


def _row(report: Report, line: Line, summary: Summary) -> list[Text]:
    """As many decimals for all figures of a row as show three digits of its median."""
    places = decimals(summary.p50 or summary.max)
    figures = (fixed(getattr(summary, name), places) for name in _STATISTICS)
    return [_label(report, line), *map(Text, figures), Text(whole(summary.count), style="dim")]


def _label(report: Report, line: Line) -> Text:
    by_token = line.metric == "tpot_ms" and report.run.get("tpot_mode") == "token_weighted"
    style = "dim" if line.label.islower() else ""
    return Text(f"{line.label} by token" if by_token else line.label, style=style)
