"""One performance session on several nodes, from settings to logs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from loadgen.driver.system.signals import run_async
from loadgen.plugins.ray.node_facts import installed
from loadgen.plugins.ray.node_links import require_same, require_share
from loadgen.sessions.observer import SILENT
from recorder.errors import WriterError, WriterStalledError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.ray.node_links import StartedNodes
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.run.preparation import Prepared
    from loadgen.sessions.settings.perf import PerfSettings


def run_on_nodes(
    settings: PerfSettings, observer: Observer = SILENT
) -> tuple[Prepared, Path, WriterError | None]:
    """Run a session on a cluster; return session, folder, and the error of a failed log, if any.

    Raises:
        SetupError: The nodes cannot take part; which, and what to do.
        UsageError: A node would have nothing to do.
    """
    from loadgen.plugins.ray.node import Node
    from loadgen.plugins.ray.ray_nodes import RayNodes
    from loadgen.sessions.files.run_folder import new_run_folder
    from loadgen.sessions.run.gate_watch import require_watchable
    from loadgen.sessions.run.preflight import warn_of
    from loadgen.sessions.run.preparation import prepare
    from loadgen.sessions.run.scoring_at_end import warn_of_no_judge

    prepared = prepare(settings)
    require_watchable(prepared)
    with RayNodes(settings.cluster.ray or "auto", settings.cluster.nodes, Node) as nodes:
        require_same(installed(), nodes.facts)
        prepared = replace(prepared, workers=_workers(prepared, nodes.facts))
        require_capable(prepared, nodes.facts)
        nodes.start(prepared.workers + 1)
        warn_of(prepared, observer)
        folder = new_run_folder(settings.output.out, prepared.perf.endpoint.model)
        warn_of_no_judge(settings.tasks, observer)
        return prepared, folder, run_async(recorded(prepared, nodes, folder, observer))


def require_capable(prepared: Prepared, nodes: Sequence[Mapping[str, Any]]) -> None:
    """Check that every node has work, and can do the work.

    Raises:
        SetupError, UsageError: One has not, or cannot; what to do.
    """
    from loadgen.sessions.run.endpoint_probe import require_descriptors

    require_share(prepared.plan.load, len(nodes), prepared.workers)
    require_descriptors(prepared, min(node["open_files"] for node in nodes), len(nodes))


def _workers(prepared: Prepared, nodes: Sequence[Mapping[str, Any]]) -> int:
    """The number of worker processes of each node: as given, else by the load and the smallest machine."""
    from loadgen.driver.workers.launcher import workers_for

    plan, chosen = prepared.plan, prepared.perf.client.workers
    if chosen is not None:
        return chosen
    workers = workers_for(plan.load, plan.count, min(node["cpus"] for node in nodes), len(nodes))
    limit = plan.load.limit
    return workers if limit is None else max(1, min(workers, limit // len(nodes)))


async def recorded(
    prepared: Prepared,
    nodes: StartedNodes,
    folder: Path,
    observer: Observer,
    session_id: str | None = None,
) -> WriterError | None:
    """`measure_on_nodes`, but return the error that broke the coordinator's log, if any."""
    from loadgen.plugins.ray.measure_on_nodes import measure_on_nodes

    try:
        await measure_on_nodes(prepared, nodes, folder, observer, session_id)
    except WriterStalledError:
        raise
    except WriterError as error:
        # What was committed before can be reported; the report says that the run has no end.
        return error
    return None
