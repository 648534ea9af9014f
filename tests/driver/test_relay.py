"""A closed loop in which compiled code issues the next request where a plain one ends."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from itertools import cycle
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.compiled import COMPILED
from loadgen.driver.client.dialing import Dialer
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.http_transport import HttpTransport, InterpretedTransport
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.client.wire_connection import WireConnection
from loadgen.driver.issuing import Issuer
from loadgen.driver.load import Closed
from loadgen.driver.phase import Phase, Shard
from loadgen.driver.plan import Plan
from loadgen.driver.requests import relay
from loadgen.driver.requests.request_source import RequestSource
from loadgen.driver.requests.turn import RequestRunner
from loadgen.driver.system.clock import Clock
from recorder.schema import row
from tests.driver.conftest import ScriptedServer, Step
from tests.driver.test_plain_request import CUT, USUAL, chunked
from tests.driver.test_shapes import frame, response
from tests.driver.two_ways import rows_of
from workloads.sample import Sample

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Coroutine

    from loadgen.driver.client.arrival import StampingSocket
    from recorder.event import Event

    Run = Callable[[Coroutine[Any, Any, Any]], Any]

pytestmark = pytest.mark.skipif(not COMPILED, reason="needs the compiled code: a C compiler at installation")

ISSUED, SENT, FIRST, COMPLETE, ERROR, CANCELLED = range(20, 26)
WHOLE = (ISSUED, SENT, FIRST, COMPLETE)
USERS = 3
SLOW = [*USUAL[:2], 0.02, *USUAL[2:]]
ODD = chunked([*response(7, ["a"])[:2], b"data: null\n\n", *response(7, ["a"])[2:]])
UNUSUAL: dict[str, tuple[list[Any], tuple[int, ...]]] = {
    "another frame": (ODD, WHOLE),
    "cut off": ([*CUT, Step.CLOSE], (ISSUED, SENT, FIRST, ERROR)),
    "an error of HTTP": ([b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno"], (ISSUED, SENT, ERROR)),
    "an error frame": (chunked([frame(7, None, error={"message": "no"})]), (ISSUED, SENT, ERROR)),
    "closed before the answer": ([Step.RESET], (ISSUED, SENT, SENT, FIRST, COMPLETE)),
    "two responses": ([*USUAL[:-1], USUAL[-1] + USUAL[0]], WHOLE),
}


class ClosedLoop:
    """A worker's closed loop of samples 0, 1, 2, … against a scripted server; all rows are kept.

    Attributes:
        rows: The rows, in the order in which the worker would ship them.
        relayed: How many requests compiled code has issued.
        issuer: The issuer.
        transport: The transport, closed at the end.
    """

    def __init__(self, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, **limits: Any) -> None:
        self.rows: list[Any] = []
        self.relayed = 0
        timeouts = Timeouts(limits.pop("timeout_s", 60))
        lengths = cycle(limits.get("lengths", (1,)))
        samples = [Sample(number, "q" * next(lengths)) for number in range(400)]
        self._requests, self._duration_s = limits.get("requests"), limits.get("duration_s")
        self._traces = limits.get("trace", False)
        plan = Plan(Closed(USERS), self._requests, self._duration_s, 0, Generation("m"), "chat", 3, timeouts)
        transport_type = limits.get("transport_type", HttpTransport)
        self.transport = transport_type(endpoint(server.url, {}, verify=False), timeouts)
        runner = RequestRunner(
            self.transport,
            chat_completions,
            plan.generation,
            self._take,
            follows_plain=True,
            trace_context=self._traces,
        )
        claim = limits.get("claim")
        self.issuer = Issuer(
            plan, RequestSource(samples), runner, Clock(), Shard(0, 2 if claim else 1), claim
        )
        take = relay.TurnRelay.take

        def counted(turns: relay.TurnRelay, fields: tuple[Any, ...]) -> None:
            self.relayed += len(fields[1])
            take(turns, fields)

        monkeypatch.setattr(relay.TurnRelay, "take", counted)

    async def run(self, meanwhile: Callable[[], None] | None = None) -> int:
        """Issue the phase, and call `meanwhile` after half a second; return how many were scheduled."""
        start_ns = Clock().now_ns()
        end_ns = None if self._duration_s is None else start_ns + round(self._duration_s * 1e9)
        phase = Phase("performance", start_ns, self._requests, end_ns)
        if meanwhile is not None:
            asyncio.get_running_loop().call_later(0.5, meanwhile)
        scheduled = await self.issuer.issue(phase)
        await self.issuer.settle()
        self._take()
        await self.transport.close()
        return scheduled

    def _take(self, event: Event | None = None) -> None:
        if (message := self.transport.plain_rows(0)) is not None:
            self.rows += rows_of(message[0])
        self.rows += [] if event is None else [row(event)]

    @property
    def codes(self) -> Counter[tuple[int, ...]]:
        """How many requests have which events, in order."""
        codes: dict[str, list[int]] = {}
        for code, _, request, *_ in self.rows:
            codes.setdefault(request, []).append(code)
        return Counter(tuple(events) for events in codes.values())

    def payloads(self, code: int) -> dict[str, Any]:
        """The payloads of the events of a kind by request, with the time as `at_ns`."""
        return {line[2]: orjson.loads(line[3]) | {"at_ns": line[1]} for line in self.rows if line[0] == code}

    def require_consistent(self, server: ScriptedServer, scheduled: int) -> None:
        """Each request is issued once, in the order of time, with texts, and counted once."""
        issues, sent = self.payloads(ISSUED), self.payloads(SENT)
        prompts = [payload["prompt_id"] for payload in issues.values()]
        assert sorted(prompts) == list(range(len(prompts)))
        assert all(line[4] for line in self.rows if line[0] == ISSUED)
        for request, issue in issues.items():
            assert issue["scheduled_ns"] <= issue["at_ns"] <= sent[request]["at_ns"]
            assert ("span_id" in sent[request]) == self._traces
        asked = Counter(head.split(b"X-Request-Id: ")[1][:24].decode() for head in server.requests)
        assert {request[:24] for request in issues} == asked.keys()
        progress = self.issuer.progress
        assert scheduled == progress.issued == len(issues)
        ends = sum((self.codes[codes] for codes in self.codes if codes[-1] == COMPLETE), 0)
        assert (progress.completed, progress.in_flight) == (ends, 0)
        assert progress.errors.total() + progress.given_up == len(issues) - ends


@pytest.fixture(params=["http", "https"])
def tls(request: pytest.FixtureRequest, certified: Callable[[str], ssl.SSLContext]) -> ssl.SSLContext | None:
    """The TLS of a server; None without."""
    return certified("127.0.0.1") if request.param == "https" else None


def test_usual_requests_are_relayed(
    tls: ssl.SSLContext | None, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but the first requests of a closed loop leave without Python, on kept connections."""

    async def scenario() -> tuple[ClosedLoop, ScriptedServer, int]:
        async with ScriptedServer(USUAL, tls=tls) as server:
            loop = ClosedLoop(server, monkeypatch, requests=200)
            return loop, server, await loop.run()

    loop, server, scheduled = run(scenario())
    loop.require_consistent(server, scheduled)
    assert loop.codes == {WHOLE: 200}
    assert loop.relayed >= 100
    assert server.connections == USERS
    ends = [line[3:5] for line in loop.rows if line[0] == COMPLETE]
    assert len({texts for _, texts in ends}) == 1


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_responses_are_left_to_python(
    *, name: str, trace: bool, tls: ssl.SSLContext | None, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that compiled code has issued is followed by Python where the response is unusual."""
    script, codes = UNUSUAL[name]
    scripts = [*[USUAL] * 40, script, *[USUAL] * 20, script, USUAL]

    async def scenario() -> tuple[ClosedLoop, ScriptedServer, int]:
        async with ScriptedServer(*scripts, tls=tls) as server:
            loop = ClosedLoop(server, monkeypatch, requests=100, trace=trace)
            return loop, server, await loop.run()

    loop, server, scheduled = run(scenario())
    assert loop.codes == ({WHOLE: 100} if codes == WHOLE else {WHOLE: 98, codes: 2})
    assert loop.relayed >= 20
    loop.require_consistent(server, scheduled)


def test_no_request_leaves_after_the_end(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A phase that ends by time issues none from then on; the prepared ones are taken back."""

    async def scenario() -> tuple[ClosedLoop, ScriptedServer, int]:
        async with ScriptedServer(SLOW) as server:
            loop = ClosedLoop(server, monkeypatch, duration_s=0.5)
            return loop, server, await loop.run()

    loop, server, scheduled = run(scenario())
    issued = [payload["at_ns"] for payload in loop.payloads(ISSUED).values()]
    assert max(issued) - min(issued) < 0.5e9
    assert loop.codes == {WHOLE: scheduled}
    assert loop.relayed
    loop.require_consistent(server, scheduled)


@pytest.mark.parametrize("how", ["stop", "abort"])
def test_a_stop_takes_prepared_requests_back(how: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a stop no request leaves; requests in flight end, or are logged as cancelled."""

    async def scenario() -> tuple[ClosedLoop, ScriptedServer, int]:
        async with ScriptedServer(SLOW) as server:
            loop = ClosedLoop(server, monkeypatch, requests=100_000)

            def end() -> None:
                loop.issuer.stop()
                if how == "abort":
                    loop.issuer.abort("too slow")

            return loop, server, await loop.run(end)

    loop, server, scheduled = run(scenario())
    loop.require_consistent(server, scheduled)
    assert loop.relayed
    assert {codes[-1] for codes in loop.codes} <= {COMPLETE, CANCELLED}
    assert loop.issuer.progress.given_up == (USERS if how == "abort" else 0)
    assert {payload["reason"] for payload in loop.payloads(CANCELLED).values()} <= {"too slow"}


def test_the_time_limit_is_that_of_each_request(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that hangs fails at the time limit counted from the issue of that request."""
    scripts = [*[[*USUAL[:2], 0.1, *USUAL[2:]]] * 45, [*CUT, Step.HANG], USUAL]

    async def scenario() -> tuple[ClosedLoop, ScriptedServer, int]:
        async with ScriptedServer(*scripts) as server:
            loop = ClosedLoop(server, monkeypatch, requests=90, timeout_s=1)
            return loop, server, await loop.run()

    loop, server, scheduled = run(scenario())
    loop.require_consistent(server, scheduled)
    assert loop.codes == {WHOLE: 89, (ISSUED, SENT, FIRST, ERROR): 1}
    ((request, end),) = loop.payloads(ERROR).items()
    assert end["error"] == "total_timeout"
    issued_ns = loop.payloads(ISSUED)[request]["at_ns"]
    assert end["at_ns"] - issued_ns == pytest.approx(1e9, abs=1e6)


def test_large_requests_are_left_to_python(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python issues large requests: the kernel stamps the last byte."""

    async def scenario() -> tuple[ClosedLoop, ScriptedServer, int]:
        async with ScriptedServer(USUAL) as server:
            loop = ClosedLoop(server, monkeypatch, requests=30, lengths=(70_000,))
            return loop, server, await loop.run()

    loop, server, scheduled = run(scenario())
    loop.require_consistent(server, scheduled)
    assert (loop.codes, loop.relayed) == ({WHOLE: 30}, 0)


def test_a_request_that_the_kernel_takes_in_parts(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python follows a request that compiled code has issued, and that could not be sent at once."""
    made, waiting = Dialer._socket, set()

    def narrow(dialer: Dialer, family: int) -> StampingSocket:
        sock = made(dialer, family)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        return sock

    relayed = WireConnection.relayed

    def noted(connection: WireConnection) -> tuple[int, int, int]:
        ticket, issued_ns, sent_ns = relayed(connection)
        waiting.update({ticket} - {0} if not sent_ns else ())
        return ticket, issued_ns, sent_ns

    monkeypatch.setattr(Dialer, "_socket", narrow)
    monkeypatch.setattr(WireConnection, "relayed", noted)

    async def scenario() -> tuple[ClosedLoop, ScriptedServer, int]:
        async with ScriptedServer(USUAL) as server:
            server.sockets[0].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            loop = ClosedLoop(server, monkeypatch, requests=100, lengths=(1, 1, 1, 1, 1, 1, 1, 50_000))
            return loop, server, await loop.run()

    loop, server, scheduled = run(scenario())
    loop.require_consistent(server, scheduled)
    assert loop.codes == {WHOLE: 100}
    assert waiting


def test_python_issues_where_python_reads(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """No turn is prepared for connections that Python reads, although the shapes of responses are known."""

    async def scenario() -> tuple[ClosedLoop, ScriptedServer, int]:
        async with ScriptedServer(SLOW) as server:
            loop = ClosedLoop(server, monkeypatch, requests=30, transport_type=InterpretedTransport)
            return loop, server, await loop.run()

    loop, server, scheduled = run(scenario())
    loop.require_consistent(server, scheduled)
    assert (loop.codes, loop.relayed) == ({WHOLE: 30}, 0)


def test_workers_leave_the_last_requests_to_each_other(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two workers, each claims the last requests of a phase only when a user is free."""
    claims: list[int] = []

    def claim() -> int:
        claims.append(len(claims))
        return claims[-1]

    async def scenario() -> ClosedLoop:
        async with ScriptedServer(USUAL) as server:
            loop = ClosedLoop(server, monkeypatch, requests=40, claim=claim)
            await loop.run()
            return loop

    loop = run(scenario())
    assert loop.relayed
    prompts = [payload["prompt_id"] for payload in loop.payloads(ISSUED).values()]
    assert sorted(prompts) == list(range(40))
    assert prompts[-USERS:] == list(range(40 - USERS, 40))
