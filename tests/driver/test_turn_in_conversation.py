"""A turn of a conversation, or at one of several endpoints: what it brings, and what the log keeps of it."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.http_transport import HttpTransport
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.requests.cache_buster import salted
from loadgen.driver.requests.turn import RequestRunner
from loadgen.driver.requests.turn_outcome import AnswerUse
from recorder.event import Event, EventType
from workloads.conversation_sample import ConversationSample, FollowUp

if TYPE_CHECKING:
    from collections.abc import Sequence

FIRST = ConversationSample(
    3,
    "why?",
    system="be brief",
    tags={"class": "b"},
    follow_ups=(FollowUp(({"role": "user", "content": "and then?"},)),),
)
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at":'}}


def make_runner(urls: Sequence[str], events: list[Event]) -> tuple[RequestRunner, list[HttpTransport]]:
    """An runner of several endpoints."""
    transports = [HttpTransport(endpoint(url, {}), Timeouts(10)) for url in urls]
    runner = RequestRunner(
        transports[0], chat_completions, Generation("m"), events.append, further=transports[1:]
    )
    return runner, transports


def issues(events: list[Event]) -> list[dict[str, Any]]:
    """What the issues tell, without their times."""
    data = [dict(event.data or {}) for event in events if event.type is EventType.LOADGEN_ISSUE_CALLED]
    return [{name: item[name] for name in item if name != "scheduled_ns"} for item in data]


def test_an_answer_is_a_message_for_the_next_turn(run: Any, serve: Any, wire: Any) -> None:
    """Its text and its tool calls, put together from their parts, and the reasoning before the calls."""
    deltas = [
        {"role": "assistant", "reasoning_content": "hm"},
        {"content": "Let me "},
        {"content": "look."},
        {"tool_calls": [{"index": 0, **CALL}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": " 1}"}}]},
    ]
    frames = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    script = wire.sized(wire.events(*frames) + wire.STOP + wire.DONE)
    events: list[Event] = []

    async def scenario() -> list[Any]:
        async with serve([script]) as server:
            runner, transports = make_runner([server.url], events)
            answers = []
            for use in (AnswerUse.FOLLOWED, AnswerUse.MEASURED):
                body, now_ns = runner.prepare(FIRST), time.monotonic_ns()
                answers.append((await runner.run(FIRST, body, now_ns, "performance", use=use)).answer)
            await transports[0].close()
            return answers

    answer, last = run(scenario())
    function = {"name": "look", "arguments": '{"at": 1}'}
    assert answer == {
        "role": "assistant",
        "content": "Let me look.",
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        "reasoning_content": "hm",
    }
    assert last is None


def test_the_log_keeps_of_each_turn_what_is_new(run: Any, serve: Any, wire: Any) -> None:
    """Each text the first time; the salt is not part of it, and other data is next to it."""
    script = wire.sized(wire.STREAM)
    events: list[Event] = []

    async def scenario() -> list[bytes]:
        async with serve([script]) as server:
            runner, transports = make_runner([server.url], events)
            for _ in range(2):
                text = salted(FIRST, "5a17")
                more = {"conversation": "c", "salt": "5a17"}
                for sample in (FIRST, text.after({"role": "assistant", "content": "hi"})):
                    body = runner.prepare(text if sample is FIRST else sample)
                    payload = more | {"turn": sample.turn}
                    await runner.run(sample, body, time.monotonic_ns(), "performance", 0, payload)
            await transports[0].close()
            return list(server.requests)

    requests = run(scenario())
    assert all(b'"content":"5a17 be brief"' in request for request in requests)
    payload = {
        "phase": "performance",
        "prompt_id": 3,
        "tags": {"class": "b"},
        "conversation": "c",
        "salt": "5a17",
    }
    first, later = payload | {"turn": 0}, payload | {"turn": 1}
    asked = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "why?"}]
    assert issues(events) == [
        first | {"texts": {"messages": asked}},
        later | {"texts": {"messages": [{"role": "user", "content": "and then?"}]}},
        first,
        later,
    ]


def test_each_request_goes_where_it_should(run: Any, serve: Any, wire: Any) -> None:
    """And the log has the number of the endpoint, where there are several."""
    script, events = [wire.sized(wire.STREAM)], list[Event]()

    async def scenario() -> list[int]:
        async with serve(script) as first, serve(script) as other:
            runner, transports = make_runner([first.url, other.url], events)
            for number in (0, 1, 1):
                await runner.run(FIRST, runner.prepare(FIRST), time.monotonic_ns(), "performance", number)
            for transport in transports:
                await transport.close()
            return [len(first.requests), len(other.requests)]

    assert run(scenario()) == [1, 2]
    assert [issue["endpoint"] for issue in issues(events)] == [0, 1, 1]


def test_what_is_given_up_says_why(run: Any, serve: Any, step: Any) -> None:
    """An interrupt, unless something else was said before."""
    events: list[Event] = []

    async def scenario() -> None:
        async with serve([step.HANG]) as server:
            runner, transports = make_runner([server.url], events)
            for reason in (None, "drain_over"):
                if reason:
                    runner.give_up_for(reason)
                body = runner.prepare(FIRST)
                task = asyncio.create_task(runner.run(FIRST, body, time.monotonic_ns(), "performance"))
                await server.hanging.wait()
                server.hanging.clear()
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            await transports[0].close()

    run(scenario())
    reasons = [event.data["reason"] for event in events if event.type is EventType.CANCELLED and event.data]
    assert reasons == ["interrupted while the session was stopping", "drain_over"]
