"""The transport of messages between coordinator and node: Ray, or another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


class NodeLink(Protocol):
    """The way to a node."""

    name: str
    host: str

    async def call(self, method: str, *values: Any) -> Any:
        """Call a method of the node, and return the result.

        Raises:
            NodeGoneError: The node is gone.
            Exception: What the method raises.
        """

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
