"""The figures of a run in progress, read from the end of its log."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from recorder import Event, EventType, schema, shards
from recorder.continued_log import reopen
from recorder.errors import LogError
from recorder.session import Session
from recorder.store import Store
from reporter.live.current_figures import LiveFigures, Percentiles
from reporter.live.ended_requests import MOST_GAPS_OF
from reporter.live.run_tail import RunTail
from reporter.live.tail import MOST_READ
from reporter.log.database import open_log
from rulesets import of_expressions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECOND = 1_000_000_000
SETTINGS = {"load": {"kind": "poisson", "rate": 20.0}}


def answered(uuid: str, at_s: float, ttft_ms: int = 100, tokens: int = 11) -> Iterator[Event]:
    """A request with a token each 10 ms after the first."""
    at_ns = round(at_s * SECOND)
    first_ns = at_ns + 1_000_000 * ttft_ms
    last_ns = first_ns + 10_000_000 * (tokens - 1)
    yield Event(EventType.LOADGEN_ISSUE_CALLED, at_ns, uuid, {"scheduled_ns": at_ns, "phase": "performance"})
    yield Event(EventType.REQUEST_SENT, at_ns, uuid, {"reused": True})
    data = {"first_token_ns": first_ns, "last_token_ns": last_ns, "output_tokens": tokens}
    gaps = (1000 * ttft_ms).to_bytes(4, "little") + (10_000).to_bytes(4, "little") * (tokens - 1)
    yield Event(EventType.COMPLETE, last_ns, uuid, {**data, "chunk_gaps_us": gaps})


def session(kind: EventType, at_s: float, **data: Any) -> Event:
    """An event of the session."""
    return Event(kind, round(at_s * SECOND), None, data)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A log in the making."""
    store = Store.create(tmp_path / "events.db", Session("a", 0, 0, SETTINGS, {}))
    yield store
    store.close()


def put(store: Store, *events: Event) -> None:
    """Write events."""
    store.append([schema.row(event) for event in events], None)


def test_a_log_without_events_has_no_figures(store: Store, tmp_path: Path) -> None:
    """But the rate that is wanted."""
    put(store)
    assert RunTail(tmp_path).read() == LiveFigures(wanted_rate=20.0, window_s=0.0, client=[])


def test_the_figures_are_those_of_the_last_seconds(store: Store, tmp_path: Path) -> None:
    """Totals of the measured phase, rates and percentiles of ten seconds; each event is read once."""
    tail = RunTail(tmp_path)
    put(store, session(EventType.PHASE_STARTED, 0, phase="warmup"), *answered("warm", 0.5, ttft_ms=9999))
    assert tail.read().phase == "warmup"
    put(store, session(EventType.PHASE_STARTED, 20, phase="performance", duration_s=60.0, requests=100))
    put(store, *(event for n in range(10) for event in answered(f"{n}", 20 + n, ttft_ms=100 + n)))
    put(store, Event(EventType.LOADGEN_ISSUE_CALLED, 30 * SECOND, "open", {}))
    put(store, Event(EventType.ERROR, 30 * SECOND, "5", {"error": "reset"}))
    reading = {"source": "client", "worker": 0, "cpu_share": 0.5}
    put(store, session(EventType.TELEMETRY, 31, **reading))
    shown = tail.read()
    assert (shown.phase, shown.elapsed_s, shown.planned_s, shown.planned_requests) == (
        "performance",
        11,
        60,
        100,
    )
    assert (shown.issued, shown.completed, shown.errors, shown.in_flight) == (11, 10, Counter(reset=1), 0)
    assert shown.rate == pytest.approx(11 / 11)
    assert shown.output_tps == pytest.approx(110 / 11)
    assert shown.ttft == Percentiles(105, 109, 109)
    assert shown.tpot == Percentiles(10, 10, 10)
    assert shown.client == [reading]
    put(store, session(EventType.PHASE_STARTED, 50, phase="drain"))
    later = tail.read()
    assert (later.phase, later.completed, later.ttft, later.errors) == ("drain", 10, None, Counter(reset=1))


def test_a_reading_looks_at_the_latest_requests_only(store: Store, tmp_path: Path) -> None:
    """However many are new; counts and sums are of all."""
    put(store, session(EventType.PHASE_STARTED, 0, phase="performance"))
    many = 2 * MOST_READ
    put(
        store,
        *(event for n in range(many) for event in answered(f"{n}", n / 1000, ttft_ms=1 + (n < MOST_READ))),
    )
    shown = RunTail(tmp_path).read()
    assert shown.completed == many
    assert shown.ttft == Percentiles(1, 1, 1)


def test_targets_count_the_requests_of_the_measured_phase(tmp_path: Path) -> None:
    """By each metric's own moments; of many requests at once a sample, with its weight."""
    rules = (
        *("ttft:p(99)<150ms", "tpot:p(50)<=10ms", "itl:max<=10ms", "latency:p(50)<150ms", "error<1%"),
        *("good(ttft<150ms):fraction>=50%", "completed>=2", "output_tps>1", "send_lag:p(50)<1s"),
    )
    settings = {**SETTINGS, "ruleset": of_expressions(rules).to_dict()}
    store = Store.create(tmp_path / "events.db", Session("a", 0, 0, settings, {}))
    tail = RunTail(tmp_path)
    put(store, session(EventType.PHASE_STARTED, 0, phase="warmup"))
    warm = list(answered("warm", 0.5, ttft_ms=9999))
    warm[0] = warm[0]._replace(data={"scheduled_ns": 0, "phase": "warmup"})
    put(store, *warm, session(EventType.PHASE_STARTED, 20, phase="performance"))
    assert {target.why for target in tail.read().targets} >= {"no request yet"}
    put(store, *answered("1", 21, ttft_ms=100), *answered("2", 22, ttft_ms=200))
    targets = {target.rule.partition(":")[0]: target for target in tail.read().targets}
    shown = {name: (target.observed, target.holds) for name, target in targets.items()}
    assert shown == {
        "ttft": (pytest.approx(199, 0.01), False),
        "tpot": (pytest.approx(10, 0.005), True),
        "itl": (10, True),
        "latency": (pytest.approx(250, 0.005), False),
        "error": (0, True),
        "good(ttft<150ms)": (50, True),
        "completed": (2, True),
        "output_tps": (pytest.approx(22 / 2.3), True),
        "send_lag": (None, None),
    }
    assert targets["send_lag"].why == "after the run: whole log"
    many = [event for n in range(64 * MOST_GAPS_OF) for event in answered(f"{n:x}", 23, ttft_ms=300)]
    put(store, *many)
    by_latency = next(target for target in tail.read().targets if target.rule.startswith("good"))
    assert by_latency.observed == pytest.approx(100 / (15 * MOST_GAPS_OF * 4 + 2), rel=0.1)
    store.close()


def test_the_figures_of_nodes_are_those_of_all_whose_logs_are_there(tmp_path: Path) -> None:
    """Each on its own clock; a log that is being made, or is still on its node, is awaited."""
    names = ("node-0", "node-1", "node-2")
    facts = shards.coordinator_environment([{"shard": name} for name in names], None)
    whole = Store.create(tmp_path / "events.db", Session("a", 0, 0, SETTINGS, facts))
    stores = [whole]
    put(
        whole,
        session(EventType.PHASE_STARTED, 20, phase="performance"),
        session(EventType.TELEMETRY, 30, source="parent"),
    )
    tail = RunTail(tmp_path)
    assert (tail.read().nodes, tail.read().awaited) == (3, names)
    for number, name in enumerate(names[:2]):
        start_s = 20 + 1000 * number
        environment = shards.shard_environment(name, 3)
        log = shards.shard_log(tmp_path / "shards", name)
        stores.append(Store.create(log, Session("a", 0, 0, {}, environment)))
        put(stores[-1], session(EventType.PHASE_STARTED, start_s, phase="performance"))
        requests = (answered(f"{n}", start_s + n, ttft_ms=100 * (1 + number)) for n in range(10))
        put(stores[-1], *(event for request in requests for event in request))
        put(stores[-1], Event(EventType.LOADGEN_ISSUE_CALLED, (start_s + 10) * SECOND, "open", {}))
        put(stores[-1], session(EventType.TELEMETRY, start_s + 10, source="recorder", lost=number))
    made = shards.shard_log(tmp_path / "shards", "node-2")
    made.parent.mkdir()
    made.touch()
    shown = tail.read()
    assert (shown.awaited, shown.elapsed_s) == (("node-2",), 10)
    assert (shown.issued, shown.completed, shown.in_flight) == (22, 20, 2)
    assert (shown.rate, shown.issued_rate) == (pytest.approx(2), pytest.approx(2.2))
    assert shown.ttft == Percentiles(100, 200, 200)
    assert [reading["lost"] for reading in shown.client if reading.get("source") == "recorder"] == [0, 1]
    with open_log(tmp_path) as log:
        assert log.execute("SELECT node, state FROM nodes ORDER BY node").fetchall() == [
            ("node-0", "running"),
            ("node-1", "running"),
            ("node-2", "missing"),
        ]
    for store in stores:
        store.close()
    with pytest.raises(LogError, match=r"node-2/events\.db"), open_log(tmp_path):
        pass


def test_a_segment_is_shown_by_itself(tmp_path: Path) -> None:
    """What an earlier segment of a resumed run had is in its report."""
    store = Store.create(tmp_path / "events.db", Session("a", 0, 0, SETTINGS, {}))
    put(store, session(EventType.PHASE_STARTED, 0, phase="performance"), *answered("1", 1))
    store.close()
    resumed = reopen(tmp_path / "events.db", Session("", 9 * SECOND, 9 * SECOND, {}, {}))
    put(resumed, session(EventType.PHASE_STARTED, 10, phase="performance"))
    shown = RunTail(tmp_path).read()
    resumed.close()
    assert (shown.completed, shown.in_flight, shown.phase) == (0, 0, "performance")


def test_scores_are_shown_as_they_come(store: Store, tmp_path: Path) -> None:
    """Their mean, without those that have no value."""
    put(store, *answered("1", 1))
    put(store, *(Event(EventType.SCORED, SECOND, "1", {"value": value}) for value in (1, 0, 1, None)))
    shown = RunTail(tmp_path).read()
    assert (shown.scored, shown.mean_score) == (3, pytest.approx(2 / 3))


def test_what_is_not_a_log_is_an_error(tmp_path: Path) -> None:
    """With its name."""
    with pytest.raises(LogError, match=r"events\.db"):
        RunTail(tmp_path).read()
