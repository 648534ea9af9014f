"""The table of the nodes of a run of several machines, for the console and for pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.number_text import NOTHING, counted, figure, fixed, whole
from reporter.render.console_page import clean, tables
from reporter.render.table import Column, Mark, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from reporter.nodes import NodeReport
    from reporter.render.table import Cell
    from reporter.report import Report

MOST_ROWS: Final = 30
"""On the console."""

_COLUMNS: Final = (
    Column("node", justify="left", folds=True),
    Column("requests", 5),
    Column("req/s"),
    Column("failed", 2),
    Column("TTFT p99"),
    Column("issue lag p99", 1),
    Column("loop lag max", 6),
    Column("CPU max", 7),
    Column("clock offset", 8),
    Column("clock ± ms", 4),
    Column("state", justify="left", folds=True),
)


def section(report: Report, *, width: int) -> Sequence[RenderableType]:
    """The table with a title; of many nodes those with problems, and those with the highest TTFT."""
    return tables(table(report, MOST_ROWS), width=width)


def table(report: Report, limit: int | None = None) -> Table:
    """The table of the nodes, `limit` of them at most."""
    each = () if report.nodes is None else report.nodes.each
    title = "Nodes, latencies and lags in milliseconds, clock offsets in seconds"
    if limit is not None and len(each) > limit:
        title += f"; {limit} of {whole(len(each))}, by what needs a look, then by TTFT"
        each = tuple(sorted(each, key=_importance)[:limit])
    return Table(_COLUMNS, tuple(map(_row, each)), title)


def _row(node: NodeReport) -> tuple[Cell, ...]:
    return (
        clean(node.node),
        whole(node.issued),
        _figure(node.qps, 4),
        Mark(whole(node.failed), "bad" if node.failed else ""),
        _figure(node.ttft_p99_ms),
        _figure(node.issue_lag_p99_ms),
        _figure(node.loop_lag_max_ms),
        NOTHING if node.cpu_share_max is None else f"{100 * node.cpu_share_max:.0f} %",
        NOTHING if node.clock_shift_ms is None else fixed(node.clock_shift_ms / 1e3, 6),
        _figure(node.clock_uncertainty_ms),
        Mark(_state(node), "bad") if _needs_a_look(node) else _state(node),
    )


def _figure(value: float | None, digits: int = 3) -> str:
    return NOTHING if value is None else figure(value, digits)


def _state(node: NodeReport) -> str:
    """The ending of the node's log, and further problems."""
    parts = [clean(node.state)]
    if node.seconds_behind:
        parts.append(f"behind in {node.seconds_behind} of {counted(node.seconds, 'second')}")
    if not node.clock_is_steady:
        parts.append("its clock jumped")
    if node.lost:
        parts.append(f"{counted(node.lost, 'event')} lost")
    return ", ".join(parts)


def _needs_a_look(node: NodeReport) -> bool:
    is_over = node.state in {"completed", "running"}
    return not is_over or bool(node.seconds_behind) or not node.clock_is_steady or bool(node.lost)


def _importance(node: NodeReport) -> tuple[bool, float]:
    return not _needs_a_look(node), -(node.ttft_p99_ms or 0.0)
