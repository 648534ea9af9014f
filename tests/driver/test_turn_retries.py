"""A request of several attempts, on every transport: what each one says, and what ends the last."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.memory_bounds import Allowance
from loadgen.driver.requests import attempt as module
from loadgen.driver.requests.attempt import Retries
from loadgen.driver.requests.turn import RequestRunner
from recorder.event import Event, EventType
from recorder.lifecycle import violations
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from loadgen.driver.client.transport import Transport

SAMPLE = Sample(0, "why?")
TOTAL_S = 10.0
SHORT_S = 0.3
SHARED_S = 1.0

Taken = "list[Event]"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the server names no time, next to none is waited."""
    monkeypatch.setattr(module, "FIRST_WAIT_S", 0.01)


async def taken(
    transport: Transport,
    retries: Retries,
    during: Callable[[Any], Coroutine[Any, Any, None]] | None = None,
    allowance: Allowance | None = None,
) -> Taken:
    """Take a turn; its events. Something may happen meanwhile."""
    events: list[Event] = []
    runner = RequestRunner(
        transport, chat_completions, Generation("m"), events.append, retries=retries, allowance=allowance
    )
    body = runner.prepare(SAMPLE)
    asking = asyncio.create_task(runner.run(SAMPLE, body, time.monotonic_ns(), "performance"))
    if during is not None:
        await during(asking)
    await asyncio.gather(asking, return_exceptions=True)
    assert violations(events) == []
    assert {event.sample_uuid for event in events} == {events[0].sample_uuid}
    stamps = [event.at_ns for event in events]
    assert stamps == sorted(stamps)
    return events


@pytest.fixture(scope="module")
def take(run: Any, serve: Any, connect: Any) -> Callable[..., Taken]:
    """Take one turn against a server that plays these scripts; its events."""

    def take(*scripts: Any, retry: int = 3, total_s: float = TOTAL_S, **timeouts: float) -> Taken:
        async def scenario() -> Taken:
            async with (
                serve(*scripts) as server,
                connect(server.url, timeout_s=total_s, **timeouts) as transport,
            ):
                return await taken(transport, Retries(retry, total_s))

        return run(scenario())

    return take


def kinds(events: Taken) -> list[str]:
    """What happened after the request was issued."""
    return [event.type.name for event in events[1:]]


def test_the_second_attempt_succeeds(take: Any, wire: Any) -> None:
    """After the wait that the server asked for; figures count from the second sending."""
    events = take([wire.sized(b"busy", 503, retry_after="0")], [wire.chunked(wire.STREAM)])
    assert kinds(events) == ["REQUEST_SENT", "RETRY", "REQUEST_SENT", "FIRST_CHUNK", "COMPLETE"]
    _, first, retry, second, _, last = events
    assert retry.data["first_byte_ns"] >= retry.data["sent_ns"] == first.at_ns
    assert {name: value for name, value in retry.data.items() if not name.endswith("_ns")} == {
        "attempt": 1,
        "error": "http_503",
        "message": "busy",
        "status": 503,
        "retry_after_s": 0,
        "wait_ms": 0,
    }
    assert last.data["attempts"] == 2
    assert "retry_after_s" not in last.data
    assert last.data["first_byte_ns"] >= second.at_ns


def test_every_sending_has_its_own_id(run: Any, serve: Any, connect: Any, wire: Any, step: Any) -> None:
    """Two attempts of one request, the second of which meets the end of its kept connection."""

    async def scenario() -> tuple[list[bytes], Taken]:
        busy = [wire.sized(b"busy", 503, retry_after="0")]
        async with (
            serve(busy, [step.CLOSE], [wire.chunked(wire.STREAM)]) as server,
            connect(server.url) as transport,
        ):
            events = await taken(transport, Retries(1, TOTAL_S))
            return server.requests, events

    requests, events = run(scenario())
    uuid = events[0].sample_uuid
    sent = [request.partition(b"X-Request-Id: ")[2].partition(b"\r\n")[0].decode() for request in requests]
    assert sent == [uuid, f"{uuid}-2", f"{uuid}-2-resent"]
    logged = [event.data.get("request_id") for event in events if event.type is EventType.REQUEST_SENT]
    assert logged == [None, *sent[1:]]
    assert kinds(events)[-1] == "COMPLETE"


def test_every_attempt_fails(take: Any, wire: Any, step: Any) -> None:
    """Each in its own way; the last is the request's, and what had come before is not."""
    cut = [wire.head(transfer_encoding="chunked") + wire.chunk(wire.TOKEN), 0.01, step.CLOSE]
    events = take(cut, [step.CLOSE], [wire.sized(b"no", 500)], retry=2)
    attempt = ["REQUEST_SENT", "RETRY"]
    assert kinds(events) == ["REQUEST_SENT", "FIRST_CHUNK", "RETRY", *attempt, "REQUEST_SENT", "ERROR"]
    payload = [event.data for event in events if event.type is EventType.RETRY]
    assert [(data["attempt"], data["error"]) for data in payload] == [(1, "truncated"), (2, "reset")]
    assert all(0 < data["wait_ms"] <= 20 for data in payload)
    last = events[-1].data
    assert (last["error"], last["attempts"], last["chunks"], "texts" in last) == ("http_500", 3, 0, False)


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (b"HTTP/1.1 404 Whatever\r\nContent-Length: 0\r\n\r\n", "http_404"),
        (b"HTTP/1.1 307 Whatever\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", "http_307"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 0\r\n\r\n",
            "empty_response",
        ),
        (b"garbage\r\n\r\n", "malformed_frame"),
    ],
)
def test_what_no_attempt_can_mend(take: Any, step: Any, response: bytes, error: str) -> None:
    """It fails at once."""
    events = take([response, step.HANG])
    assert kinds(events) == ["REQUEST_SENT", "ERROR"]
    assert events[-1].data["error"] == error
    assert "attempts" not in events[-1].data


def test_no_retry_by_default(take: Any, wire: Any) -> None:
    """And what the server asked for is logged all the same."""
    events = take([wire.sized(b"busy", 429, retry_after="7")], retry=0)
    assert kinds(events) == ["REQUEST_SENT", "ERROR"]
    assert (events[-1].data["error"], events[-1].data["retry_after_s"]) == ("http_429", 7)


def test_a_wait_that_does_not_fit(take: Any, wire: Any) -> None:
    """The request fails at once: waiting for its deadline would not help."""
    events = take([wire.sized(b"busy", 429, retry_after="60")])
    assert kinds(events) == ["REQUEST_SENT", "ERROR"]
    assert events[-1].at_ns - events[0].at_ns < TOTAL_S * 1e9 / 2


def test_what_is_kept_while_a_retry_waits_is_counted(run: Any, serve: Any, connect: Any, wire: Any) -> None:
    """A stop may make the failed attempt the last one, which then has to be logged whole."""
    allowance, held = Allowance(), []
    cut = [wire.sized(wire.TOKEN * 100, content_type="text/event-stream")]

    class Stopped(Retries):
        async def pause(self, wait_s: float) -> bool:
            held.append(allowance.held)
            assert wait_s > 0
            return False

    async def scenario() -> Taken:
        async with serve(cut) as server, connect(server.url) as transport:
            return await taken(transport, Stopped(1, TOTAL_S), allowance=allowance)

    events = run(scenario())
    assert (events[-1].data["error"], events[-1].data["chunks"]) == ("truncated", 100)
    assert held[0] > len(wire.TOKEN * 100)
    assert allowance.held == 0


def test_all_attempts_share_the_time(take: Any, wire: Any, step: Any) -> None:
    """The second one has what is left."""
    events = take([0.1, wire.sized(b"busy", 503, retry_after="0.1")], [step.HANG], total_s=SHARED_S)
    assert kinds(events) == ["REQUEST_SENT", "RETRY", "REQUEST_SENT", "ERROR"]
    last = events[-1]
    assert (last.data["error"], last.data["attempts"]) == ("total_timeout", 2)
    # The time of a request begins when it is issued, a moment after the event says so.
    assert last.at_ns - events[3].at_ns <= (SHARED_S - 0.2) * 1e9
    assert last.at_ns - events[0].at_ns >= SHARED_S * 1e9


@pytest.mark.parametrize("silence", ["first_byte", "idle"])
def test_silences_are_retried(take: Any, wire: Any, step: Any, silence: str) -> None:
    """Before the first byte, and within a response; on a busy machine also what is there but late."""
    silent = [step.HANG] if silence == "first_byte" else [wire.head(transfer_encoding="chunked"), step.HANG]
    events = take(silent, [wire.chunked(wire.STREAM)], retry=8, **{f"{silence}_timeout_s": 0.1})
    errors = [event.data["error"] for event in events if event.type is EventType.RETRY]
    assert set(errors) == {f"{silence}_timeout"}
    assert (events[-1].type, events[-1].data["attempts"]) == (EventType.COMPLETE, len(errors) + 1)


def test_no_process_listens(run: Any, connect: Any, refusing: str) -> None:
    """An attempt that got no connection was never sent."""

    async def scenario() -> Taken:
        async with connect(refusing) as transport:
            return await taken(transport, Retries(2, TOTAL_S))

    events = run(scenario())
    assert kinds(events) == ["RETRY", "RETRY", "ERROR"]
    assert events[1].data["sent_ns"] is None


@pytest.mark.parametrize("end", ["stop", "cancel"])
def test_an_end_during_the_wait(run: Any, serve: Any, connect: Any, wire: Any, end: str) -> None:
    """No further attempt begins: the failure stands, or the request is given up; nothing was retried."""
    retries = Retries(3, TOTAL_S)

    async def scenario() -> tuple[Taken, int]:
        async def ended(asking: asyncio.Task[Any]) -> None:
            await server.asked.wait()
            while not retries._stopped._waiters:  # noqa: ASYNC110 (polled: nothing signals it)
                await asyncio.sleep(0)
            if end == "stop":
                retries.stop()
            else:
                asking.cancel()

        async with (
            serve([wire.sized(b"busy", 503, retry_after="5")]) as server,
            connect(server.url) as transport,
        ):
            return await taken(transport, retries, ended), len(server.requests)

    events, requests = run(scenario())
    assert requests == 1
    assert kinds(events) == ["REQUEST_SENT", "ERROR" if end == "stop" else "CANCELLED"]
    assert events[-1].data["status"] == 503


def refusal(member: str, status: int = 422) -> bytes:
    """An answer in the form of FastAPI's, with a repetition of the request."""
    error = {"loc": ["body", member], "msg": "Extra inputs are not permitted"}
    echo = {"stream_options": {}, "seed": 1, "max_tokens": 2}
    body = orjson.dumps({"detail": [{**error, "input": echo}]})
    return f"HTTP/1.1 {status} No\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.fixture(scope="module")
def ask_with(run: Any, serve: Any, connect: Any, wire: Any) -> Callable[..., tuple[list[Any], Taken]]:
    """Ask twice; the bodies that the server was sent, and the events."""

    def ask_with(*scripts: Any, count: int = 2, **settings: Any) -> tuple[list[Any], Taken]:
        async def scenario() -> tuple[list[Any], Taken]:
            events: list[Event] = []
            answered = [wire.chunked(wire.STREAM)]
            async with serve(*scripts, answered) as server, connect(server.url) as transport:
                runner = RequestRunner(
                    transport,
                    chat_completions,
                    Generation("m", **settings),
                    events.append,
                    retries=Retries(0, TOTAL_S),
                )
                bodies = [runner.prepare(SAMPLE) for _ in range(count)]
                for body in bodies:
                    await runner.run(SAMPLE, body, time.monotonic_ns(), "performance")
                return [orjson.loads(each.partition(b"\r\n\r\n")[2]) for each in server.requests], events

        return run(scenario())

    return ask_with


@pytest.mark.parametrize("status", [400, 422])
def test_a_refused_member_is_left_out_from_then_on(ask_with: Any, status: int) -> None:
    """Once it is known, no request has it: one finding, and every request completes."""
    bodies, events = ask_with([refusal("stream_options", status)], [refusal("seed", status)], seed=7)
    assert [("stream_options" in body, "seed" in body) for body in bodies] == [
        *((True, True), (False, True), (False, False)),
        (False, False),
    ]
    ends = [event.type.name for event in events if event.type.name in {"COMPLETE", "ERROR"}]
    assert ends == ["COMPLETE"] * 2
    reported = [event.data for event in events if event.type is EventType.FINDING]
    assert [data["code"] for data in reported] == ["member_refused"] * 2
    assert "stream_options" in reported[0]["message"]
    assert "seed" in reported[1]["message"]


def test_max_tokens_that_is_refused_has_another_name(ask_with: Any) -> None:
    """The limit stays."""
    bodies, _ = ask_with([refusal("max_tokens", 400)], max_tokens=9)
    limits = [(body.get("max_tokens"), body.get("max_completion_tokens")) for body in bodies]
    assert limits == [(9, None), (None, 9), (None, 9)]


@pytest.mark.parametrize("extra_body", [{"seed": 7}, {}])
def test_what_the_user_demands_is_not_left_out(ask_with: Any, extra_body: dict[str, int]) -> None:
    """Nor is anything where the refusal names no member that was sent."""
    bodies, events = ask_with([refusal("seed")], count=1, extra_body=extra_body)
    assert len(bodies) == 1
    assert events[-1].data["error"] == "http_422"


def test_a_refusal_of_something_else_leaves_nothing_out(ask_with: Any) -> None:
    """The request fails also without the member: following requests have it."""
    bodies, events = ask_with([refusal("stream_options")], [refusal("messages")])
    assert ["stream_options" in body for body in bodies] == [True, False, True]
    assert [event.type.name for event in events if event.type is EventType.FINDING] == []
