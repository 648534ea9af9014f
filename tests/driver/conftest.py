"""Servers that play a script, byte for byte, and clients to point at them."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import struct
from contextlib import asynccontextmanager, suppress
from enum import Enum
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import orjson
import pytest
import trustme

from loadgen.driver.client import chat_completions
from loadgen.driver.client.aiohttp_transport import AiohttpTransport
from loadgen.driver.client.connection import Connection
from loadgen.driver.client.endpoint import Request, endpoint
from loadgen.driver.client.exchange import Exchange
from loadgen.driver.client.http_transport import HttpTransport, InterpretedTransport
from loadgen.driver.client.observed_socket import ObservedSocket
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.client.wire_connection import WireConnection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
    from typing import Self

    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.driver.client.transport import Transport

_NONE = MappingProxyType[str, str]({})
_T = TypeVar("_T")
_GIVE_UP_S = 120
_TURN_S = 0.005
_CONNECTIONS = Path("/proc/net/tcp")


class Step(Enum):
    """What a script can do in addition to sending bytes and pausing for a number of seconds."""

    CLOSE = "close the connection in order"
    RESET = "close the connection with a RST"
    HALF_CLOSE = "send no more, and go on reading"
    HANG = "say no more until the client hangs up"
    DRAIN = "read what is left of the request"
    READ = "wait until the client has read all that was sent"


Script = "list[bytes | float | Step | Callable[[asyncio.StreamWriter], Coroutine[Any, Any, None]]]"


class ScriptedServer:
    """Plays one script a request, in the order of the requests, and keeps what it was sent.

    Args:
        scripts: What to do for each request; the last is played again for every further one.
        whole_requests: Read a request to its end before playing; else only its head.
        tls: With it the server speaks TLS.
        greeting: What to do with a new connection before a request is read.
        host: Where it listens.

    Attributes:
        requests: What was asked, head and (where it was read) body.
        connections: How many there were.
        asked: Set by the first request.
        hanging: Set when a script has reached its `HANG`.
        hung_up: Set when a connection is over, ended by either side.
        sockets: Where the server listens.
    """

    def __init__(
        self,
        *scripts: Script,
        whole_requests: bool = True,
        tls: ssl.SSLContext | None = None,
        greeting: Script = (),
        host: str = "127.0.0.1",
    ) -> None:
        self.requests: list[bytes] = []
        self.connections = 0
        self.asked = asyncio.Event()
        self.hanging = asyncio.Event()
        self.hung_up = asyncio.Event()
        self._scripts = list(scripts)
        self._whole_requests = whole_requests
        self._tls = tls
        self._greeting = greeting
        self._host = host
        self._handlers: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, self._host, 0, ssl=self._tls, backlog=1024)
        scheme = "https" if self._tls else "http"
        host = f"[{self._host}]" if ":" in self._host else self._host
        self.sockets = self._server.sockets
        self.port = self.sockets[0].getsockname()[1]
        self.url = f"{scheme}://{host}:{self.port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for handler in self._handlers:
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._handlers.add(task)
        self.connections += 1
        # Who is cut off, on either side, has nothing more to say.
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self._serve(reader, writer)
        self.hung_up.set()
        writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._play(self._greeting, reader, writer)
        while not writer.is_closing():
            head = await reader.readuntil(b"\r\n\r\n")
            length = _content_length(head)
            self.requests.append(head)
            if self._whole_requests:
                self.requests[-1] += await reader.readexactly(length)
            self.asked.set()
            script = self._scripts[min(len(self.requests), len(self._scripts)) - 1]
            await self._play(script, reader, writer)

    async def _play(self, script: Script, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for step in script:
            match step:
                case bytes():
                    writer.write(step)
                    await writer.drain()
                    # The client has its turn to read, so that pieces stay pieces.
                    await _turns(2)
                case float() | int():
                    await asyncio.sleep(step)
                case Step.DRAIN:
                    await reader.readexactly(_content_length(self.requests[-1]))
                case Step.READ:
                    await _until_read(writer)
                case Step.HANG:
                    self.hanging.set()
                    await reader.read()
                case Step.RESET:
                    sock = writer.get_extra_info("socket")
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    writer.transport.abort()
                    await _turns(2)
                case Step.HALF_CLOSE:
                    writer.write_eof()
                case Step.CLOSE:
                    writer.close()
                    await _turns(2)
                case _:
                    await step(writer)


def _content_length(head: bytes) -> int:
    fields = head.lower().split(b"content-length: ")
    return int(fields[1].split(b"\r\n")[0]) if len(fields) > 1 else 0


async def _until_read(writer: asyncio.StreamWriter) -> None:
    """Return when the client has read all that was sent: a separate thread may be late."""
    await asyncio.sleep(_TURN_S)
    while _lies_unread(writer):  # noqa: ASYNC110 (polled: nothing signals it)
        await asyncio.sleep(_TURN_S)


def _lies_unread(writer: asyncio.StreamWriter) -> bool:
    """Whether the kernel has bytes for the client; without a table of connections, the answer is no."""
    ends = [f":{writer.get_extra_info(name)[1]:04X}" for name in ("peername", "sockname")]
    with suppress(FileNotFoundError):
        for line in _CONNECTIONS.read_text().splitlines():
            _, client, server, _, queues, *_ = line.split()
            if [client[-5:], server[-5:]] == ends:
                return int(queues.partition(":")[2], 16) > 0
    return False


async def _turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


class Wire:
    """The bytes of responses."""

    TOKEN = b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n'
    STOP = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
    DONE = b"data: [DONE]\n\n"
    STREAM = TOKEN + STOP + DONE

    @staticmethod
    def head(status: int = 200, content_type: str = "text/event-stream", **headers: Any) -> bytes:
        """A head; underscores in header names stand for hyphens."""
        lines = [f"HTTP/1.1 {status} Whatever"]
        lines += [f"Content-Type: {content_type}"] * bool(content_type)
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        return "\r\n".join([*lines, "", ""]).encode()

    @classmethod
    def sized(cls, body: bytes, status: int = 200, **headers: Any) -> bytes:
        """A whole response with a Content-Length."""
        return cls.head(status, content_length=len(body), **headers) + body

    @classmethod
    def json(cls, value: Any, status: int = 200) -> bytes:
        """A whole response that is one JSON text."""
        return cls.sized(orjson.dumps(value), status, content_type="application/json")

    @staticmethod
    def chunk(data: bytes) -> bytes:
        """One HTTP chunk; of nothing, the last one."""
        return b"%x\r\n%b\r\n" % (len(data), data)

    @classmethod
    def chunked(cls, *pieces: bytes) -> bytes:
        """A whole response in HTTP chunks."""
        return cls.head(transfer_encoding="chunked") + b"".join(map(cls.chunk, [*pieces, b""]))

    @staticmethod
    def events(*payloads: Any) -> bytes:
        """JSON payloads as server-sent events."""
        return b"".join(b"data: " + orjson.dumps(payload) + b"\n\n" for payload in payloads)


@pytest.fixture(scope="session", autouse=True)
def without_proxies() -> Iterator[None]:
    """Whatever the environment says, these tests talk to their own servers."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
            patch.delenv(name)
        yield


@pytest.fixture(scope="session")
def wire() -> type[Wire]:
    """The bytes of responses."""
    return Wire


@pytest.fixture(scope="session")
def step() -> type[Step]:
    """What a script can do in addition to sending bytes and pausing."""
    return Step


@pytest.fixture(scope="session")
def serve() -> type[ScriptedServer]:
    """Start a scripted server.

    `async with serve(script, …) as server: …`
    """
    return ScriptedServer


@pytest.fixture(scope="session")
def run() -> Callable[[Coroutine[Any, Any, _T]], _T]:
    """Run a scenario, and make sure that it leaves no task and no open socket behind."""

    async def guarded(scenario: Coroutine[Any, Any, _T]) -> _T:
        async with asyncio.timeout(_GIVE_UP_S):
            result = await scenario
        await _turns(3)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        # Nothing is watched any more but the loop's own wake-up pipe.
        assert len(asyncio.get_running_loop()._selector.get_map()) == 1  # type: ignore[attr-defined]
        return result

    return lambda scenario: asyncio.run(guarded(scenario))


class Kind(NamedTuple):
    """A transport under test, and in what the transports differ.

    Attributes:
        make: What opens it.
        connection_types: Whose `is_stale` says whether a kept connection can be used.
        opens_ahead: Whether it can open connections before they are needed.
        ends_early: Whether a response is over when its length is there, whatever follows in the same read.
    """

    make: Callable[[Endpoint, Timeouts], Transport]
    connection_types: tuple[type, ...]
    opens_ahead: bool = True
    ends_early: bool = True


COMPILED = Kind(HttpTransport, (Connection, WireConnection))
INTERPRETED = Kind(InterpretedTransport, (Connection,))
AIOHTTP = Kind(AiohttpTransport, (ObservedSocket,), opens_ahead=False, ends_early=False)


@pytest.fixture(
    params=[
        pytest.param(
            COMPILED,
            id="compiled",
            marks=pytest.mark.skipif(
                not HttpTransport.compiled,
                reason="needs the compiled I/O loop: `pip install -e .`, on Linux with a C compiler",
            ),
        ),
        pytest.param(INTERPRETED, id="interpreted"),
        pytest.param(AIOHTTP, id="aiohttp"),
    ],
    scope="session",
)
def transport_kind(request: pytest.FixtureRequest) -> Kind:
    """A transport; every one there is gets its turn."""
    assert isinstance(request.param, Kind)
    return request.param


@pytest.fixture(scope="session")
def connect(transport_kind: Kind) -> Callable[..., Any]:
    """Open a transport to a URL; every transport there is gets its turn.

    `async with connect(url) as transport: …`
    """

    @asynccontextmanager
    async def opened(
        url: str,
        *,
        timeout_s: float = 10.0,
        verify: bool = True,
        headers: Mapping[str, str] = _NONE,
        keep_alive: bool = True,
        **timeouts: float,
    ) -> AsyncIterator[Any]:
        transport = transport_kind.make(
            endpoint(url, headers, verify=verify, keep_alive=keep_alive),
            Timeouts(timeout_s=timeout_s, **timeouts),
        )
        try:
            yield transport
        finally:
            await transport.close()

    return opened


@pytest.fixture(scope="session")
def ask() -> Callable[..., Coroutine[Any, Any, Exchange]]:
    """Send one request and see the exchange through."""

    async def ask(transport: Any, body: bytes = b"{}", method: str = "POST") -> Exchange:
        exchange = Exchange(ResponseStream(chat_completions), _ignore, _ignore)
        await transport.send(Request(method, "/chat/completions", "an-id", body), exchange)
        return exchange

    return ask


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    """Who issues the certificates."""
    return trustme.CA()


@pytest.fixture(scope="session")
def certified(authority: trustme.CA) -> Callable[[str], ssl.SSLContext]:
    """Make a server's side of TLS, with a certificate for this name."""

    def certified(name: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(name).configure_cert(context)
        return context

    return certified


@pytest.fixture(scope="session")
def splits() -> Callable[[bytes, Iterable[int]], list[bytes]]:
    """Cut bytes into pieces at the given places, modulo their length."""

    def split(whole: bytes, places: Iterable[int]) -> list[bytes]:
        cuts = sorted({place % (len(whole) + 1) for place in places} | {0, len(whole)})
        return [whole[a:b] for a, b in pairwise(cuts)]

    return split


def _ignore(_: Any) -> None:
    """No test waits for these moments."""
