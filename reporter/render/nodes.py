"""The table of the nodes of a run of several machines, for the console and for pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from reporter.number_text import NOTHING, counted, figure, fixed, whole
from reporter.render.page import Column, clean, grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from reporter.nodes import NodeReport, Nodes

MOST_ROWS: Final = 30
"""On the console."""

COLUMNS: Final = (
    Column("node", justify="left", folds=True),
    Column("requests", 5),
    Column("requests/s"),
    Column("failed", 2),
    Column("TTFT p99"),
    Column("issue lag p99", 1),
    Column("loop lag max", 6),
    Column("CPU max", 7),
    Column("clock offset", 8),
    Column("clock ± ms", 4),
    Column("state", justify="left", folds=True),
)

UNITS: Final = "Latencies and lags are in milliseconds, a clock's offset from the coordinator's in seconds."


def section(nodes: Nodes | None, *, width: int) -> Sequence[RenderableType]:
    """The table with a title; of many nodes those with problems, and those with the highest TTFT."""
    if nodes is None:
        return []
    each = nodes.each
    title = "Nodes, latencies and lags in milliseconds, clock offsets in seconds"
    if len(each) > MOST_ROWS:
        title += f"; {MOST_ROWS} of {whole(len(each))}, by what needs a look, then by TTFT"
        each = tuple(sorted(each, key=_importance)[:MOST_ROWS])
    return [Text(title, style="dim"), grid(COLUMNS, cells(each), width=width)]


def cells(each: Sequence[NodeReport]) -> list[list[Text]]:
    """The cells of each node."""
    return [
        [
            Text(clean(node.node)),
            Text(whole(node.issued)),
            Text(_figure(node.qps, 4)),
            Text(whole(node.failed), style="red" if node.failed else ""),
            Text(_figure(node.ttft_p99_ms)),
            Text(_figure(node.issue_lag_p99_ms)),
            Text(_figure(node.loop_lag_max_ms)),
            Text(NOTHING if node.cpu_share_max is None else f"{node.cpu_share_max:.0%}"),
            Text(NOTHING if node.clock_shift_ms is None else fixed(node.clock_shift_ms / 1e3, 6)),
            Text(_figure(node.clock_uncertainty_ms)),
            Text(_state(node), style="red" if _needs_a_look(node) else ""),
        ]
        for node in each
    ]


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
