"""The options of several machines."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from lazy_dataclasses import dataclass
from loadgen.sessions.settings.option import Panel

CLUSTER: Final = Panel("Several machines")


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterSettings:
    """Options of several machines."""

    ray: str | None = CLUSTER.option(
        "Issue requests from the nodes of a Ray cluster: on this machine, or at an address.",
        metavar="auto|ADDRESS",
    )
    nodes: int | None = CLUSTER.option(
        "With --ray: the number of nodes; --workers is for each. Default: all nodes with CPUs."
    )
    shards: Path | None = CLUSTER.option(
        "With --ray: the place of the logs: a folder shared by all nodes, or a prefix in an object store. "
        "Default: logs are copied into the run's folder at the end.",
        metavar="PATH|s3://…|gs://…",
    )
    on_node_loss: Literal["stop", "continue"] = CLUSTER.option(
        "With --ray: whether a node that is lost ends the run. The run is invalid either way.", "stop"
    )
