"""A run of several machines: the places of the logs, and the links between them.

    RUN/events.db                    the coordinator's log: settings, phases, findings, facts of nodes, clocks
    RUN/shards/<node>/events.db      a node's log, by its own recorder: the requests that it issued

Every log is an ordinary one. A shard has the `session_id` of the coordinator's log, and the same phases. Its
times are CLOCK_MONOTONIC of its node; what to add for the coordinator's clock is in the coordinator's log, in
`TELEMETRY` of the source `node_clock`. The environment of each log says what it is:

    coordinator  {"kind": "coordinator", "shards": [{"shard": "node-0", "host": …}, …], "shards_path": null}
    shard        {"kind": "shard", "shard": "node-0", "shards": 3}

By these a reader notices a shard that is missing, doubled or of another session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

from lazy_dataclasses import dataclass
from recorder.event import Event, EventType
from recorder.store import LOG_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

FOLDER: Final = "shards"
"""The folder of a run in which shards lie, a folder for each node."""

COORDINATOR: Final = "coordinator"
SHARD: Final = "shard"

SOURCE: Final = "node_clock"
"""The `source` of a clock reading."""

MAX_DRIFT_PPM: Final = 200.0
"""How fast two clocks may drift apart: quartz differs by some 20 ppm, and time services rarely slew
a clock by more than 100 ppm."""

_US_PER_NS: Final = 1e-3


def node_name(number: int) -> str:
    """The name of a node by number, from 0, as used for shards and in findings."""
    return f"node-{number}"


def shard_folder(shards: Path, node: str) -> Path:
    """The folder of a node's shard."""
    return shards / node


def shard_log(shards: Path, node: str) -> Path:
    """The log of a node's shard; see `shard_folder`."""
    return shard_folder(shards, node) / LOG_NAME


def coordinator_environment(nodes: Sequence[Mapping[str, Any]], path: Path | str | None) -> dict[str, Any]:
    """The further environment facts of a coordinator's log."""
    return {"kind": COORDINATOR, "shards": list(nodes), "shards_path": None if path is None else str(path)}


def shard_environment(node: str, nodes: int) -> dict[str, Any]:
    """The further environment facts of a shard."""
    return {"kind": SHARD, "shard": node, "shards": nodes}


@dataclass(frozen=True, slots=True)
class ClockReading:
    """Where a node's clock stood, compared with the coordinator's."""

    node: str  #: the node's name
    at_ns: int  #: when, in ns of the coordinator's CLOCK_MONOTONIC
    offset_ns: int  #: what to add to a time of the node for the coordinator's clock
    #: The true offset at `at_ns` was no further from `offset_ns` than this. Away from `at_ns`,
    #: `MAX_DRIFT_PPM` is added for the time between.
    uncertainty_ns: int
    round_trip_ns: int  #: how long the exchange took that this was read by: the shortest of several

    def event(self) -> Event:
        """The reading as an event, in µs, because members in ns are times on the log's own clock."""
        data = {
            "source": SOURCE,
            "node": self.node,
            "offset_us": round(self.offset_ns * _US_PER_NS, 3),
            "uncertainty_us": round(self.uncertainty_ns * _US_PER_NS, 3),
            "round_trip_us": round(self.round_trip_ns * _US_PER_NS, 3),
        }
        return Event(EventType.TELEMETRY, self.at_ns, data=data)

    @classmethod
    def of(cls, at_ns: int, data: Mapping[str, Any]) -> Self:
        """The reading of an event, or a KeyError, TypeError or ValueError."""
        ns = {name: round(float(data[f"{name}_us"]) / _US_PER_NS) for name in _IN_US}
        return cls(str(data["node"]), at_ns, ns["offset"], ns["uncertainty"], ns["round_trip"])


_IN_US: Final = ("offset", "uncertainty", "round_trip")
