"""Conversations on a clock that the test moves: what is before each turn, when it is asked, and its end."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.driver.client.codec import Generation
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.issuing import Issuer
from loadgen.driver.load import Closed, Load, Offline, Open, TraceArrivals
from loadgen.driver.load_session import LoadSession
from loadgen.driver.phase import Phase, Shard
from loadgen.driver.plan import Plan
from loadgen.driver.requests.request_source import RequestSource
from loadgen.driver.requests.turn_outcome import AnswerUse, TurnOutcome
from loadgen.driver.stop import Stop
from recorder.event import Event, EventType
from recorder.lifecycle import violations
from tests.driver.manual_clock import ManualClock, open_loop
from workloads.conversation_sample import ConversationSample, FollowUp
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

MS = 1_000_000
SERVICE_MS = 20


def chat_message(role: str, content: str) -> dict[str, str]:
    """A message."""
    return {"role": role, "content": content}


def conversation(index: int, turns: int) -> Sample:
    """One of this many turns, with a system prompt and recorded answers."""
    later = tuple(
        FollowUp(
            (chat_message("user", f"{index}.{turn}"),),
            recorded=chat_message("assistant", f"recorded {index}.{turn - 1}"),
        )
        for turn in range(1, turns)
    )
    return ConversationSample(index, f"{index}.0", system=f"system {index}", follow_ups=later)


TALKS = [conversation(index, turns) for index, turns in enumerate((5, 1, 3, 2))]


class TurnRecord(NamedTuple):
    """A turn, as the endpoint saw it."""

    due_ms: float
    issued_ms: float
    prompt_id: int
    turn: int
    messages: list[dict[str, str]]
    endpoint: int
    more: Mapping[str, Any]


class RecordingRunner:
    """Answers each turn after 20 ms with its own text in capitals; fails where the test says so."""

    def __init__(self, clock: ManualClock, fails: Callable[[str], bool], endpoints: int) -> None:
        self.endpoints = endpoints
        self.clock = clock
        self.fails = fails
        self.taken: list[TurnRecord] = []
        self.in_flight: Counter[int] = Counter()
        self.most_in_flight = 0
        self.reasons: list[str] = []
        self.phases: Sequence[str] = ("performance",)

    def prepare(self, sample: Sample) -> bytes:
        """The messages."""
        return orjson.dumps(sample.messages())

    async def run(
        self,
        sample: Sample,
        body: bytes,
        scheduled_ns: int,
        phase: str,
        endpoint: int,
        more: Mapping[str, Any],
        use: AnswerUse,
    ) -> TurnOutcome:
        """Answer after a while."""
        messages, now_ns = orjson.loads(body), self.clock.now_ns()
        if phase in self.phases:
            due = scheduled_ns / MS, now_ns / MS
            self.taken.append(TurnRecord(*due, sample.index, sample.turn, messages, endpoint, more))
        self.in_flight[endpoint] += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight.total())
        try:
            await self.clock.sleep_until(now_ns + SERVICE_MS * MS)
        finally:
            self.in_flight[endpoint] -= 1
        text = messages[-1]["content"]
        if self.fails(text):
            return TurnOutcome("http_500", None, 0)
        answer = chat_message("assistant", f"answer {text}") if use is AnswerUse.FOLLOWED else None
        return TurnOutcome(None, 1.0, 5, answer)

    def relay(self, *_: object) -> None:
        """Nothing is issued by compiled code."""

    def give_up_for(self, reason: str) -> None:
        """Keep it."""
        self.reasons.append(reason)


async def see_through(
    clock: ManualClock, work: Awaitable[None], is_busy: Callable[[], bool] = lambda: False
) -> None:
    """Move the clock whenever everybody waits for it, and nothing is made."""
    running = asyncio.ensure_future(work)
    while not running.done():
        for _ in range(50):
            await asyncio.sleep(0)
            while is_busy():  # noqa: ASYNC110 (it takes few turns)
                await asyncio.sleep(0)
        if not clock.advance():
            await asyncio.sleep(0)
    await running


class Talk:
    """A session of conversations that has run to its end, of one issuer."""

    def __init__(
        self,
        load: Load,
        samples: Sequence[Sample] = TALKS,
        *,
        fails: Callable[[str], bool] = lambda _: False,
        stop_at_ms: Iterable[float] = (),
        endpoints: int = 1,
        source: Mapping[str, Any] | None = None,
        phases: Sequence[str] = ("performance",),
        host: Callable[[ManualClock], Any] = lambda _: None,
        **more: Any,
    ) -> None:
        limits: dict[str, Any] = {"requests": None, "duration_s": None, "warmup": 0}
        parts = (Generation("m"), "chat", 3, Timeouts(60))
        named = dict(zip(("generation", "protocol", "seed", "timeouts"), parts, strict=True))
        self.plan = Plan(load=load, **(limits | named | more))
        self.request_source = RequestSource(samples, conversations=True, **(source or {}))
        self.events: list[Event] = []
        self.clock = ManualClock(0)
        self.runner = RecordingRunner(self.clock, fails, endpoints)
        self.runner.phases = phases
        self.host = host(self.clock)
        asyncio.run(self._run(stop_at_ms))
        assert violations(self.events) == []
        assert all(a.at_ns <= b.at_ns for a, b in pairwise(self.events))

    async def _run(self, stop_at_ms: Iterable[float]) -> None:
        stop = Stop()
        self.issuer = Issuer(self.plan, self.request_source, self.runner, self.clock, host=self.host)

        async def ask_to_stop(at_ms: float) -> None:
            await self.clock.sleep_until(round(at_ms * MS))
            stop.ask()

        stops = [asyncio.create_task(ask_to_stop(at_ms)) for at_ms in stop_at_ms]
        session = LoadSession(self.plan, self.issuer, self.events.append, self.clock, stop)
        await see_through(self.clock, session.run())
        for task in stops:
            task.cancel()

    @property
    def taken(self) -> list[TurnRecord]:
        """What was asked, in order."""
        return self.runner.taken

    def of(self, index: int) -> list[TurnRecord]:
        """The turns of a conversation."""
        return [item for item in self.taken if item.prompt_id == index]

    def event(self, kind: EventType) -> Event:
        """The only event of a kind."""
        (result,) = [event for event in self.events if event.type is kind]
        return result

    def findings(self) -> list[str]:
        """What was found."""
        return [event.data["code"] for event in self.events if event.type is EventType.FINDING and event.data]


def users(number: int, think: str | None = None) -> Load:
    """A closed loop."""
    return Closed(number, think)


def context(index: int, turn: int, before: str) -> list[dict[str, str]]:
    """What a turn must have before it."""
    messages = [chat_message("system", f"system {index}"), chat_message("user", f"{index}.0")]
    for later in range(1, turn + 1):
        messages += [
            chat_message("assistant", f"{before} {index}.{later - 1}"),
            chat_message("user", f"{index}.{later}"),
        ]
    return messages


@pytest.mark.parametrize(("history", "before"), [("answered", "answer"), ("recorded", "recorded")])
def test_every_turn_has_everything_before_it(history: str, before: str) -> None:
    """The endpoint's own answers, or those of the dataset."""
    talk = Talk(users(2), sessions=6, history=history)
    assert Counter((item.prompt_id, item.turn) for item in talk.taken) == Counter(
        (index, turn) for index in (0, 1, 2, 3, 0, 1) for turn in range(len(TALKS[index].follow_ups) + 1)
    )
    assert all(item.messages == context(item.prompt_id, item.turn, before) for item in talk.taken)
    assert talk.issuer.progress.sessions == 6
    assert talk.event(EventType.STOP_PERFORMANCE_TRACKING).data == {"reason": "requests", "scheduled": 17}


def test_a_turn_is_due_after_the_answer_and_the_pause() -> None:
    """In an open loop the conversations begin on schedule, and go on at their own pace."""
    talk = Talk(open_loop("constant", 100, think="7ms"), sessions=4)
    assert [item.due_ms for item in talk.taken if not item.turn] == [0, 10, 20, 30]
    assert [item.due_ms for item in talk.of(0)] == [0, 27, 54, 81, 108]
    assert all(item.due_ms == item.issued_ms for item in talk.taken)


def test_issuing_is_over_when_the_last_turn_has_left() -> None:
    """The drain has only what is in flight; no conversation is cut by a count."""
    for load in (users(3), open_loop("constant", 1000), Offline()):
        talk = Talk(load, sessions=4)
        last = max(item.issued_ms for item in talk.taken)
        assert talk.event(EventType.STOP_PERFORMANCE_TRACKING).at_ns / MS == last
        assert talk.event(EventType.TEST_ENDED).at_ns / MS == last + SERVICE_MS
        assert talk.findings() == []


def test_each_user_has_one_conversation_at_a_time() -> None:
    """Two users, of whom each begins a conversation when its last one is over, after a pause."""
    talk = Talk(users(2, "5ms"), [conversation(index, 3) for index in range(6)], sessions=6)
    assert talk.runner.most_in_flight == 2
    assert [item.due_ms for item in talk.taken if not item.turn] == [0, 0, 75, 75, 150, 150]


def test_the_log_names_conversations_and_turns() -> None:
    """All turns of one have its name, and no other has it; one of a single turn is named as well."""
    talk = Talk(users(4), sessions=8)
    names = {(item.more["conversation"], item.prompt_id, item.more["turns"]) for item in talk.taken}
    assert len(names) == len({name for name, _, _ in names}) == 8
    assert {(index, turns) for _, index, turns in names} == {(0, 5), (1, 1), (2, 3), (3, 2)}
    assert all(item.more["turn"] == item.turn for item in talk.taken)


def test_a_failed_turn_ends_its_conversation() -> None:
    """The rest of it is never asked; a finding says how much that is."""
    talk = Talk(users(1), sessions=4, fails=lambda text: text in {"0.2", "3.1"})
    assert [(item.prompt_id, item.turn) for item in talk.taken] == [
        *((0, 0), (0, 1), (0, 2)),
        *((1, 0), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1)),
    ]
    assert talk.issuer.progress.sessions == 4
    result = talk.event(EventType.FINDING).data
    assert result is not None
    assert result["code"] == "conversations_cut"
    assert (
        "1 of 4 conversations ended before their last turn (1 after a turn that failed)" in result["message"]
    )
    assert "2 turns were never issued" in result["message"]


@pytest.mark.parametrize("load", [users(2, "3ms"), open_loop("constant", 100, think="3ms")])
def test_no_turn_is_asked_after_the_time_is_over(load: Load) -> None:
    """What is in flight then is awaited, who is in a pause is not, and what is left out is reported."""
    talk = Talk(load, [conversation(index, 5) for index in range(9)], duration_s=0.06)
    assert max(item.issued_ms for item in talk.taken) < 60
    assert talk.event(EventType.STOP_PERFORMANCE_TRACKING).at_ns / MS == 60
    assert talk.event(EventType.TEST_ENDED).at_ns / MS <= 60 + SERVICE_MS
    assert talk.findings() == ["conversations_cut"]
    progress = talk.issuer.progress
    assert progress.cut["duration"] == progress.sessions
    assert progress.never_asked == 5 * progress.sessions - len(talk.taken)


def test_a_conversation_holds_its_place_until_the_end() -> None:
    """A conversation whose next turn is due after the phase makes no place for another one."""
    load = open_loop("constant", 1000, limit=1, think="10s")
    talk = Talk(load, [conversation(index, 2) for index in range(9)], duration_s=0.06)
    assert [(item.prompt_id, item.turn) for item in talk.taken] == [(0, 0)]
    assert talk.event(EventType.STOP_PERFORMANCE_TRACKING).at_ns / MS == 60
    assert talk.issuer.progress.cut == {"duration": 1}


def test_no_turn_is_asked_after_a_stop() -> None:
    """Also where everybody is in a pause: the end does not wait for it."""
    talk = Talk(users(3, "10s"), sessions=9, stop_at_ms=[500])
    assert [item.turn for item in talk.taken] == [0, 0, 0]
    assert talk.event(EventType.TEST_ENDED).at_ns / MS == 500
    assert talk.event(EventType.TEST_ENDED).data == {"reason": "interrupted"}
    # The conversation of a single turn was over.
    assert (talk.issuer.progress.cut, talk.issuer.progress.never_asked) == ({"stopped": 2}, 6)


def test_who_is_given_up_counts_as_cut() -> None:
    """Giving up twice ends turns in the middle."""
    talk = Talk(users(2), [conversation(0, 4)], sessions=2, stop_at_ms=[25, 26])
    assert talk.event(EventType.TEST_ENDED).at_ns / MS == 26
    assert (talk.issuer.progress.cut, talk.issuer.progress.given_up) == ({"stopped": 2}, 2)


def test_users_pause_between_their_requests() -> None:
    """Without conversations too; no pause is awaited after which there is nothing left to ask."""
    plain = [Sample(0, "a"), Sample(1, "b")]
    talk = Talk(users(2, "30ms"), plain, requests=5)
    assert [item.issued_ms for item in talk.taken] == [0, 0, 50, 50, 100]
    assert talk.event(EventType.TEST_ENDED).at_ns / MS == 120


def test_no_conversation_begins_to_pause_after_a_stop() -> None:
    """Who has its answer after the stop asks nothing more: the end does not wait for a pause."""
    talk = Talk(users(3, "10s"), [Sample(0, "a")], requests=9, stop_at_ms=[10])
    assert talk.event(EventType.TEST_ENDED).at_ns / MS == SERVICE_MS


def paced(load: Load, workers: int, sessions: int) -> list[tuple[float, int, int, str]]:
    """The turns of a phase of several issuers on one clock: when each was due, and what it was."""
    plan = Plan(load, None, None, 0, Generation("m"), "chat", 3, Timeouts(60), sessions=sessions)

    async def run() -> RecordingRunner:
        clock, claim = ManualClock(0), count().__next__
        runner = RecordingRunner(clock, lambda _: False, 1)
        source, phase = RequestSource(TALKS, conversations=True), Phase("performance", 0, sessions)
        issuers = [
            Issuer(plan, source, runner, clock, Shard(worker, workers), claim) for worker in range(workers)
        ]

        async def work() -> None:
            issuing = [asyncio.create_task(issuer.issue(phase)) for issuer in issuers]
            if isinstance(load, Closed):
                await asyncio.wait(issuing, return_when=asyncio.FIRST_COMPLETED)
                for issuer in issuers:
                    issuer.exhausted()
            scheduled = await asyncio.gather(*issuing)
            await asyncio.gather(*(issuer.settle() for issuer in issuers))
            assert sum(scheduled) == sum(issuer.progress.issued for issuer in issuers) == len(runner.taken)

        await see_through(clock, work())
        return runner

    taken = asyncio.run(run()).taken
    return sorted((item.due_ms, item.prompt_id, item.turn, str(item.messages)) for item in taken)


@pytest.mark.parametrize("kind", [Open, Closed])
@settings(max_examples=20)
@given(
    workers=st.integers(2, 6), sessions=st.integers(1, 12), think=st.sampled_from(["0s", "uniform:1ms..40ms"])
)
def test_conversations_are_the_same_whatever_the_number_of_workers(
    kind: type[Load], workers: int, sessions: int, think: str
) -> None:
    """The same turns with the same contexts; in an open loop at the same times, random pauses included."""
    load = open_loop("constant", 200, think=think) if kind is Open else Closed(3, think)
    alone, together = (paced(load, number, sessions) for number in (1, workers))
    if kind is Open:
        assert together == alone
    assert sorted(turn[1:] for turn in together) == sorted(turn[1:] for turn in alone)


# Ends and beginnings…


def test_a_drain_has_a_bound_where_one_is_given() -> None:
    """What is in flight then is given up with its own reason, and a finding counts it."""
    plain = [Sample(0, "a")]
    talk = Talk(users(3), plain, duration_s=0.025, drain_s=0.005)
    assert talk.event(EventType.TEST_ENDED).at_ns / MS == 30
    assert talk.event(EventType.TEST_ENDED).data == {"reason": "completed"}
    assert talk.runner.reasons == ["drain_over"]
    result = talk.event(EventType.FINDING).data
    assert result is not None
    assert result["message"].startswith("3 requests were still in flight 0.005 s after")
    assert Talk(users(3), plain, duration_s=0.025, drain_s=0.5).findings() == []


def test_a_warm_up_can_last_a_time() -> None:
    """It goes back from the end of the samples, and the measured ones begin with the first."""
    plain = [Sample(index, str(index)) for index in range(10)]
    talk = Talk(users(2), plain, requests=4, warmup_s=0.05)
    phases = [event for event in talk.events if event.type is EventType.PHASE_STARTED]
    assert phases[0].data == {"phase": "warmup", "duration_s": 0.05, "requests": None}
    assert phases[1].at_ns / MS == 60
    assert [item.prompt_id for item in talk.taken] == [0, 1, 2, 3]
    warm = Phase("warmup", 0, first=-1)
    assert [warm.number(request) % 10 for request in range(3)] == [9, 8, 7]


def test_whole_passes_are_shuffled_whatever_the_warm_up() -> None:
    """Equal issue; and as long as there are others, the warm-up asks none that is measured."""
    plain = [Sample(index, str(index)) for index in range(6)]
    talk = Talk(users(2), plain, requests=12, warmup=4, order="shuffle")
    assert Counter(item.prompt_id for item in talk.taken) == dict.fromkeys(range(6), 2)
    asked = [
        {
            item.prompt_id
            for item in Talk(users(1), plain, order="shuffle", phases=phases, requests=2, warmup=4).taken
        }
        for phases in (["warmup"], ["performance"])
    ]
    assert asked[0] | asked[1] == set(range(6))


# Traces…

OFFSETS_NS = tuple(MS * moment for moment in (1000, 1010, 1010, 1040, 1100))
TRACED = [Sample(index, str(index)) for index in range(5)]


def replay(**more: Any) -> list[tuple[float, int]]:
    """When each request of a trace was due, from the start of the phase, and what it asked."""
    speed = more.pop("speed", 1.0)
    source = {"offsets_ns": OFFSETS_NS} | more.pop("source", {})
    talk = Talk(Open(TraceArrivals(speed)), TRACED, source=source, **more)
    starts = [
        event.at_ns
        for event in talk.events
        if event.type is EventType.PHASE_STARTED and event.data and event.data["phase"] == "performance"
    ]
    return [(item.due_ms - starts[0] / MS, item.prompt_id) for item in talk.taken]


def test_a_trace_is_replayed_at_its_times() -> None:
    """Each request asks its own question; twice as fast takes half the time; the first ones can warm up."""
    assert replay(requests=5) == [(0, 0), (10, 1), (10, 2), (40, 3), (100, 4)]
    assert replay(requests=5, speed=2.0) == [(0, 0), (5, 1), (5, 2), (20, 3), (50, 4)]
    assert replay(requests=3, warmup=2) == [(0, 2), (30, 3), (90, 4)]


def test_what_is_left_of_a_trace_comes_at_its_times() -> None:
    """What was due before the interruption is due at once, and everything else when it would have been."""
    left = {"left": [1, 3, 4], "elapsed_ns": 30 * MS}
    assert replay(requests=3, source=left) == [(0, 1), (10, 3), (70, 4)]
    assert replay(requests=2, warmup=1, source={"left": [0, 3], "elapsed_ns": 0}) == [(0, 1), (90, 4)]


def test_what_is_left_of_other_loads_keeps_its_questions() -> None:
    """They follow each other as new ones do."""
    left = {"left": [0, 4, 5]}
    talk = Talk(open_loop("constant", 100), TRACED, requests=3, warmup=2, source=left)
    assert [item.prompt_id for item in talk.taken] == [2, 1, 2]


# Several endpoints, and salt…


def test_endpoints_are_asked_in_turn() -> None:
    """By the number of the request; a conversation stays where it began."""
    plain = [Sample(0, "a")]
    talk = Talk(users(2), plain, requests=9, endpoints=3)
    assert [item.endpoint for item in talk.taken] == [0, 1, 2] * 3
    talk = Talk(users(3), sessions=8, endpoints=3)
    assert {item.more["conversation"]: item.endpoint for item in talk.taken} == {
        item.more["conversation"]: item.endpoint for item in reversed(talk.taken)
    }
    assert Counter(item.endpoint for item in talk.taken if not item.turn) == {0: 3, 1: 3, 2: 2}


def test_the_least_busy_endpoint_is_asked() -> None:
    """Where all are as busy, in turn; else never one that has more in flight than another."""
    plain = [Sample(0, "a")]
    talk = Talk(open_loop("poisson", 300), plain, requests=60, endpoints=3, balance="least-in-flight")
    under_way: Counter[int] = Counter()
    ends: list[tuple[float, int]] = []
    for item in talk.taken:
        while ends and ends[0][0] <= item.issued_ms:
            under_way[ends.pop(0)[1]] -= 1
        assert under_way[item.endpoint] == min(under_way[other] for other in range(3))
        under_way[item.endpoint] += 1
        ends.append((item.issued_ms + SERVICE_MS, item.endpoint))
    assert min(Counter(item.endpoint for item in talk.taken).values()) > 10


def test_those_that_leave_together_know_of_each_other() -> None:
    """Each counts from when its endpoint is chosen, and not only from when it is on its way."""
    offsets_ns = (0, *[10 * MS] * 4)
    load = Open(TraceArrivals(1.0))
    more = {"endpoints": 2, "balance": "least-in-flight", "source": {"offsets_ns": offsets_ns}}
    talk = Talk(load, TRACED, requests=5, **more)
    assert [item.endpoint for item in talk.taken] == [0, 1, 0, 1, 0]


def test_salt_comes_first_and_once_a_conversation() -> None:
    """Ahead of whatever the endpoint reads first; no two conversations have the same."""
    talk = Talk(users(2), sessions=8, salt=True)
    assert all(item.messages[0]["content"].startswith(item.more["salt"] + " ") for item in talk.taken)
    salts = {(item.more["conversation"], item.more["salt"]) for item in talk.taken}
    assert len(salts) == len({salt for _, salt in salts}) == 8
    unsalted = [
        [{**item.messages[0], "content": item.messages[0]["content"].split(" ", 1)[1]}] for item in talk.taken
    ]
    assert [first + item.messages[1:] for first, item in zip(unsalted, talk.taken, strict=True)] == [
        context(item.prompt_id, item.turn, "answer") for item in talk.taken
    ]
