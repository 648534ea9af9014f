"""The nodes of a run of several machines, and of a shard the one that wrote it, from an opened log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorder.shards import SHARD
from reporter.json_values import document, members, text, whole
from reporter.log.database import figures
from reporter.nodes import NodeReport, Nodes

if TYPE_CHECKING:
    from reporter.log.database import OpenLog
    from rulesets.definitions import PercentileMethod


def nodes(log: OpenLog, method: PercentileMethod) -> Nodes | None:
    """The nodes of an opened log, over its window; None for a run of one machine."""
    if log.execute("SELECT count(*) FROM node_logs").fetchall() == [(0,)]:
        return None
    from reporter import statements

    answer = log.execute(statements.nodes(method))
    columns = [column[0] for column in answer.description or ()]
    each = tuple(NodeReport(**dict(zip(columns, row, strict=True))) for row in answer.fetchall())
    return Nodes(**figures(log, "clock_bounds"), each=each)


def shard(log: OpenLog) -> tuple[str, int] | None:
    """The node whose log alone was opened, and how many nodes its run has; None for any other log."""
    ((environment_json,),) = log.execute("SELECT any_value(environment) FROM session").fetchall()
    environment = members(document(environment_json or "{}"))
    if environment.get("kind") != SHARD:
        return None
    return text(environment.get("shard")) or "a node", whole(environment.get("shards")) or 0
