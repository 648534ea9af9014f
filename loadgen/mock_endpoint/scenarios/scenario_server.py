"""Serving scenarios: one connection after the other, byte for byte."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.driver.client.arrival import StampingSocket
from loadgen.driver.client.failure import Failure
from loadgen.mock_endpoint.listening import announce_url, listen
from loadgen.mock_endpoint.scenarios.catalog import CHAOS, SCENARIOS
from loadgen.mock_endpoint.scenarios.chaos import AFTER_UNASKED, Chaos
from loadgen.mock_endpoint.scenarios.frame_writers import DIALECTS
from loadgen.mock_endpoint.scenarios.http import whole
from loadgen.mock_endpoint.scenarios.listeners import Listeners
from loadgen.mock_endpoint.scenarios.played_socket import PlayedSocket
from loadgen.mock_endpoint.scenarios.player import Player
from loadgen.mock_endpoint.scenarios.request import NotHTTPError, RequestReader
from loadgen.mock_endpoint.scenarios.scenario import COMPLETED
from loadgen.mock_endpoint.scenarios.timetable import INPUT_TOKENS
from loadgen.mock_endpoint.tls_filter import TlsLayer, tls_context
from loadgen.mock_endpoint.truth import PlayedTruth
from workloads.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loadgen.mock_endpoint.options import MockOptions
    from loadgen.mock_endpoint.scenarios.request import ReceivedRequest
    from loadgen.mock_endpoint.scenarios.scenario import Place, Scenario
    from loadgen.mock_endpoint.truth import Truth

_OK: Final = 200
_MODELS: Final = {"object": "list", "data": [{"id": "scenario", "object": "model", "owned_by": "loadgen"}]}
_LOOK_AGAIN_S: Final = 0.01
_NOT_HTTP: Final = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


async def serve_scenarios(
    options: MockOptions,
    tell: Callable[[Truth], None],
    stop_requested: asyncio.Event,
) -> None:
    """Serve until a stop is requested; raise `MockSetupError` if the port is taken."""
    with ExitStack() as opened:
        listeners = listen(options, opened)
        scheme = "https" if options.tls_cert else "http"
        places = Listeners(options.host, listeners[0].getsockname()[1], scheme)
        try:
            bases = await places.open()
            server = _ScenarioServer(options, tell, bases)
            accepting = [asyncio.create_task(server.accept(listener)) for listener in listeners]
            announce_url(server.url)
            await stop_requested.wait()
            for task in accepting:
                task.cancel()
            await server.close()
        finally:
            places.close()


class _ScenarioServer:
    """Plays scenarios to each client that connects."""

    def __init__(
        self, options: MockOptions, tell: Callable[[Truth], None], bases: Mapping[Place, str]
    ) -> None:
        name = options.scenario or ""
        self.url = f"{bases[SCENARIOS[name].place if name != CHAOS else 'http']}/v1"
        self._name = name
        self._tell = tell
        self._chaos = Chaos(options.fault_share, options.seed)
        self._table = table(bases)
        self._tls = tls_context(options)
        self._lines: set[asyncio.Task[None]] = set()

    async def accept(self, listener: socket.socket) -> None:
        """Accept connections, each in a separate task."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, _ = await loop.sock_accept(listener)
            except OSError:
                # No descriptor is left: the connection waits until one is.
                await asyncio.sleep(_LOOK_AGAIN_S)
                continue
            line = loop.create_task(self._serve(StampingSocket(fileno=accepted.detach())))
            self._lines.add(line)
            line.add_done_callback(self._lines.discard)

    async def close(self) -> None:
        """Cut off every connection."""
        for line in self._lines:
            line.cancel()
        await asyncio.gather(*self._lines, return_exceptions=True)

    async def _serve(self, sock: StampingSocket) -> None:
        client = PlayedSocket(sock, None if self._tls is None else TlsLayer(self._tls))
        with sock, suppress(OSError, ssl.SSLError):
            sock.setblocking(False)  # noqa: FBT003 (the socket module's own signature)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.stamp_arrivals()
            reader = RequestReader(client)
            try:
                while (asked := await reader.next()) is not None and await self._answer(
                    client, reader, asked
                ):
                    pass
            except NotHTTPError:
                await client.send(_NOT_HTTP)

    async def _answer(self, client: PlayedSocket, reader: RequestReader, asked: ReceivedRequest) -> bool:
        """Answer one request; tell whether the connection lives on."""
        name, path = _addressed(asked.path, self._name)
        if (
            asked.method == "POST"
            and (protocol := protocol_of(path))
            and (name in SCENARIOS or name == CHAOS)
        ):
            scenario = self._chaos.draw(protocol) if name == CHAOS else SCENARIOS[name]
            if protocol in scenario.protocols and scenario.place == "http":
                return await self._play(client, reader, asked, scenario, protocol)
        await client.send(self._page(asked.method, name, path))
        return True

    def _page(self, method: str, name: str, path: str) -> bytes:
        if method != "GET":
            return not_found(_why_not(name, path))
        if path == "/":
            return whole(0, self._table).data
        if path.endswith("/models"):
            return model_list(SCENARIOS[name].models if name in SCENARIOS else _OK)
        return not_found(f"nothing at {path}")

    async def _play(
        self,
        client: PlayedSocket,
        reader: RequestReader,
        asked: ReceivedRequest,
        scenario: Scenario,
        protocol: str,
    ) -> bool:
        script = scenario.script(DIALECTS[protocol])
        truth = PlayedTruth(
            asked.headers.get("x-request-id"),
            asked.path,
            asked.received_ns,
            scenario=scenario.name,
            expect=list(scenario.sees),
            input_tokens=INPUT_TOKENS,
        )
        try:
            alive = await Player(client, reader).play(script, truth)
            _judge(truth, scenario)
        finally:
            truth.done_ns = truth.done_ns or time.monotonic_ns()
            self._tell(truth)
        if alive and scenario.unasked:
            await self._hear_next(reader, time.monotonic_ns())
            return False
        return alive

    async def _hear_next(self, reader: RequestReader, unasked_ns: int) -> None:
        """Note the next request on a connection on which an unasked response has left by then."""
        if (asked := await reader.next()) is not None:
            request_id = asked.headers.get("x-request-id")
            truth = PlayedTruth(request_id, asked.path, asked.received_ns, done_ns=time.monotonic_ns())
            truth.scenario, truth.unasked_ns = AFTER_UNASKED, unasked_ns
            truth.expect = [Failure.UNASKED_RESPONSE, COMPLETED]
            self._tell(truth)


def _judge(truth: PlayedTruth, scenario: Scenario) -> None:
    """Record the ending of a request that was played to the end."""
    if scenario.sees[0].startswith("http_"):
        truth.outcome, truth.status = "failed", int(scenario.sees[0].removeprefix("http_"))
    else:
        truth.status = _OK
        if COMPLETED in scenario.sees:
            truth.outcome, truth.finish_reason = "completed", "stop"


def _addressed(path: str, default: str) -> tuple[str, str]:
    """The scenario in a path (the part before `/v1`), and the rest of the path."""
    path = path.partition("?")[0]
    first, _, rest = path.lstrip("/").partition("/")
    named = first in SCENARIOS or first == CHAOS or rest.startswith("v1/")
    return (first, f"/{rest}") if named else (default, path)


def _why_not(name: str, path: str) -> str:
    """Why nothing is played at a path."""
    if name not in SCENARIOS and name != CHAOS:
        hint = did_you_mean(name, [*SCENARIOS, CHAOS]).removesuffix("?")
        return f"unknown scenario {name!r}{hint}; GET / lists them"
    if protocol_of(path) is None:
        return f"nothing is asked at {path}; GET / lists the scenarios and their URLs"
    if name != CHAOS and SCENARIOS[name].place != "http":
        return f"{name} is met at another address; GET / has its URL"
    protocols = ", ".join(SCENARIOS[name].protocols)
    return f"{name} is not for this protocol, but for {protocols}; GET / lists all of them"


def protocol_of(path: str) -> str | None:
    """The protocol of a path, by the final operation."""
    fitting = [name for name, dialect in DIALECTS.items() if path.endswith(dialect.path)]
    return max(fitting, key=lambda name: len(DIALECTS[name].path), default=None)


def table(bases: Mapping[Place, str]) -> bytes:
    """Every scenario, with the base URL."""
    rows: list[dict[str, Any]] = [
        {
            "name": scenario.name,
            "about": scenario.about,
            "right": scenario.right,
            "sees": scenario.sees,
            "protocols": scenario.protocols,
            "url": f"{bases[scenario.place]}/{scenario.name}/v1",
        }
        for scenario in SCENARIOS.values()
    ]
    return orjson.dumps(rows)


def model_list(status: int) -> bytes:
    """A list of one model, or the failure to make one."""
    if status != _OK:
        return whole(0, orjson.dumps({"error": {"message": "no list today"}}), status=status).data
    return whole(0, orjson.dumps(_MODELS)).data


def not_found(why: str) -> bytes:
    """The answer to an unknown path."""
    return whole(0, orjson.dumps({"error": {"message": why}}), status=404).data
