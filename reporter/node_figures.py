"""The nodes of a run of several machines, from an opened log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reporter import statements
from reporter.log.database import figures, rows_of
from reporter.nodes import NodeReport, Nodes

if TYPE_CHECKING:
    from reporter.log.database import OpenLog
    from rulesets.definitions import PercentileMethod


def nodes(log: OpenLog, method: PercentileMethod) -> Nodes:
    """The nodes of an opened log, over its window."""
    each = tuple(NodeReport(**row) for row in rows_of(log.execute(statements.nodes(method))))
    return Nodes(**figures(log, "clock_bounds"), each=each)
