"""The messages between a worker and the parent; each message is a frame (`loadgen.driver.workers.framing`).

From the parent, pickled: a `WorkerConfig`, then a `Phase` or a `Command` at a time. From the worker, in
marshal, tuples that begin with a `WorkerMessage`:

    READY                   it has been set up, and its connections ahead are open
    ROWS, since_ns, rows    events as `recorder.schema.row` makes them, and since when the first has waited
    UNTIL, at_ns            each request that had ended by then has its end among the events so far
    PROGRESS, counters      see `SessionProgress.snapshot`
    ISSUED, scheduled       its share of the phase has been issued
    SETTLED                 nothing is in flight, and all of its events are sent
    ENDED                   nothing will come any more
    CRASHED, message        a bug, in one line; the last that it says

Both ends are the same program on the same machine, so moments are comparable (CLOCK_MONOTONIC) and no format
needs a version. Secrets travel here, and neither on a command line nor in an environment.
"""

from __future__ import annotations

import marshal
import pickle
from dataclasses import dataclass
from enum import Enum, IntEnum, auto
from typing import TYPE_CHECKING, Any

from loadgen.driver.client.bounds import MAX_TOGETHER_BYTES
from loadgen.driver.client.endpoint import Endpoint  # noqa: TC001 (what is unpickled is imported before a fork)
from loadgen.driver.plan import Plan  # noqa: TC001 (likewise)
from loadgen.driver.shard import Shard
from loadgen.driver.workers.framing import framed
from loadgen.driver.workers.packing import unpacked

if TYPE_CHECKING:
    from loadgen.driver.phase import Phase
    from loadgen.driver.requests.request_source import Agenda
    from loadgen.driver.workers.packing import Packed


@dataclass(frozen=True, slots=True)
class QueueBounds:
    """How much may wait before issuing waits, and how long.

    Attributes:
        recorder_events: Above this many events in the recorder's queue, the parent takes no more from
            workers.
        recorder_bytes: Likewise, for what workers have sent.
        backlog_events: Above this many events that the parent has not taken, a worker issues nothing more.
        backlog_bytes: Likewise.
        responses_bytes: All responses in a worker that are open, or that the parent has not taken.
        silence_s: A worker that says nothing for so long, although it should, is taken for dead and killed.
    """

    recorder_events: int = 200_000
    recorder_bytes: int = 128 * 1024 * 1024
    backlog_events: int = 100_000
    backlog_bytes: int = 64 * 1024 * 1024
    responses_bytes: int = MAX_TOGETHER_BYTES
    silence_s: float = 30.0


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """All that a worker must know to begin with.

    Attributes:
        plan: What the whole session is to do.
        endpoints: Where requests go.
        questions: What is asked; see `loadgen.driver.workers.packing`.
        share: Which part is this worker's.
        node: Which part is its node's, of a run on several.
        connect_ahead: How many connections are opened before the first phase.
        bounds: How much may wait.
    """

    plan: Plan
    endpoints: tuple[Endpoint, ...]
    questions: Packed
    share: Shard
    connect_ahead: int = 0
    bounds: QueueBounds = QueueBounds()
    node: Shard = Shard()  # noqa: RUF009 (a frozen value)

    def agenda(self) -> Agenda:
        """The questions to ask."""
        return unpacked(self.questions)

    def redact(self, text: str) -> str:
        """Redact a message for the log: all endpoints have equal secrets."""
        return self.endpoints[0].redact(text)


class Command(Enum):
    """The parent's commands without parameters."""

    EXHAUSTED = auto()
    """The last request of the phase has been claimed by a worker."""
    SETTLE = auto()
    """Say when nothing is in flight."""
    STOP = auto()
    """Issue nothing more."""
    ABORT = auto()
    """Give up what is in flight: the session was interrupted."""
    DRAIN_OVER = auto()
    """Give up what is in flight: it has been awaited for long enough."""
    OVERLOADED = auto()
    """Give up what is in flight: the endpoint cannot keep up."""
    GATE_LOST = auto()
    """Give up what is in flight: a target can be met no more."""
    END = auto()
    """Close everything, say so, and end."""


class WorkerMessage(IntEnum):
    """How each message of a worker begins."""

    READY = auto()
    ROWS = auto()
    UNTIL = auto()
    PROGRESS = auto()
    ISSUED = auto()
    SETTLED = auto()
    ENDED = auto()
    CRASHED = auto()


def command(what: WorkerConfig | Phase | Command) -> bytes:
    """A parent's message as a frame."""
    return framed(pickle.dumps(what, pickle.HIGHEST_PROTOCOL))


def commanded(payload: bytes | memoryview) -> Any:
    """Decode a message of the parent."""
    return pickle.loads(payload)  # noqa: S301 (from the process that started this one)


def message(kind: WorkerMessage, *values: Any) -> bytes:
    """A worker's message as a frame."""
    return framed(marshal.dumps((kind.value, *values)))


def unmarshalled(payload: bytes | memoryview) -> tuple[Any, ...]:
    """Decode a message of a worker."""
    return marshal.loads(payload)  # type: ignore[no-any-return]  # noqa: S302 (from a process that this one started)
