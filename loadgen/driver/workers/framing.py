"""Messages between parent and workers: frames over a socket, and the questions as plain values."""

from __future__ import annotations

import marshal
import pickle
from array import array
from collections import deque
from enum import Enum, IntEnum, auto
from operator import attrgetter
from struct import Struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lazy_dataclasses import dataclass
from loadgen.driver.client.endpoint import Endpoint  # noqa: TC001 (what is unpickled is imported before a fork)
from loadgen.driver.client.memory_bounds import MAX_TOGETHER_BYTES
from loadgen.driver.phase import Shard
from loadgen.driver.plan import Plan  # noqa: TC001 (as above)
from loadgen.driver.requests.request_source import RequestSource
from workloads.sample import Sample
from workloads.synthetic.word_prompts import TextSamples

if TYPE_CHECKING:
    import asyncio
    import socket
    from collections.abc import Callable, Sequence

    from loadgen.driver.phase import Phase

READ_BYTES: Final = 262_144
"""How much is read at a time: what the kernel keeps for a socket by default."""

_LENGTH: Final = Struct("<I")


def framed(payload: bytes) -> bytes:
    """A payload with a length prefix."""
    return _LENGTH.pack(len(payload)) + payload


class FrameReader:
    """Reassembles frames from a stream of bytes."""

    def __init__(self) -> None:
        self._pieces = bytearray()

    def feed(self, data: bytes) -> Sequence[memoryview]:
        """The payloads that end in these bytes, as views of memory that does not change."""
        pieces = self._pieces
        if pieces:
            pieces += data
            if len(pieces) < _LENGTH.size or len(pieces) < _frame_end(pieces, 0):
                return ()
            data = bytes(pieces)
            pieces.clear()
        view, start, whole = memoryview(data), 0, []
        while len(data) >= start + _LENGTH.size and len(data) >= (end := _frame_end(data, start)):
            whole.append(view[start + _LENGTH.size : end])
            start = end
        pieces += view[start:]
        return whole


def _frame_end(data: bytes | bytearray, start: int) -> int:
    """The end of the frame that starts at an offset."""
    (length,) = _LENGTH.unpack_from(data, start)
    return start + _LENGTH.size + int(length)


class Outbox:
    """Sends frames, and buffers the bytes beyond the socket's window.

    Nothing is raised when the other end is gone: the reader learns that.
    """

    def __init__(
        self, sock: socket.socket, loop: asyncio.AbstractEventLoop, on_sent: Callable[[], None] | None = None
    ) -> None:
        self.bytes = 0
        self.events = 0  #: how many events the waiting frames hold, the one that is sent in part included
        self._sock = sock
        self._loop = loop
        self._on_sent = on_sent
        self._unsent: deque[tuple[memoryview, int]] = deque()

    @property
    def empty(self) -> bool:
        """Whether everything has been sent."""
        return not self._unsent

    def send(self, frame: bytes, events: int = 0) -> None:
        """Send one or several frames, with this many events, now or as soon as the socket is writable."""
        self._unsent.append((memoryview(frame), events))
        self.bytes += len(frame)
        self.events += events
        if len(self._unsent) == 1:
            self._push()
            if self._unsent:
                self._loop.add_writer(self._sock, self._on_writable)

    def _on_writable(self) -> None:
        self._push()
        if not self._unsent:
            self._loop.remove_writer(self._sock)
        if self._on_sent is not None:
            self._on_sent()

    def _push(self) -> None:
        """Send as much as the socket accepts."""
        try:
            while self._unsent:
                frame, events = self._unsent[0]
                sent = self._sock.send(frame)
                self.bytes -= sent
                if sent < len(frame):
                    self._unsent[0] = (frame[sent:], events)
                    continue
                self._unsent.popleft()
                self.events -= events
        except BlockingIOError:
            pass
        except OSError:
            self._unsent.clear()
            self.bytes = self.events = 0


@dataclass(frozen=True, slots=True)
class QueueBounds:
    """How much may wait before issuing waits, and how long."""

    #: Above this many events in the recorder's queue, the parent takes no more from workers.
    recorder_events: int = 200_000
    recorder_bytes: int = 128 * 1024 * 1024
    #: Above this many events that the parent has not taken, a worker issues nothing more.
    backlog_events: int = 100_000
    backlog_bytes: int = 64 * 1024 * 1024
    #: All responses in a worker that are open, or that the parent has not taken.
    responses_bytes: int = MAX_TOGETHER_BYTES
    #: A worker that says nothing for so long, although it should, is taken for dead and killed.
    silence_s: float = 30.0


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """All that a worker must know to begin with."""

    plan: Plan
    endpoints: tuple[Endpoint, ...]
    questions: Packed  #: what is asked; see `packed`
    share: Shard
    connect_ahead: int = 0
    bounds: QueueBounds = QueueBounds()
    node: Shard = Shard()

    def request_source(self) -> RequestSource:
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
    END = auto()
    """Close everything, say so, and end."""


class GiveUp(NamedTuple):
    """The parent's command to abandon requests in flight; the log keeps the reason, None for an interrupt."""

    reason: str | None


class WorkerMessage(IntEnum):
    """How each message of a worker begins."""

    READY = auto()
    ROWS = auto()
    UNTIL = auto()
    ISSUED = auto()
    SETTLED = auto()
    ENDED = auto()
    CRASHED = auto()


def command(what: WorkerConfig | Phase | Command | GiveUp) -> bytes:
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


_USUAL: Final = attrgetter("index", "prompt", "system")
_RARE: Final = attrgetter("chat", "token_ids", "tools", "max_tokens", "temperature", "tags")
_NOTHING_RARE: Final[tuple[Any, ...]] = (None, None, (), None, None, {})
_FEW: Final = 3 + len(_NOTHING_RARE)
"""The fields of a sample without follow-ups, at most."""

_FOLLOW_UP: Final = attrgetter("messages", "recorded", "max_tokens")

Packed = tuple[Any, ...]
"""What a request source is packed as."""


def packed(source: RequestSource, plan: Plan) -> Packed:
    """The parts of the questions that a worker needs under the plan."""
    samples: Sequence[Any] = _needed(source, plan)
    if isinstance(samples, TextSamples):
        samples = samples.alone()
    elif isinstance(samples, tuple | list):
        samples = [_packed_sample(sample, recorded=plan.history == "recorded") for sample in samples]
    offsets_ns = None if source.offsets_ns is None else array("q", source.offsets_ns)
    left = None if source.left is None else array("q", source.left)
    return (samples, source.conversations, source.weights, offsets_ns, left, source.elapsed_ns)


def unpacked(pack: Packed) -> RequestSource:
    """The request source again."""
    samples, *others = pack
    if isinstance(samples, TextSamples):
        samples = samples.made()
    elif isinstance(samples, list):
        samples = tuple(map(_unpacked_sample, samples))
    return RequestSource(samples, *others)


def _needed(source: RequestSource, plan: Plan) -> Sequence[Sample]:
    """The samples that a session can ask."""
    count = plan.count if source.left is None else max(source.left, default=-1) + 1
    if count is None or plan.warmup_s is not None or plan.order != "in-order":
        return source.samples
    return source.samples[: plan.warmup + count]


def _packed_sample(sample: Sample, *, recorded: bool) -> Packed:
    if type(sample) is Sample:
        rare = _RARE(sample)
        return _USUAL(sample) if rare == _NOTHING_RARE else (*_USUAL(sample), *rare)
    from workloads.conversation_sample import ConversationSample

    if type(sample) is not ConversationSample:
        return (sample,)
    follow_ups = [_FOLLOW_UP(follow_up) for follow_up in sample.follow_ups]
    if not recorded:
        follow_ups = [(messages, None, max_tokens) for messages, _, max_tokens in follow_ups]
    return (*_USUAL(sample), *_RARE(sample), follow_ups)


def _unpacked_sample(pack: Packed) -> Sample:
    if len(pack) == 1:
        return pack[0]  # type: ignore[no-any-return]  # a sample of another class travels as it is
    fields, follow_ups = pack[:_FEW], pack[_FEW:]
    if not follow_ups:
        return Sample(*fields)
    from workloads.conversation_sample import ConversationSample, FollowUp

    later = tuple(FollowUp(*follow_up) for follow_up in follow_ups[0])
    return ConversationSample(*fields, follow_ups=later)
