"""Shares of a load: however many workers issue it, it is the same load."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import count, islice
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.driver.client.codec import Generation
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.issuing import Issuer
from loadgen.driver.load import Closed, Load, Offline, Open
from loadgen.driver.phase import Phase, Shard
from loadgen.driver.plan import Plan
from loadgen.driver.requests.request_source import RequestSource
from loadgen.driver.requests.turn_outcome import TurnOutcome
from tests.driver.manual_clock import ManualClock, open_loop
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping
    from typing import Any

MS = 1_000_000
START_NS = 5 * MS
SAMPLES = [Sample(index, str(index)) for index in range(7)]
OPEN = [open_loop("constant", 200), open_loop("poisson", 200), Offline()]


class RecordingRunner:
    """Answers each request after 20 ms; keeps when each was due and what it asked."""

    endpoints = 1

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.asked: list[tuple[int, int]] = []
        self.more: list[Mapping[str, int]] = []
        self.in_flight = 0
        self.most_in_flight = 0

    def relay(self, *_: object) -> None:
        """Nothing is issued by compiled code."""

    def give_up_for(self, reason: str) -> None:
        """Nothing is given up here."""

    def prepare(self, sample: Sample) -> bytes:
        """The prompt itself."""
        return sample.prompt.encode()

    async def run(
        self,
        sample: Sample,
        body: bytes,
        scheduled_ns: int,
        phase: str,
        _: int,
        more: Mapping[str, int],
        __: object,
    ) -> TurnOutcome:
        """Succeed after a while."""
        self.more.append(more)
        assert (body, phase) == (sample.prompt.encode(), "performance")
        self.asked.append((scheduled_ns, sample.index))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        await self.clock.sleep_until(self.clock.now_ns() + 20 * MS)
        self.in_flight -= 1
        return TurnOutcome(None, 1.0, 5)


def plan_of(load: Load, requests: int | None, duration_s: float | None) -> Plan:
    """A plan with these limits."""
    return Plan(load, requests, duration_s, 0, Generation("m"), "chat", 3, Timeouts(60))


def test_everything_at_once_is_due_at_the_start() -> None:
    """MLPerf's offline scenario."""
    offsets = RequestSource(SAMPLES).offsets(Offline(), 0, Phase("performance", 0, 3))
    assert list(islice(offsets, 3)) == [0, 0, 0]


async def see_through(clock: ManualClock, work: Coroutine[Any, Any, None]) -> None:
    """Move the clock whenever everybody waits for it."""
    running = asyncio.create_task(work)
    while not running.done():
        for _ in range(50):
            await asyncio.sleep(0)
        clock.advance()
    await running


class SimulatedWorkers:
    """Several issuers in one process, on one clock; they issued a phase and everything has settled."""

    def __init__(
        self,
        load: Load,
        workers: int,
        requests: int | None = None,
        duration_s: float | None = None,
    ) -> None:
        self.scheduled: list[int] = []
        asyncio.run(self._run(plan_of(load, requests, duration_s), workers))

    async def _run(self, plan: Plan, workers: int) -> None:
        clock, claim = ManualClock(0), count().__next__
        self.runner = RecordingRunner(clock)
        issuers = [
            Issuer(plan, RequestSource(SAMPLES), self.runner, clock, Shard(worker, workers), claim)
            for worker in range(workers)
        ]
        end_ns = None if plan.duration_s is None else START_NS + round(plan.duration_s * 1e9)
        phase = Phase("performance", START_NS, plan.requests, end_ns, first=2)

        async def work() -> None:
            issuing = [asyncio.create_task(issuer.issue(phase)) for issuer in issuers]
            if isinstance(plan.load, Closed):
                await asyncio.wait(issuing, return_when=asyncio.FIRST_COMPLETED)
                for issuer in issuers:
                    issuer.exhausted()
            self.scheduled = list(await asyncio.gather(*issuing))
            await asyncio.gather(*(issuer.settle() for issuer in issuers))

        await see_through(clock, work())
        self.issued = sum(issuer.progress.issued for issuer in issuers)

    @property
    def asked(self) -> list[tuple[int, int]]:
        """When each request was due and what it asked, in order."""
        return sorted(self.runner.asked)


@pytest.mark.parametrize("load", OPEN)
@settings(max_examples=30)
@given(workers=st.integers(2, 9), requests=st.integers(1, 40))
def test_an_open_loop_is_the_same_whatever_the_number_of_workers(
    load: Load,
    workers: int,
    requests: int,
) -> None:
    """The same requests are due at the same times and ask the same samples."""
    alone, together = SimulatedWorkers(load, 1, requests), SimulatedWorkers(load, workers, requests)
    assert together.asked == alone.asked
    assert sum(together.scheduled) == together.issued == requests
    assert [index for _, index in alone.runner.asked] == [(2 + k) % len(SAMPLES) for k in range(requests)]


@settings(max_examples=30)
@given(workers=st.integers(1, 9), duration_ms=st.integers(1, 200))
def test_an_open_loop_ends_with_its_duration(workers: int, duration_ms: int) -> None:
    """Together the workers schedule what is due before the end, and nothing else."""
    pool = SimulatedWorkers(open_loop("constant", 200), workers, duration_s=duration_ms / 1000)
    assert [index - START_NS for index, _ in pool.asked] == [k * 5 * MS for k in range(-(-duration_ms // 5))]
    assert sum(pool.scheduled) == len(pool.asked)


@settings(max_examples=30)
@given(workers=st.integers(1, 9), users=st.integers(1, 12), requests=st.integers(1, 60))
def test_a_closed_loop_issues_exactly_what_it_was_asked_for(workers: int, users: int, requests: int) -> None:
    """By as many users as there are to be, each number once, and none before the start."""
    pool = SimulatedWorkers(Closed(users), workers, requests)
    assert sum(pool.scheduled) == pool.issued == requests
    assert pool.runner.most_in_flight == min(users, requests)
    expected = [(2 + k) % len(SAMPLES) for k in range(requests)]
    assert sorted(index for _, index in pool.asked) == sorted(expected)
    assert min(moment for moment, _ in pool.asked) == START_NS
    # All users stay busy to the end: no worker has a part of its own requests.
    rounds = -(-requests // users)
    assert max(moment for moment, _ in pool.asked) == START_NS + (rounds - 1) * 20 * MS


def test_a_closed_loop_ends_with_its_duration() -> None:
    """Five rounds of 20 ms begin within 90 ms, of three users in two workers."""
    pool = SimulatedWorkers(Closed(3), 2, duration_s=0.09)
    assert sum(pool.scheduled) == len(pool.asked) == 15


class Full:
    """Has no room until the test gives it some."""

    def __init__(self) -> None:
        self.full = True
        self.room = asyncio.Event()

    async def wait(self) -> None:
        """Return when there is room."""
        await self.room.wait()


@pytest.mark.parametrize("load", [*OPEN, Closed(2)])
def test_nothing_is_issued_without_room(load: Load) -> None:
    """What was due meanwhile is issued late, from the same schedule; nothing is left out."""

    async def scenario() -> None:
        clock, full = ManualClock(0), Full()
        runner = RecordingRunner(clock)
        issuer = Issuer(plan_of(load, 10, None), RequestSource(SAMPLES), runner, clock, room=full)

        async def work() -> None:
            issuing = asyncio.create_task(issuer.issue(Phase("performance", START_NS, 10)))
            await clock.sleep_until(30 * MS)
            assert runner.asked == []
            full.full = False
            full.room.set()
            assert await issuing == 10
            await issuer.settle()

        await see_through(clock, work())
        due = [index for index, _ in sorted(runner.asked)]
        assert len(due) == 10
        if load == OPEN[0]:
            assert due == [START_NS + k * 5 * MS for k in range(10)]

    asyncio.run(scenario())


def test_who_has_no_room_is_still_stopped() -> None:
    """A stop does not wait for the parent to take what waits."""

    async def scenario() -> None:
        clock = ManualClock(0)
        issuer = Issuer(
            plan_of(OPEN[0], 10, None), RequestSource(SAMPLES), RecordingRunner(clock), clock, room=Full()
        )
        issuing = asyncio.create_task(issuer.issue(Phase("performance", 0, 10)))
        await asyncio.sleep(0)
        issuer.stop()
        assert await issuing == 0

    asyncio.run(scenario())


def test_the_end_of_a_phase_can_be_heard_before_it_is_begun() -> None:
    """A worker without users has nothing to wait for but that word, which may come with the phase itself."""

    async def scenario() -> int:
        clock = ManualClock(0)
        load = Closed(1)
        issuer = Issuer(
            plan_of(load, 1, None), RequestSource(SAMPLES), RecordingRunner(clock), clock, Shard(1, 2)
        )
        issuing = issuer.issue(Phase("warmup", 0, 1))
        issuer.exhausted()
        async with asyncio.timeout(60):
            return await issuing

    assert asyncio.run(scenario()) == 0


@pytest.mark.parametrize("load", OPEN)
@settings(max_examples=20)
@given(workers=st.integers(1, 3), places=st.integers(3, 9), requests=st.integers(1, 40))
def test_no_more_are_under_way_than_there_are_places(
    load: Open | Offline, workers: int, places: int, requests: int
) -> None:
    """The schedule is the same, who is due when all places are taken waits, and none is left out."""
    bounded = SimulatedWorkers(replace(load, limit=places), workers, requests)
    assert bounded.asked == SimulatedWorkers(load, 1, requests).asked
    assert bounded.runner.most_in_flight <= places
    if workers == 1 and isinstance(load, Offline):
        assert bounded.runner.most_in_flight == min(places, requests)
    assert sum(bounded.scheduled) == bounded.issued == requests


def test_who_has_no_place_before_the_end_never_leaves() -> None:
    """At 200 a second with answers of 20 ms, two places let 100 a second through: they count all the same."""
    bounded = SimulatedWorkers(open_loop("constant", 200, limit=2), 1, duration_s=1.0)
    assert bounded.scheduled == [200]
    assert bounded.issued == 100
    assert bounded.runner.most_in_flight == 2


def test_the_log_says_since_when_there_was_a_place() -> None:
    """Only of those that had to wait: when the answer ahead came."""
    pool = SimulatedWorkers(Offline(limit=2), 1, requests=5)
    first, then, last = START_NS, START_NS + 20 * MS, START_NS + 40 * MS
    assert [more.get("free_ns", first) for more in pool.runner.more] == [first, first, then, then, last]
