"""Sessions, on a clock that the test moves: what is issued when, and how phases follow each other."""

import asyncio
from collections.abc import Iterator
from itertools import count, pairwise
from typing import Any

import pytest

from loadgen.driver.client.codec import Generation
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.issuing import Issuer
from loadgen.driver.load import Closed, Load, Offline
from loadgen.driver.load_session import LoadSession
from loadgen.driver.plan import Plan
from loadgen.driver.requests.request_source import RequestSource
from loadgen.driver.requests.turn_outcome import TurnOutcome
from loadgen.driver.stop import Stop
from recorder.event import Event, EventType
from recorder.lifecycle import violations
from tests.driver.manual_clock import ManualClock, open_loop
from workloads.sample import Sample

SAMPLES = [Sample(0, "a"), Sample(1, "b"), Sample(2, "c")]
MS = 1_000_000


class FakeAsker:
    """Takes each turn in `service_ns` of the manual clock; keeps what it was asked."""

    endpoints = 1

    def __init__(self, clock: ManualClock, service_ns: int, prepare_ns: int = 0) -> None:
        self.clock = clock
        self.service_ns = service_ns
        self.prepare_ns = prepare_ns
        self.asked: list[tuple[int, int, str, int]] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.cancelled = 0

    def relay(self, *_: object) -> None:
        """Nothing is issued by compiled code."""

    def give_up_for(self, reason: str) -> None:
        """Nothing is given up here."""

    def prepare(self, sample: Sample) -> bytes:
        """The prompt itself, after the time that it takes."""
        self.clock.spend(self.prepare_ns)
        return sample.prompt.encode()

    async def run(
        self, sample: Sample, body: bytes, scheduled_ns: int, phase: str, *_: object
    ) -> TurnOutcome:
        """Succeed after the service time."""
        assert body == sample.prompt.encode()
        self.asked.append((scheduled_ns, self.clock.now_ns(), phase, sample.index))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await self.clock.sleep_until(self.clock.now_ns() + self.service_ns)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.in_flight -= 1
        return TurnOutcome(None, 1.0, 5)


class Run:
    """A session that has run to its end."""

    def __init__(
        self,
        load: Load,
        *,
        service_ms: float = 10,
        prepare_ms: float = 0,
        stop_at_ms: list[float] | None = None,
        **plan: Any,
    ) -> None:
        self.events: list[Event] = []
        self.clock = ManualClock(0)
        self.runner = FakeAsker(self.clock, round(service_ms * MS), round(prepare_ms * MS))
        settings = {"requests": None, "duration_s": None, "warmup": 0}
        self.plan = Plan(
            load=load,
            generation=Generation("m"),
            protocol="chat",
            seed=1,
            timeouts=Timeouts(60),
            **(settings | plan),
        )
        asyncio.run(self._run(stop_at_ms or []))

    async def _run(self, stop_at_ms: list[float]) -> None:
        stop = Stop()
        self.issuer = Issuer(self.plan, RequestSource(SAMPLES), self.runner, self.clock)
        session = LoadSession(self.plan, self.issuer, self.events.append, self.clock, stop)
        running = asyncio.create_task(session.run())
        stops = [asyncio.create_task(self._stop(stop, index)) for index in stop_at_ms]
        while not running.done():
            for _ in range(50):
                await asyncio.sleep(0)
            if not self.clock.advance():
                await asyncio.sleep(0.001)
        for task in stops:
            task.cancel()
        await running

    async def _stop(self, stop: Stop, at_ms: float) -> None:
        await self.clock.sleep_until(round(at_ms * MS))
        stop.ask()

    def of(self, phase: str) -> list[tuple[int, int]]:
        """When the requests of a phase were due, and when they were issued, in ms."""
        return [(due / MS, index / MS) for due, index, in_phase, _ in self.runner.asked if in_phase == phase]

    def event(self, kind: EventType) -> Event:
        """The only event of a kind."""
        (result,) = [event for event in self.events if event.type is kind]
        return result


def closed(concurrency: int) -> Load:
    """A closed loop."""
    return Closed(concurrency)


def test_a_closed_loop_keeps_its_number_in_flight() -> None:
    """Two users share ten requests; each asks again as soon as it is answered."""
    run = Run(closed(2), requests=10)
    assert run.runner.most_in_flight == 2
    assert [index for _, index in run.of("performance")] == [0, 0, 10, 10, 20, 20, 30, 30, 40, 40]
    assert run.issuer.progress.completed == 10
    assert run.issuer.progress.in_flight == 0


def test_a_closed_loop_never_issues_more_than_it_was_asked_for() -> None:
    """More users than requests, and a number that does not divide by the users."""
    assert len(Run(closed(8), requests=3).runner.asked) == 3
    assert len(Run(closed(4), requests=10).runner.asked) == 10


def test_an_open_loop_issues_at_its_times_whatever_the_server_does() -> None:
    """With answers that take 25 intervals, requests still leave on time."""
    run = Run(open_loop("constant", 100), service_ms=245, requests=50)
    assert run.of("performance") == [(10 * k, 10 * k) for k in range(50)]
    assert run.runner.most_in_flight == 25


def test_a_duration_is_the_time_it_says() -> None:
    """Issuing ends with the duration, even where the next request is due much later; then the rest drains."""
    run = Run(open_loop("constant", 4), service_ms=400, duration_s=0.9)
    assert [due for due, _ in run.of("performance")] == [0, 250, 500, 750]
    start = next(event for event in run.events if event.type is EventType.PHASE_STARTED)
    stop = run.event(EventType.STOP_PERFORMANCE_TRACKING)
    assert (stop.at_ns - start.at_ns) / MS == 900
    assert stop.data == {"reason": "duration", "scheduled": 4}
    assert run.event(EventType.TEST_ENDED).at_ns / MS == 1150


def test_the_first_of_two_limits_ends_the_run() -> None:
    """Requests before time, and time before requests."""
    few = Run(open_loop("constant", 10), requests=3, duration_s=60)
    assert few.event(EventType.STOP_PERFORMANCE_TRACKING).data == {"reason": "requests", "scheduled": 3}
    short = Run(open_loop("constant", 10), requests=1000, duration_s=0.5)
    assert short.event(EventType.STOP_PERFORMANCE_TRACKING).data == {"reason": "duration", "scheduled": 5}


def test_a_client_that_is_too_slow_still_stops_on_time() -> None:
    """What was due before the end and not issued by then is scheduled, and never issued."""
    run = Run(open_loop("constant", 1000), prepare_ms=2, duration_s=0.1)
    assert 0 < len(run.runner.asked) < 60
    assert max(index for _, index in run.of("performance")) <= 102
    assert run.event(EventType.STOP_PERFORMANCE_TRACKING).data == {"reason": "duration", "scheduled": 100}
    assert run.event(EventType.STOP_PERFORMANCE_TRACKING).at_ns / MS <= 102


def test_late_requests_leave_together() -> None:
    """A late open loop does not wait for a turn of the event loop for each request."""
    run = Run(open_loop("constant", 1_000_000), requests=100, service_ms=1)
    assert run.runner.most_in_flight == 100
    assert [due for due, _ in run.of("performance")] == [pytest.approx(k / 1000) for k in range(100)]


def test_stopping_in_the_warm_up_measures_nothing() -> None:
    """No measured request is issued after the request to stop, whatever the load."""
    for load in (closed(2), Offline(), open_loop("constant", 1000)):
        run = Run(load, requests=50, warmup=40, service_ms=20, stop_at_ms=[5])
        assert run.of("performance") == []
        assert run.event(EventType.STOP_PERFORMANCE_TRACKING).data == {
            "reason": "interrupted",
            "scheduled": 0,
        }
        assert run.event(EventType.TEST_ENDED).data == {"reason": "interrupted"}
        assert violations(run.events) == []


def test_failures_that_come_at_once_let_others_run() -> None:
    """A user whose requests fail without waiting for anything does not hold up the event loop."""

    class Refused(FakeAsker):
        async def run(self, *_: object) -> TurnOutcome:
            self.asked.append((0, 0, "performance", 0))
            return TurnOutcome("reset", None, 0)

    async def run() -> int:
        clock, stop = ManualClock(), Stop()
        runner = Refused(clock, 1)
        plan = Plan(closed(1), 1_000_000, None, 0, Generation("m"), "chat", 0, Timeouts(60))
        issuer = Issuer(plan, RequestSource(SAMPLES), runner, clock)
        running = asyncio.create_task(LoadSession(plan, issuer, lambda _: None, clock, stop).run())
        while not runner.asked:  # noqa: ASYNC110 (polled: nothing signals it)
            await asyncio.sleep(0)
        stop.ask()
        await running
        return len(runner.asked)

    assert 0 < asyncio.run(run()) < 1_000_000


def test_offline_is_everything_at_once() -> None:
    """All are due at the start of the phase."""
    run = Run(Offline(), requests=7)
    assert run.of("performance") == [(0, 0)] * 7


def test_the_warm_up_is_over_before_the_measurement_begins() -> None:
    """No warm-up request is in flight when the first measured one leaves."""
    run = Run(closed(2), requests=4, warmup=3)
    assert [index for _, index in run.of("warmup")] == [0, 0, 10]
    assert [index for _, index in run.of("performance")] == [20, 20, 30, 30]
    assert run.issuer.progress.issued == 4


def test_samples_are_asked_in_order_again_and_again() -> None:
    """When they run out, they start from the first."""
    run = Run(closed(1), requests=7)
    assert [index for _, _, _, index in run.runner.asked] == [0, 1, 2, 0, 1, 2, 0]


@pytest.mark.parametrize("load", [closed(3), open_loop("poisson", 300)])
def test_asking_to_stop_once_drains(load: Load) -> None:
    """Nothing new is issued, what is in flight is awaited, and the log says interrupted."""
    run = Run(load, duration_s=100, stop_at_ms=[55])
    assert run.runner.cancelled == 0
    assert run.issuer.progress.completed == len(run.runner.asked) > 0
    assert max(index for _, index in run.of("performance")) <= 55
    assert run.event(EventType.STOP_PERFORMANCE_TRACKING).data["reason"] == "interrupted"
    assert run.event(EventType.TEST_ENDED).data == {"reason": "interrupted"}


def test_asking_twice_gives_up_what_is_in_flight() -> None:
    """The session ends at once, and still in order."""
    run = Run(closed(3), service_ms=60_000, duration_s=100, stop_at_ms=[55, 70])
    assert run.runner.cancelled == 3
    assert run.event(EventType.TEST_ENDED).at_ns / MS == 70


@pytest.mark.parametrize(
    "load",
    [closed(2), open_loop("constant", 100), open_loop("poisson", 100), Offline()],
)
def test_every_session_is_lawful(load: Load) -> None:
    """The order of session events is the table's, and their times never go back."""
    run = Run(load, requests=5, warmup=2)
    assert violations(run.events) == []
    assert all(a.at_ns <= b.at_ns for a, b in pairwise(run.events))


def test_a_bug_in_a_turn_is_not_swallowed() -> None:
    """An exception that is not a failure of a request ends the session."""

    class Broken(FakeAsker):
        async def run(self, *_: object) -> TurnOutcome:
            raise ZeroDivisionError

    async def run() -> None:
        clock = ManualClock()
        plan = Plan(closed(1), 2, None, 0, Generation("m"), "chat", 0, Timeouts(60))
        issuer = Issuer(plan, RequestSource(SAMPLES), Broken(clock, 1), clock)
        await LoadSession(plan, issuer, lambda _: None, clock, Stop()).run()

    with pytest.raises(ZeroDivisionError):
        asyncio.run(run())


def test_poisson_is_seeded() -> None:
    """The same plan is due at the same times."""

    def due() -> Iterator[float]:
        return (index for index, _ in Run(open_loop("poisson", 50), requests=20).of("performance"))

    assert list(due()) == list(due())
    assert sum(1 for _ in zip(count(), due(), strict=False)) == 20
