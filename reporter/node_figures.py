"""The nodes of a run of several machines, from an opened log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reporter import statements
from reporter.log.database import figures
from reporter.nodes import NodeReport, Nodes

if TYPE_CHECKING:
    from reporter.log.database import OpenLog
    from rulesets.definitions import PercentileMethod


def nodes(log: OpenLog, method: PercentileMethod) -> Nodes:
    """The nodes of an opened log, over its window."""
    answer = log.execute(statements.nodes(method))
    columns = [column[0] for column in answer.description or ()]
    each = tuple(NodeReport(**dict(zip(columns, row, strict=True))) for row in answer.fetchall())
    return Nodes(**figures(log, "clock_bounds"), each=each)
