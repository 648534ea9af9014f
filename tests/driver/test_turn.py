"""One measured request: how each kind of response ends, and what the events say of it."""

from __future__ import annotations

import asyncio
import time
from array import array
from itertools import accumulate
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.http_transport import HttpTransport
from loadgen.driver.client.memory_bounds import Allowance
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.requests.turn import RequestRunner
from recorder.event import TERMINAL, Event, EventType
from recorder.lifecycle import violations
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.driver.requests.turn_outcome import TurnOutcome

SAMPLE = Sample(index=3, prompt="why?", system="be brief")
KEY = "sk-0123456789-abcdef"

Taken = "tuple[list[Event], Outcome | None]"


def make_runner(
    url: str,
    emit: Callable[[Event], None],
    *,
    timeout_s: float = 10,
    codec: Any = chat_completions,
    **options: Any,
) -> RequestRunner:
    """An runner with a key."""
    target = endpoint(url, {"Authorization": f"Bearer {KEY}"})
    return RequestRunner(HttpTransport(target, Timeouts(timeout_s)), codec, Generation("m"), emit, **options)


@pytest.fixture(scope="module")
def take(run: Any, serve: Any) -> Callable[..., Taken]:
    """Take one turn against a server that plays this script; its events and its outcome."""

    def take(*script: Any, **options: Any) -> Taken:
        events: list[Event] = []

        async def scenario() -> TurnOutcome:
            async with serve(script) as server:
                runner = make_runner(server.url, events.append, **options)
                outcome = await runner.run(SAMPLE, runner.prepare(SAMPLE), time.monotonic_ns(), "performance")
                await runner._transports[0].close()
                return outcome

        outcome = run(scenario())
        assert_sound(events)
        return events, outcome

    return take


def assert_sound(events: list[Event]) -> None:
    """Compare the events of one request with everything that must be true of any."""
    assert violations(events) == []
    assert [event.type in TERMINAL for event in events] == [False] * (len(events) - 1) + [True]
    assert {event.sample_uuid for event in events} == {events[0].sample_uuid}
    by_type = {event.type: event for event in events}
    last = events[-1]
    sent = by_type.get(EventType.REQUEST_SENT)
    first_chunk = by_type.get(EventType.FIRST_CHUNK)
    moments = [events[0].data["scheduled_ns"], events[0].at_ns, sent and sent.at_ns]
    moments += [last.data[name] for name in ("first_byte_ns", "first_token_ns", "last_token_ns")]
    expected = [moment for moment in [*moments, last.at_ns] if moment is not None]
    assert expected == sorted(expected)
    assert first_chunk is None or first_chunk.at_ns == last.data["first_token_ns"]
    if last.data["chunks"]:
        arrivals = list(accumulate(array("I", last.data["chunk_gaps_us"])))
        assert len(arrivals) == last.data["chunks"]
        assert abs(arrivals[-1] * 1000 - (last.data["last_token_ns"] - sent.at_ns)) <= 500
    orjson.dumps({key: value for key, value in last.data.items() if key != "chunk_gaps_us"})


def kinds(events: list[Event]) -> list[str]:
    """The names of the events after the issue."""
    return [event.type.name for event in events[1:]]


STREAMED = ["REQUEST_SENT", "FIRST_CHUNK", "COMPLETE"]


# Successes…


def test_a_stream(take: Any, wire: Any, step: Any) -> None:
    """Text, finish reason, usage and `[DONE]`, and every figure of it."""
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "completion_tokens_details": {"reasoning_tokens": 1}}
    events, outcome = take(
        wire.head(transfer_encoding="chunked"),
        wire.chunk(wire.events({"choices": [{"delta": {"role": "assistant", "content": ""}}]})),
        0.01,
        wire.chunk(wire.events({"choices": [{"delta": {"reasoning": "hm"}}]})),
        step.READ,
        wire.chunk(wire.TOKEN) + wire.chunk(wire.TOKEN),
        wire.chunk(wire.STOP) + wire.chunk(wire.events({"choices": [], "usage": usage})),
        step.READ,
        wire.chunk(wire.DONE) + wire.chunk(b""),
    )
    assert kinds(events) == STREAMED
    assert events[0].data["phase"] == "performance"
    assert events[0].data["prompt_id"] == 3
    assert events[0].data["texts"] == chat_completions.asked(SAMPLE)
    assert events[1].data.keys() - {"sent_high_ns"} == {"reused", "dns_ms", "connect_ms", "tls_ms"}
    assert events[2].data is None
    data = events[-1].data
    assert data["texts"] == {"output": "hihi", "reasoning": "hm", "tool_calls": None}
    assert (data["status"], data["stream"], data["finish_reason"]) == (200, True, "stop")
    assert (data["input_tokens"], data["output_tokens"], data["reasoning_tokens"]) == (7, 2, 1)
    assert (data["chunks"], data["coalesced"], data["cached_tokens"]) == (3, 1, None)
    assert data["first_token_ns"] < data["first_output_ns"] == data["last_token_ns"] < events[-1].at_ns
    assert "error" not in data
    assert outcome.failure is None
    assert outcome.output_tokens == 2
    assert outcome.ttft_ms == (data["first_token_ns"] - events[1].at_ns) / 1e6


def test_lawful_ends(take: Any, wire: Any, step: Any) -> None:
    """A finish reason, with `[DONE]` or without it; without framing too."""
    for body in (wire.TOKEN + wire.STOP, wire.STREAM):
        assert kinds(take(wire.chunked(body))[0]) == STREAMED
        assert kinds(take(wire.head() + body, step.CLOSE)[0]) == STREAMED
    unended = wire.head(transfer_encoding="chunked") + wire.chunk(wire.STREAM)
    assert take(unended, 0.01, step.CLOSE)[0][-1].data["unended"] == "truncated"


def test_json_although_a_stream_was_asked_for(take: Any, wire: Any) -> None:
    """A success without times."""
    message = {"content": "hi", "tool_calls": [{"id": "a", "function": {"name": "f"}}]}
    events, outcome = take(wire.json({"choices": [{"message": message, "finish_reason": "stop"}]}))
    assert kinds(events) == ["REQUEST_SENT", "COMPLETE"]
    data = events[-1].data
    assert (data["stream"], data["chunks"], data["first_token_ns"]) == (False, 0, None)
    assert data["texts"]["output"] == "hi"
    assert "chunk_gaps_us" not in data
    assert outcome.ttft_ms is None


@pytest.mark.parametrize("end", ["CLOSE", "RESET", "HANG"])
def test_done_is_the_end_even_if_the_connection_breaks_after_it(
    take: Any, wire: Any, step: Any, end: str
) -> None:
    """What the server leaves undone then is not part of the answer, and neither is the time that it takes."""
    start = wire.head(transfer_encoding="chunked") + wire.chunk(wire.STREAM)
    events, outcome = take(start, 0.05, getattr(step, end), timeout_s=0.8)
    assert kinds(events) == STREAMED
    assert events[-1].at_ns == events[-1].data["last_token_ns"]
    assert outcome.failure is None


# Failures…


def failed(taken: Taken, name: str, message: str) -> Event:
    """Make sure that a turn failed in this way; its last event."""
    events, outcome = taken
    assert events[-1].type is EventType.ERROR
    assert (events[-1].data["error"], outcome.failure) == (name, name), events[-1].data["message"]
    assert message in events[-1].data["message"]
    return events[-1]


@pytest.mark.parametrize(
    ("status", "payload", "message"),
    [
        (429, {"error": {"message": "slow down"}}, "slow down"),
        (503, {"detail": "starting"}, "starting"),
        (500, "oops", '"oops"'),
        (404, {"object": "error", "message": "no such model"}, "no such model"),
        (201, {"choices": [{"message": {"content": "hi"}}]}, ""),
    ],
)
def test_http_errors(take: Any, wire: Any, status: int, payload: Any, message: str) -> None:
    """By their number, with what the server says about it."""
    last = failed(take(wire.json(payload, status)), f"http_{status}", message)
    assert last.data["status"] == status


@pytest.mark.parametrize(
    "body", [b"<h1>502</h1>", b'data: {"error":{"message":"x"}}\n\n', b"data: {oops", b""]
)
def test_http_errors_of_any_form(take: Any, wire: Any, step: Any, body: bytes) -> None:
    """The status stands, whatever the body is and however it ends."""
    failed(take(wire.sized(body, 502)), "http_502", body.decode().strip())
    failed(
        take(wire.head(502, content_length=len(body) + 9) + body, step.RESET),
        "http_502",
        body.decode().strip(),
    )


@pytest.mark.parametrize("before", [0, 1, 2])
@pytest.mark.parametrize(
    ("frame", "name"),
    [
        (b'data: {"error":{"message":"boom"}}\n\n', "error_frame"),
        (b"event: error\ndata: boom\n\n", "error_frame"),
        (b"data: {boom\n\n", "malformed_frame"),
        (b'data: {"choices":["boom"]}\n\n', "malformed_frame"),
        (b'data: {"choices":[{"delta":{"tool_calls":[{"function":"boom"}]}}]}\n\n', "malformed_frame"),
    ],
)
def test_bad_frames(take: Any, wire: Any, frame: bytes, name: str, before: int) -> None:
    """As the first frame or after some, in pieces or at once: a failure by name, with what came before."""
    pieces = [wire.chunk(wire.TOKEN)] * before + [wire.chunk(frame), wire.chunk(wire.DONE), wire.chunk(b"")]
    head = wire.head(transfer_encoding="chunked")
    for script in ([head, *pieces], [b"".join([head, *pieces])]):
        last = failed(take(*script), name, "boom")
        assert last.data.get("texts", {"output": ""})["output"] == "hi" * before
        assert last.data["status"] == 200


@pytest.mark.parametrize("end", ["CLOSE", "RESET"])
@pytest.mark.parametrize("rest", [b"", b'data: {"choices":[{"del'])
def test_a_cut_stream(take: Any, wire: Any, step: Any, end: str, rest: bytes) -> None:
    """The cut is the news, not the half of a frame that it leaves; the text that had arrived is kept."""
    start = wire.head(transfer_encoding="chunked") + wire.chunk(wire.TOKEN) + wire.chunk(rest or b": ping\n")
    events, _ = taken = take(start, 0.01, getattr(step, end))
    last = failed(taken, "truncated", "in the middle")
    assert kinds(events) == ["REQUEST_SENT", "FIRST_CHUNK", "ERROR"]
    assert (last.data["texts"]["output"], last.data["chunks"]) == ("hi", 1)


def test_a_stream_without_an_end(take: Any, wire: Any, step: Any) -> None:
    """Only a finish reason or `[DONE]` tells an end from a cut: gateways end in order what broke there."""
    failed(take(wire.head() + wire.TOKEN, step.CLOSE), "truncated", "without a finish reason")
    failed(take(wire.chunked(wire.TOKEN)), "truncated", "without a finish reason")
    role = wire.events({"choices": [{"delta": {"role": "assistant", "content": ""}}]})
    failed(take(wire.chunked(role)), "truncated", "without a finish reason")


@pytest.mark.parametrize("rest", [b'data: {"choices":[{"del', b"data: [DO", b"da", b"data: ", b"event: x\n"])
def test_a_close_inside_an_event_is_a_cut(take: Any, wire: Any, step: Any, rest: bytes) -> None:
    """Where only the end of the connection ends the body, and whatever the answer has said before."""
    taken = take(wire.head() + wire.TOKEN + wire.STOP + rest, step.CLOSE)
    assert failed(taken, "truncated", "inside an event").data["texts"]["output"] == "hi"


@pytest.mark.parametrize(
    "rest", [b"", b": pi", b"data: [DONE]", b"data: [DONE]\n\nda", b'data: {"choices":[]}']
)
def test_a_close_after_an_event_is_not_a_truncation(take: Any, wire: Any, step: Any, rest: bytes) -> None:
    """Some servers leave the last end of line out; what comes after the end counts for nothing."""
    events, _ = take(wire.head() + wire.TOKEN + wire.STOP + rest, step.CLOSE)
    assert kinds(events)[-1] == "COMPLETE"


def test_one_json_text_needs_no_further_end(take: Any, wire: Any) -> None:
    """Its length says that it is whole."""
    events, _ = take(wire.json({"choices": [{"message": {"content": "hi"}}]}))
    assert kinds(events) == ["REQUEST_SENT", "COMPLETE"]


@pytest.mark.parametrize("frame", [b"data: {boom\n\n", b'data: {"error":"boom"}\n\n'])
def test_a_token_in_one_piece_with_a_bad_frame_counts(take: Any, wire: Any, frame: bytes) -> None:
    """What came before it, in the same piece, is announced and is evidence, as in its own piece."""
    events, outcome = take(wire.chunked(wire.TOKEN + wire.TOKEN + frame + wire.TOKEN))
    assert kinds(events) == ["REQUEST_SENT", "FIRST_CHUNK", "ERROR"]
    data = events[-1].data
    assert events[2].at_ns == data["first_token_ns"]
    assert outcome.ttft_ms is not None
    if data["error"] == "malformed_frame":
        assert (data["chunks"], data["texts"]["output"]) == (2, "hihi")


def test_nothing_generated(take: Any, wire: Any, step: Any) -> None:
    """A complete response, with any end, but no token in it."""
    role = wire.events({"choices": [{"delta": {"role": "assistant", "content": ""}}]})
    for body in (b"", wire.DONE, b": ping\n\n"):
        failed(take(wire.chunked(body) if body else wire.sized(b"")), "empty_response", "neither a token")
    failed(
        take(wire.json({"choices": [{"message": {"content": None}}]})), "empty_response", "neither a token"
    )
    for body in (wire.STOP + wire.DONE, role + wire.STOP + wire.DONE):
        failed(take(wire.chunked(body)), "empty_answer", "finish reason 'stop'")
    failed(take(wire.chunked(role + wire.DONE)), "empty_response", "neither a token")
    failed(take(wire.chunked(wire.TOKEN + wire.DONE)), "truncated", "[DONE], but without a finish reason")
    unended = wire.head(transfer_encoding="chunked") + wire.chunk(wire.TOKEN + wire.DONE)
    failed(take(unended, 0.01, step.CLOSE), "truncated", "[DONE], but without a finish reason")


def test_no_response(take: Any, step: Any) -> None:
    """A close, a RST, silence and garbage."""
    failed(take(step.CLOSE), "reset", "before a response")
    failed(take(step.RESET), "reset", "reset")
    failed(take(b"garbage\r\n\r\n", step.HANG), "malformed_frame", "not HTTP/1.1")
    silent = failed(take(step.HANG, timeout_s=0.1), "total_timeout", "--timeout")
    assert silent.data["status"] is None


def test_a_stream_that_stalls(take: Any, wire: Any, step: Any) -> None:
    """Our deadline ends it, and what had come is kept."""
    start = wire.head(transfer_encoding="chunked") + wire.chunk(wire.TOKEN)
    last = failed(take(start, step.HANG, timeout_s=0.8), "total_timeout", "0.8 s")
    assert last.data["texts"]["output"] == "hi"


def test_too_much(take: Any, wire: Any, step: Any) -> None:
    """A body without end."""
    script = [wire.head(), *[wire.TOKEN * 100] * 10, step.HANG]
    payload = failed(
        take(*script, allowance=Allowance(10_000)), "too_large", "10000 bytes to keep (--max-response)"
    )
    assert payload.data["chunks"] > 0


def test_a_bug_of_ours_ends_one_request(take: Any, wire: Any, step: Any) -> None:
    """And says what it was; before the first token, and after it."""

    def buggy(payload: Any) -> Any:
        if payload == "bug":
            raise ZeroDivisionError("by nought")
        return chat_completions.chunk(payload)

    codec = SimpleNamespace(**{**vars(chat_completions), "chunk": buggy})
    for body in (b'data: "bug"\n\n', wire.TOKEN + b'data: "bug"\n\n'):
        failed(take(wire.chunked(body), codec=codec), "client_bug", "ZeroDivisionError: by nought")
    open_end = (wire.head(transfer_encoding="chunked"), 0.01, wire.chunk(b'data: "bug"\n\n'), step.HANG)
    failed(take(*open_end, codec=codec), "client_bug", "ZeroDivisionError: by nought")


@pytest.mark.parametrize("padding", [0, 150, 190, 280, 295])
def test_secrets_stay_out_of_messages(take: Any, wire: Any, padding: int) -> None:
    """Whichever way the server repeats the key, and wherever the message is cut."""
    text = f"{'x' * padding} {KEY}"
    for response in (
        wire.json({"error": {"message": text}}, 401),
        wire.sized(text.encode(), 401),
        wire.chunked(wire.events({"error": text})),
        wire.chunked(b"data: {" + text.encode() + b"\n\n"),
        wire.chunked(b"event: error\ndata: " + text.encode() + b"\n\n"),
    ):
        events, _ = take(response)
        assert events[-1].type is EventType.ERROR
        assert KEY[:8] not in repr(events)
        assert len(events[-1].data["message"]) <= 301


# Several requests, and none to the end…


def test_a_limit_of_output_tokens_is_logged(run: Any, serve: Any, wire: Any) -> None:
    """With each request that has one: its own before that of all."""
    events: list[Event] = []

    async def scenario() -> None:
        async with serve([wire.chunked(wire.STREAM)]) as server:
            runner = make_runner(server.url, events.append)
            for sample in (SAMPLE, Sample(4, "what?", max_tokens=9)):
                await runner.run(sample, runner.prepare(sample), 0, "warmup")
            await runner._transports[0].close()

    run(scenario())
    issued = [event for event in events if event.type is EventType.LOADGEN_ISSUE_CALLED]
    assert [event.data.get("max_tokens") for event in issued] == [None, 9]


def test_the_live_view_counts_no_more_tokens_than_bytes(take: Any, wire: Any) -> None:
    """The log has what the server said."""
    usage = wire.events({"choices": [], "usage": {"completion_tokens": 2**53 - 1}})
    events, outcome = take(wire.chunked(wire.TOKEN + wire.STOP + usage + wire.DONE))
    data = events[-1].data
    assert (data["output_tokens"], outcome.output_tokens) == (2**53 - 1, data["bytes"])


def test_a_prompt_s_texts_are_logged_once(run: Any, serve: Any, wire: Any) -> None:
    """With the first request that asks it; each request has its own id, which the server sees."""
    events: list[Event] = []
    samples = [SAMPLE, Sample(4, "what?"), SAMPLE, SAMPLE]

    async def scenario() -> list[bytes]:
        async with serve([wire.chunked(wire.STREAM)]) as server:
            runner = make_runner(server.url, events.append)
            for sample in samples:
                await runner.run(sample, runner.prepare(sample), 0, "warmup")
            await runner._transports[0].close()
            return server.requests

    requests = run(scenario())
    issued = [event for event in events if event.type is EventType.LOADGEN_ISSUE_CALLED]
    assert ["texts" in event.data for event in issued] == [True, True, False, False]
    assert [event.data["prompt_id"] for event in issued] == [3, 4, 3, 3]
    assert len({event.sample_uuid for event in issued}) == 4
    for request, event, sample in zip(requests, issued, samples, strict=True):
        assert f"X-Request-Id: {event.sample_uuid}\r\n".encode() in request
        assert orjson.loads(request.partition(b"\r\n\r\n")[2])["messages"] == sample.messages()
    assert violations(events) == []


@pytest.mark.parametrize("tokens", [0, 1, 3])
def test_a_request_that_is_given_up(run: Any, serve: Any, wire: Any, step: Any, tokens: int) -> None:
    """It ends as CANCELLED, with what had arrived, though its last frame is a half, and lets go."""
    events: list[Event] = []
    half = b'data: {"choices":[{"de'
    body = [wire.chunk(wire.TOKEN)] * tokens + [wire.chunk(half)]

    async def scenario() -> None:
        async with serve([wire.head(transfer_encoding="chunked"), *body, step.HANG]) as server:
            runner = make_runner(server.url, events.append)
            task = asyncio.create_task(runner.run(SAMPLE, runner.prepare(SAMPLE), 0, "performance"))
            await server.hanging.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await server.hung_up.wait()
            await runner._transports[0].close()

    run(scenario())
    assert_sound(events)
    assert kinds(events) == ["REQUEST_SENT", *["FIRST_CHUNK"] * bool(tokens), "CANCELLED"]
    data = events[-1].data
    assert data["reason"]
    assert (data["status"], data["chunks"]) == (200, tokens)
    assert data.get("texts", {"output": ""})["output"] == "hi" * tokens


def test_a_long_answer_is_delivered_before_flushing_ends(run: Any, serve: Any, wire: Any) -> None:
    """It is decoded by parts; the caller waits for them."""

    async def scenario() -> None:
        events: list[Event] = []
        async with serve([wire.chunked(wire.TOKEN * 20_000 + wire.STREAM)]) as server:
            runner = make_runner(server.url, events.append)
            asked_ns = time.monotonic_ns()
            turn = asyncio.create_task(runner.run(SAMPLE, runner.prepare(SAMPLE), asked_ns, "performance"))
            while not runner._decoding:
                assert not turn.done()
                await asyncio.sleep(0)
            came_ns = time.monotonic_ns()
            assert await runner.caught_up() > came_ns
            assert events[-1].type is EventType.COMPLETE
            await turn
            await runner._transports[0].close()

    run(scenario())


def test_a_transport_that_cannot_tell_is_complete_until_the_first_request_that_is_open(run: Any) -> None:
    """No answer to it can have come before it was issued."""

    async def scenario() -> None:
        runner = make_runner("http://127.0.0.1:9", lambda _: None)
        release = asyncio.Event()

        async def send(_: Any, exchange: Any) -> None:
            await release.wait()
            exchange.failed("reset", "over", time.monotonic_ns())

        async def caught_up() -> None:
            return None

        runner._transports = (SimpleNamespace(send=send, caught_up=caught_up),)  # type: ignore[assignment]
        before_ns = time.monotonic_ns()
        assert await runner.caught_up() > before_ns
        issued_ns = time.monotonic_ns()
        turn = asyncio.create_task(runner.run(SAMPLE, b"", issued_ns, "performance"))
        await asyncio.sleep(0)
        open_ns = time.monotonic_ns()
        assert issued_ns <= await runner.caught_up() <= open_ns
        release.set()
        await turn
        assert await runner.caught_up() > open_ns

    run(scenario())
