"""The rows that compiled code and Python make of the same response."""

from __future__ import annotations

import asyncio
import marshal
from typing import TYPE_CHECKING, Any

from loadgen.driver.client.arrival_bounds import Late
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.compiled import compiled_function
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.exchange import REUSED
from loadgen.driver.client.wire_connection import parsed_head
from loadgen.driver.requests.turn import RequestRunner
from recorder.event import EventType
from recorder.schema import row
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.driver.client.exchange import Exchange
    from loadgen.driver.client.plain_shapes import PlainShapes
    from recorder.event import Event

HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
)
SENT_NS = 5_000_000_000
_BEGUN_NS = SENT_NS + 1000
_FOLLOWED = {EventType.FIRST_CHUNK, EventType.COMPLETE, EventType.ERROR}
_EXACT: Mapping[int, Any] = {}


class _Replayed:
    """A transport that replays a body."""

    endpoint = endpoint("http://127.0.0.1:1", {})

    def __init__(self, *body: Any) -> None:
        self._pieces, self._moments, self._late, self._at_ns = body

    async def send(self, _request: object, exchange: Exchange) -> None:
        """Replay the response."""
        exchange.setup = REUSED
        exchange.sent(SENT_NS)
        exchange.head(parsed_head(HEAD), _BEGUN_NS)
        late = {place: Late(*bound) for place, bound in self._late.items()}
        exchange.body(self._pieces, self._moments, late)
        exchange.ended(self._at_ns, framed=True)


def rows_in_c(
    shapes: PlainShapes,
    pieces: Sequence[bytes],
    moments: Sequence[int],
    late: Mapping[int, Any] = _EXACT,
    at_ns: int = 0,
) -> list[Any] | None:
    """The rows by compiled code, without ids; None where the response is for Python, or without that code."""
    body_type: Any = compiled_function("Body")
    if body_type is None:
        return None
    body = body_type([*pieces], [*moments], {**late})
    made = body.plain(shapes.source(), HEAD, SENT_NS, _BEGUN_NS, at_ns or moments[-1])
    if made is None:
        return None
    rows = rows_of(made[0])
    assert len(rows) == made[1]
    return [_nameless(line) for line in rows]


def rows_in_python(
    shapes: PlainShapes,
    pieces: Sequence[bytes],
    moments: Sequence[int],
    late: Mapping[int, Any] = _EXACT,
    at_ns: int = 0,
) -> list[Any]:
    """The rows by Python, without ids."""
    transport: Any = _Replayed([*pieces], [*moments], late, at_ns or moments[-1])
    events: list[Event] = []
    runner = RequestRunner(transport, shapes.codec, Generation("m"), events.append)
    runner._shapes = shapes
    asyncio.run(_run(runner))
    return [_nameless(row(event)) for event in events if event.type in _FOLLOWED]


async def _run(runner: RequestRunner) -> None:
    await runner.run(Sample(0, "q"), b"{}", 0, "performance")


def rows_of(message: bytes) -> list[Any]:
    """The rows of a worker's messages."""
    rows: list[Any] = []
    while message:
        size = int.from_bytes(message[:4], "little")
        rows += marshal.loads(message[4 : 4 + size])[2]  # noqa: S302 (our own)
        message = message[4 + size :]
    return rows


def _nameless(line: Any) -> Any:
    return (*line[:2], *line[3:])
