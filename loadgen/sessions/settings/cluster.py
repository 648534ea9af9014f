"""The options of several machines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.option import Panel
from recorder.errors import LogError

if TYPE_CHECKING:
    from loadgen.sessions.settings.endpoint_options import EndpointsSettings
    from loadgen.sessions.settings.episode_options import EpisodeSettings
    from loadgen.sessions.settings.verdict_options import VerdictSettings

CLUSTER: Final = Panel("Several machines")

MOST_NODES: Final = 10_000


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

    def __post_init__(self) -> None:
        if self.ray is None:
            for option, is_given in (
                ("--shards", self.shards is not None),
                ("--on-node-loss continue", self.on_node_loss != "stop"),
            ):
                if is_given:
                    raise UsageError(f"{option}: of several machines, which only a run with --ray has")
        if self.shards is not None:
            from reporter.log.storage_place import store_address

            try:
                store_address(self.shards)
            except LogError as error:
                raise UsageError(f"--shards {error}") from error
        check_nodes(self.ray, self.nodes, "perf")

    def check(
        self,
        endpoint: EndpointsSettings,
        episodes: EpisodeSettings,
        verdict: VerdictSettings,
    ) -> None:
        """Refuse what works on one machine only."""
        if self.ray is None:
            return
        from reporter.log.storage_place import store_address

        if verdict.abort_on_fail and (self.shards is None or store_address(self.shards) is not None):
            raise UsageError(
                "--abort-on-fail reads the nodes' logs during the run; give --shards PATH, a folder that all "
                "nodes share, or leave --abort-on-fail out"
            )
        refused = {
            "--sequential": episodes.sequential,
            "--debug": episodes.debug,
            "--url litellm:": any(url.startswith("litellm:") for url in endpoint.urls),
        }
        for option, is_given in refused.items():
            if is_given:
                raise UsageError(f"{option}: works on one machine only: leave it out, or --ray")


def check_nodes(ray: str | None, nodes: int | None, command: str) -> None:
    """Refuse an address or a number of nodes that cannot be used."""
    if ray is None and nodes is not None:
        raise UsageError("--nodes: of several machines, which only a run with --ray has")
    if ray is not None and ray.startswith("ray://"):
        raise UsageError(
            f"--ray {ray}: Ray's client cannot be used: start on a node of the cluster, as with "
            f"`ray job submit -- loadgen {command} --ray auto …`"
        )
    if nodes is not None and not 1 <= nodes <= MOST_NODES:
        raise UsageError(f"--nodes {nodes}: must be from 1 to {MOST_NODES}")
