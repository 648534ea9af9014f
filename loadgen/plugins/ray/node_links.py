"""The nodes of a session, in any runtime: links, and capability checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from lazy_dataclasses import dataclass
from loadgen.driver.load import Closed
from loadgen.sessions.errors import SetupError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.driver.load import Load


class StartedNodes(Protocol):
    """Nodes that have been started, each with a `loadgen.plugins.ray.node.Node`.

    Attributes:
        facts: What `machine_facts` says of each, and `shard`: its name.
    """

    facts: Sequence[Mapping[str, Any]]

    @property
    def links(self) -> Sequence[NodeLink]:
        """The links to the nodes."""

    def shared(self, value: Any) -> Any:
        """A reference to a value in a call to every node."""

    async def again(self, name: str) -> NodeLink:
        """Start another node on the machine of a lost one, or raise `NodeGoneError`."""


def require_same(own: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> None:
    """Raise `SetupError` if a node has another version of this package, or none."""
    for node in nodes:
        shown = f"{node['shard']} ({node['host']})"
        remedy = f"install llm-loadgen[ray]=={own['version']} on every node, as by one container image"
        if node["version"] is None:
            raise SetupError(f"{shown} has no llm-loadgen: {remedy}")
        if node["version"] != own["version"]:
            raise SetupError(
                f"{shown} has llm-loadgen {node['version']}, and this machine {own['version']}: {remedy}"
            )
        if node["sources"] != own["sources"]:
            raise SetupError(
                f"{shown} has other sources of llm-loadgen {own['version']} than this machine "
                f"({node['sources']}, here {own['sources']}): {remedy}"
            )


def require_share(load: Load, nodes: int, workers: int) -> None:
    """Raise `UsageError` if a node, or a worker under a limit, would have nothing to do."""
    if isinstance(load, Closed) and load.concurrency < nodes:
        raise UsageError(
            f"--concurrency {load.concurrency}: fewer users than nodes ({nodes}): give fewer --nodes, or "
            "more users"
        )
    limit = load.limit
    if limit is not None and limit < nodes * workers:
        raise UsageError(
            f"--max-concurrency {limit}: each of {nodes * workers} workers ({workers} on each of {nodes} "
            "nodes) needs a share; give fewer --workers or --nodes"
        )


class NodeLink(Protocol):
    """The way to a node."""

    name: str
    host: str

    async def call(self, method: str, *values: Any) -> Any:
        """Call a method of the node; return the result, or raise the method's error or `NodeGoneError`."""

    def kill(self) -> None:
        """Kill the node."""


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """How a node is doing.

    Attributes:
        now_ns: When it said so, on its own CLOCK_MONOTONIC.
        progress: Its counters; see `loadgen.driver.progress.SessionProgress.snapshot`.
        stopped: Why it has stopped by itself, such as a worker that was lost; None while it has not.
        broken: Why its log cannot be written any more; None while it can.
    """

    now_ns: int
    progress: dict[str, Any]
    stopped: str | None = None
    broken: str | None = None
