"""The nodes of a session, in any runtime: links, and capability checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from loadgen.driver.load import Closed
from loadgen.sessions.errors import SetupError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.driver.load import Load
    from loadgen.plugins.ray.link import NodeLink


class StartedNodes(Protocol):
    """Nodes that have been started, each with a `loadgen.plugins.ray.node.Node`.

    Attributes:
        facts: What `installed` says of each, and `shard`: its name.
    """

    facts: Sequence[Mapping[str, Any]]

    @property
    def links(self) -> Sequence[NodeLink]:
        """The links to the nodes."""

    def shared(self, value: Any) -> Any:
        """A reference to a value in a call to every node."""

    async def again(self, name: str) -> NodeLink:
        """Start another node on the machine of one that was lost.

        Raises:
            NodeGoneError: Its machine is gone as well.
        """


def require_same(own: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> None:
    """Make sure that every node has this very package.

    Raises:
        SetupError: One has another version, or none; which, and what to do.
    """
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
    """Make sure that every node, and every worker under a limit, has something to do.

    Raises:
        UsageError: One would have nothing; what to do.
    """
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
