"""Every kind of arrival, really run against a server that knows the truth: what is reported is what was.

Counts are exact, and so is the schedule: the log has the pure sequence of the same seed, to the nanosecond.
What the client stamped encloses what the server did, request by request; how closely depends on how busy the
machine is, and `make bench` measures it.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from itertools import takewhile
from statistics import median
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.driver.load import Open, ProcessArrivals
from loadgen.mock_endpoint.process import start_mock
from loadgen.sessions.run.loads import load_of
from loadgen.sessions.run_session import run
from loadgen.sessions.settings.perf import PerfSettings, perf_settings
from tests.remembered_logs import query
from tests.truths import truth_of
from workloads.arrivals import ARRIVAL_PROCESSES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from loadgen.mock_endpoint import MockProcess, Truth

pytestmark = pytest.mark.usefixtures("remembered_logs")

TRIES = 3
"""How often a load is run where the client is held up for so long that the end comes before some requests."""

SECONDS = 0.4
SECOND = 1_000_000_000
SEED = 11
USERS = 4
THINK_MS = 30.0
STAGES = """
- {duration: 150ms, rate: 40}
- {start: 250ms, duration: 150ms, rate: "ramp:20..120,150ms", name: up}
"""
TRACE = "timestamp,input_tokens,output_tokens\n" + "".join(
    f"{100 + number * number / 500},{5 + number},{3 + number % 7}\n" for number in range(18)
)
"""18 requests in 0.58 s, ever farther apart."""

OPEN: dict[str, dict[str, Any]] = {
    **{
        name: {
            "rate": "60",
            "arrival": name,
            "burstiness": 0.5 if process.takes_burstiness else None,
            "duration": SECONDS,
        }
        for name, process in ARRIVAL_PROCESSES.items()
    },
    "ramp": {"rate": "ramp:10..120,400ms", "arrival": "constant"},
    "bursts": {"rate": "bursts:20,300,200ms,50ms", "duration": SECONDS},
    "stages": {"stages": "stages.yaml", "arrival": "constant"},
    "trace": {"trace": "trace.csv", "trace_speed": 1.5, "ignore_eos": True},
}


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished run.

    Attributes:
        report: Its `report.json`.
        start_ns: When its performance phase began.
        samples: Of each request, in the order of the schedule: id, and when it was scheduled, sent, answered
            with a first token, complete.
        truth: What the server knows of each, in the same order.
    """

    report: dict[str, Any]
    start_ns: int
    samples: Sequence[tuple[str, int, int, int, int]]
    truth: Sequence[Truth]

    @property
    def offsets_ns(self) -> list[int]:
        """When requests were meant to leave, from the start of the phase."""
        return [scheduled_ns - self.start_ns for _, scheduled_ns, *_ in self.samples]


@pytest.fixture(scope="module")
def mock() -> Iterator[MockProcess]:
    """A server whose answers differ; those without a limit have 2 to 6 tokens."""
    with start_mock(ttft="uniform:10ms..60ms", itl="uniform:1ms..4ms", tokens="uniform:2..6") as server:
        yield server


@pytest.fixture
def settings(mock: MockProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make settings for a run against the server, in a folder with a file of stages and a trace."""
    (tmp_path / "stages.yaml").write_text(STAGES)
    (tmp_path / "trace.csv").write_text(TRACE)
    monkeypatch.chdir(tmp_path)

    def make(**options: Any) -> PerfSettings:
        common = {"model": "mock", "seed": SEED, "probe": False, "quiet": True, "out": tmp_path / "run"}
        return perf_settings(**{"url": [mock.url], **common, **options})

    return make


def ran(mock: MockProcess, settings: PerfSettings) -> Ran:
    """Run it, and gather what the log, the report and the server say; all that holds for any load holds."""
    for number in range(1, TRIES + 1):
        _, folder = run(settings)
        report = orjson.loads((folder / "report.json").read_bytes())
        if 0 < report["counts"]["issued"] == report["counts"]["scheduled"] or number == TRIES:
            break
        shutil.rmtree(folder)
    ((start_ns,),) = query(folder, "SELECT started_ns FROM phases WHERE phase = 'performance'").rows
    columns = "sample_uuid, scheduled_ns, sent_ns, first_token_ns, complete_ns"
    samples = query(folder, f"SELECT {columns} FROM samples ORDER BY scheduled_ns, issued_ns").rows  # noqa: S608 (the test's own)
    by_id = truth_of(mock, {uuid for uuid, *_ in samples})
    of = Ran(report, start_ns, samples, [by_id[uuid] for uuid, *_ in samples])
    counted_right(of)
    timed_right(of)
    return of


def counted_right(of: Ran) -> None:
    """Counts, tokens and the window are the server's."""
    report, counts = of.report, of.report["counts"]
    assert counts["scheduled"] >= counts["issued"] == counts["completed"] == len(of.truth) > 0
    # A busy machine may be late for the last requests of a duration, and then the report says so.
    codes = {finding["code"] for finding in report["findings"]}
    assert counts["issued"] >= 0.9 * counts["scheduled"] - 1 or "rate_not_reached" in codes
    assert all(record.outcome == "completed" for record in of.truth)
    assert report["tokens"]["output"] == sum(record.tokens for record in of.truth)
    assert report["tokens"]["input"] == sum(record.input_tokens for record in of.truth)
    window = report["window"]
    inside = sum(complete_ns <= window["end_ns"] for *_, complete_ns in of.samples)
    # Both are rounded.
    assert report["throughput"]["qps"] * window["duration_s"] == pytest.approx(inside, rel=1e-5)
    assert inside <= sum(record.chunk_ns[-1] <= window["end_ns"] for record in of.truth)


def timed_right(of: Ran) -> None:
    """Every moment is in its order, of each request: the server had it and answered between two stamps."""
    for (_, scheduled_ns, sent_ns, first_ns, last_ns), record in zip(of.samples, of.truth, strict=True):
        assert scheduled_ns <= sent_ns <= record.received_ns
        assert record.chunk_ns[0] <= first_ns <= last_ns
        assert record.chunk_ns[-1] <= last_ns
    ttft_ms = [(first_ns - sent_ns) / 1e6 for _, _, sent_ns, first_ns, _ in of.samples]
    assert of.report["ttft_ms"]["count"] == len(ttft_ms)
    assert of.report["ttft_ms"]["p50"] == pytest.approx(median(ttft_ms), abs=1e-3)
    true_ms = median((record.chunk_ns[0] - record.received_ns) / 1e6 for record in of.truth)
    assert of.report["ttft_ms"]["p50"] >= true_ms


@pytest.mark.parametrize("load", [load for load in OPEN if load not in {"ramp", "trace"}])
def test_an_open_loop_is_its_schedule(mock: MockProcess, settings: Any, load: str) -> None:
    """The log has the pure schedule of the same seed, no request more or less, and none left early."""
    follows_its_schedule(mock, settings(**OPEN[load], workers=2))


def follows_its_schedule(mock: MockProcess, run_settings: PerfSettings) -> Ran:
    """Run an open loop for `SECONDS`; the schedule holds exactly, and so does the window."""
    of = ran(mock, run_settings)
    assert of.report["counts"]["scheduled"] == len(pure(run_settings))
    assert set(of.offsets_ns) <= set(pure(run_settings))
    assert of.report["window"]["kind"] == "duration"
    assert of.report["window"]["duration_s"] == SECONDS
    assert of.report["window"]["start_ns"] == of.start_ns
    return of


def pure(run_settings: PerfSettings) -> list[int]:
    """The schedule that settings stand for, computed alone."""
    end_ns = round(SECONDS * SECOND)
    load = load_of(run_settings.load)
    assert isinstance(load, Open)
    arrivals = load.arrivals
    assert isinstance(arrivals, ProcessArrivals)
    return list(takewhile(lambda offset: offset < end_ns, arrivals.offsets(SEED)))


@pytest.mark.slow
def test_a_ramp_is_its_schedule_and_shows_over_time(mock: MockProcess, settings: Any) -> None:
    """What is offered in each moment of the report is what the schedule has in it, and it rises."""
    run_settings = settings(**OPEN["ramp"])
    of = follows_its_schedule(mock, run_settings)
    moments, offsets_s = of.report["over_time"], [offset / SECOND for offset in of.offsets_ns]
    for moment in moments:
        begin = moment["start_s"]
        due = sum(begin <= offset < begin + moment["duration_s"] for offset in offsets_s)
        assert moment["scheduled"] == due, moment
        assert moment["offered_qps"] == pytest.approx(due / moment["duration_s"])
    assert sum(moment["scheduled"] for moment in moments) == len(offsets_s)
    first_half = sum(moment["scheduled"] for moment in moments if moment["start_s"] < SECONDS / 2)
    assert first_half < len(offsets_s) / 2


@pytest.mark.slow
def test_a_trace_has_its_times_and_its_lengths(mock: MockProcess, settings: Any) -> None:
    """Half as fast again; with answers that go on until they are cut, request k has the tokens of row k."""
    of = ran(mock, settings(**OPEN["trace"]))
    assert of.offsets_ns == [round(number * number / 500 * SECOND / 1.5) for number in range(18)]
    assert of.report["counts"]["scheduled"] == 18
    assert [record.tokens for record in of.truth] == [3 + number % 7 for number in range(18)]
    assert [record.finish_reason for record in of.truth] == ["length"] * 18


@pytest.mark.slow
def test_a_closed_loop_keeps_its_users_busy(mock: MockProcess, settings: Any) -> None:
    """As many requests at the server as there are users, and never more, for the time that was given."""
    of = ran(mock, settings(concurrency=USERS, duration=SECONDS))
    assert most_at_once(of.truth) == USERS
    assert (of.report["window"]["kind"], of.report["window"]["duration_s"]) == ("duration", SECONDS)


@pytest.mark.slow
def test_a_user_who_thinks_pauses(mock: MockProcess, settings: Any) -> None:
    """A request is due a think time after the end of an answer, but for the first of each user."""
    of = ran(mock, settings(concurrency=USERS, duration=SECONDS, think=f"{THINK_MS:g}ms"))
    assert most_at_once(of.truth) <= USERS
    ends_ns = sorted(complete_ns for *_, complete_ns in of.samples)
    for _, scheduled_ns, *_ in of.samples[USERS:]:
        # All pauses are of one length: the answer that ended first is the first to be followed.
        assert scheduled_ns - ends_ns.pop(0) >= THINK_MS * 1e6


@pytest.mark.slow
def test_offline_is_all_at_once(settings: Any) -> None:
    """Everything is due at the start, and is at the server before the first answer is over."""
    with start_mock(ttft="1s", itl="0", tokens="2") as slow:
        of = ran(slow, settings(url=[slow.url], offline=True, requests=30))
    assert set(of.offsets_ns) == {0}
    assert max(record.received_ns for record in of.truth) < min(record.done_ns for record in of.truth)


def most_at_once(truth: Sequence[Truth]) -> int:
    """How many requests were at the server at one time at most, from their arrival to their last chunk."""
    steps = [(record.received_ns, 1) for record in truth] + [(record.chunk_ns[-1], -1) for record in truth]
    there = highest = 0
    for _, step in sorted(steps):
        there += step
        highest = max(highest, there)
    return highest
