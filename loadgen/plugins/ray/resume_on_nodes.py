"""Finishing an interrupted session on a cluster: requests in the shards are not asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.driver.errors import NodeGoneError
from loadgen.driver.system.signals import run_async
from loadgen.plugins.ray.collect_shards import ShardPlace, bring_stranded
from loadgen.plugins.ray.node_facts import installed
from loadgen.plugins.ray.node_links import require_same
from loadgen.plugins.ray.run_on_nodes import recorded, require_capable
from loadgen.sessions.errors import SetupError
from loadgen.sessions.run.resumption import announce_rest, end_log, prepare_resumption, resumed_settings
from reporter.log.opened import opened
from reporter.log.so_far import so_far

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loadgen.plugins.ray.node_links import StartedNodes
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.run.preparation import Prepared
    from loadgen.sessions.settings.resume import ResumeSettings
    from recorder.errors import WriterError
    from reporter.log.so_far import RunSoFar


def finish_on_nodes(
    settings: ResumeSettings, run: RunSoFar, folder: Path, observer: Observer
) -> tuple[Prepared, WriterError | None]:
    """Finish a session; return the remaining part, and the error of a failed log, if any.

    The nodes of now have names of their own: each writes a shard more.

    Raises:
        SetupError: The nodes cannot take part; which, and what to do.
        UsageError: An input has changed, or a node would have nothing to do.
    """
    from loadgen.plugins.ray.node import Node
    from loadgen.plugins.ray.ray_nodes import RayNodes

    cluster = resumed_settings(settings, run).cluster
    with opened(folder) as log:
        earlier = [(node.name, node.is_here) for node in log.nodes]
    with RayNodes(cluster.ray or "auto", cluster.nodes, Node, len(earlier)) as nodes:
        require_same(installed(), nodes.facts)
        nodes.start(run.settings["workers"] + 1)
        return run_async(_finish(settings, run, earlier, nodes, folder, observer))


async def _finish(
    settings: ResumeSettings,
    run: RunSoFar,
    earlier: Sequence[tuple[str, bool]],
    nodes: StartedNodes,
    folder: Path,
    observer: Observer,
) -> tuple[Prepared, WriterError | None]:
    place = ShardPlace.of(resumed_settings(settings, run).cluster, run.session_id)
    try:
        await bring_stranded(nodes.links, run.session_id, earlier, folder, place)
    except NodeGoneError as error:
        raise SetupError(f"the logs of the run could not be brought home: {error}") from error
    prepared = prepare_resumption(settings, so_far(folder))
    if not prepared.left:
        end_log(prepared, folder)
        return prepared, None
    require_capable(prepared, nodes.facts)
    announce_rest(prepared, observer)
    return prepared, await recorded(prepared, nodes, folder, observer, run.session_id)
