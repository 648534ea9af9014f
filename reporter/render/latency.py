"""The latency table: one row a metric, one column a statistic, milliseconds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.text import Text

from reporter.render.figures import decimals, fixed, whole
from reporter.render.page import LABEL_WIDTH, Column, grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from reporter.report import Report, Summary

_PERCENTILES: Final = ("p50", "p90", "p95", "p99", "p999")
_COMPARED: Final = ("mean", *_PERCENTILES, "max")
_ALIKE: Final = 0.01
_RANKS: Final = {"n": 8, "std": 7, "min": 6, "p95": 5, "p999": 4, "mean": 3, "max": 2, "p90": 1}
"""What a narrow page leaves out, the highest first; the median, p99 and percentiles of choice always stay."""
_TITLE: Final = "milliseconds"


@dataclass(frozen=True, slots=True)
class LatencyRow:
    """One row.

    Attributes:
        label: What stands in the margin.
        metric: The Report's field.
        twin: The field of a row above that has nearly the same figures in many runs.
        always: Whether it is shown even where no two figures of the twins are 1 % apart.
        open_loop: Whether it is for open loops alone, where requests may wait to be sent.
        detail: Whether it is shown only where all metrics are.
    """

    label: str
    metric: str
    twin: str | None = None
    always: bool = False
    open_loop: bool = False
    detail: bool = False


SERVER: Final = (
    LatencyRow("TTFT", "ttft_ms"),
    LatencyRow("TTFT, incl. queueing", "ttft_from_schedule_ms", twin="ttft_ms", open_loop=True),
    LatencyRow("TTFO", "ttfo_ms", twin="ttft_ms"),
    LatencyRow("TTFV", "ttfv_ms", twin="ttfo_ms"),
    LatencyRow("TPOT", "tpot_ms"),
    LatencyRow("ITL", "itl_ms"),
    LatencyRow("Latency", "latency_ms"),
    LatencyRow(
        "Latency, incl. queueing", "latency_from_schedule_ms", twin="latency_ms", always=True, open_loop=True
    ),
    LatencyRow("Time to last token", "last_token_ms", twin="latency_ms", detail=True),
    LatencyRow("TTFB", "ttfb_ms", detail=True),
)
"""What the server is measured by, first what is asked for most."""

SHORT: Final = (
    LatencyRow("TTFT", "ttft_ms"),
    LatencyRow("TPOT", "tpot_ms"),
    LatencyRow("Latency", "latency_ms"),
)
"""The rows of a summary."""

HELD: Final = (LatencyRow("Held back", "held_ms"),)
"""How long requests waited for a place."""

CLIENT: Final = (
    LatencyRow("Dispatch delay", "issue_lag_ms"),
    LatencyRow("Send delay", "send_lag_ms"),
    LatencyRow("DNS", "dns_ms"),
    LatencyRow("Connect", "connect_ms"),
    LatencyRow("TLS", "tls_ms"),
)
"""What the client itself took."""


def groups(report: Report, *, verbose: bool, client: bool) -> Sequence[Sequence[LatencyRow]]:
    """The rows of a report.

    Args:
        report: Its load decides whether there are rows for open loops.
        verbose: Whether to show every metric of the server.
        client: Whether to show what the client itself took.
    """
    is_open = (report.run.get("load") or {}).get("kind") not in {"closed", None}
    server = [line for line in SERVER if verbose or (not line.detail and (is_open or not line.open_loop))]
    return [server, [*HELD, *(CLIENT if client else ())]]


def table(report: Report, *groups: Sequence[LatencyRow], width: int, verbose: bool = False) -> Table | None:
    """The rows that have samples, a blank one between two groups; None when there are none at all.

    Args:
        report: What to show; the percentiles are those that `report.run` names, or the usual ones.
        groups: The rows.
        width: Columns of the page.
        verbose: Whether to show min and std as well.
    """
    names = _statistics(report, verbose=verbose)
    rows: list[list[Text]] = []
    for group in groups:
        shown = [_row(report, line, summary, names) for line in group if (summary := _summary(report, line))]
        if rows and shown:
            rows.append([Text()] * (len(names) + 2))
        rows += shown
    is_long = any(row[0].cell_len > LABEL_WIDTH for row in rows)
    columns = [
        Column(_TITLE, justify="left", folds=is_long, least=LABEL_WIDTH),
        *(Column(_title(name), _RANKS.get(name, 0)) for name in names),
        Column("n", _RANKS["n"]),
    ]
    return grid(columns, rows, width=width) if rows else None


def _statistics(report: Report, *, verbose: bool) -> Sequence[str]:
    chosen = report.run.get("percentiles") or _PERCENTILES
    return ["mean", *(["std", "min"] if verbose else []), *chosen, "max"]


def _title(name: str) -> str:
    """`p99.9` of `p999`: digits after the first two are decimals."""
    return f"{name[:3]}.{name[3:]}" if name.startswith("p") and name[3:].isdigit() else name


def _summary(report: Report, line: LatencyRow) -> Summary | None:
    """The figures of a row, None when there are none or when the row above tells the same."""
    summary: Summary | None = getattr(report, line.metric)
    twin: Summary | None = getattr(report, line.twin) if line.twin else None
    if summary and twin and not line.always and _alike(summary, twin):
        return None
    return summary


def _alike(one: Summary, other: Summary) -> bool:
    return all(math.isclose(getattr(one, name), getattr(other, name), rel_tol=_ALIKE) for name in _COMPARED)


def _row(report: Report, line: LatencyRow, summary: Summary, names: Sequence[str]) -> list[Text]:
    """As many decimals for all figures of a row as show three digits of its median."""
    places = decimals(summary.p50 or summary.max)
    figures = (fixed(_figure(summary, name), places) for name in names)
    return [_label(report, line), *map(Text, figures), Text(whole(summary.count), style="dim")]


def _figure(summary: Summary, name: str) -> float | None:
    return summary.percentiles[name] if name in summary.percentiles else getattr(summary, name, None)


def _label(report: Report, line: LatencyRow) -> Text:
    by_token = line.metric == "tpot_ms" and report.run.get("tpot_mode") == "token_weighted"
    return Text(f"{line.label} by token" if by_token else line.label)
