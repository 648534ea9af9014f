"""A run of several segments: one timeline, the union of their windows, and counts that add up."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.plugins.exports.vllm_json import render
from recorder import Event, EventType, schema
from recorder.continued_log import reopen
from recorder.session import Session
from recorder.store import Store
from reporter import MetricsReporter
from reporter.client_health import RecorderHealth
from reporter.log.query import query
from tests.facts_of_runs import run_facts
from tests.reporter.conftest import BASE_NS, WALL_NS, Run, ns

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reporter import Report

# Several tests report the same two segments.
pytestmark = pytest.mark.usefixtures("remembered_logs")
LATER_MS = 60_000.0
"""When the second segment begins, a minute after the first."""


def on_another_clock(event: Event, by_ns: int) -> Event:
    """The same event, as a clock has it that is so much ahead."""
    data = {
        name: value + by_ns if name.endswith("_ns") and isinstance(value, int) else value
        for name, value in (event.data or {}).items()
    }
    return event._replace(at_ns=event.at_ns + by_ns, data=data)


def resumed(first: Run, second: Run, *, ahead_ns: int = 0, boot: str = "this boot") -> Path:
    """The log of two segments; the second one's clock is ahead by so much, after a restart."""
    folder = first.folder
    session = Session("s", BASE_NS, WALL_NS, first.settings, {}, "this boot")
    store = Store.create(folder / "events.db", session)
    store.append([schema.row(event) for event in first.events])
    store.close()
    later_ns = ns(LATER_MS)
    segment = Session("", later_ns + ahead_ns, WALL_NS + later_ns - BASE_NS, {}, {}, boot)
    store = reopen(folder / "events.db", segment)
    store.append([schema.row(on_another_clock(event, ahead_ns)) for event in second.events])
    store.close()
    return folder


def report_of(folder: Path) -> Report:
    """What the reporter makes of it."""
    with MetricsReporter(folder) as reporter:
        return reporter.create_report()


@pytest.fixture
def segments(a_run: Callable[..., Run]) -> tuple[Run, Run]:
    """A run that was cut off with one of three requests in flight, and what was done a minute later."""
    first, second = a_run(), a_run()
    first.settings["max_error_rate"] = 1.0
    first.answers(10, 20, at_ms=0, complete=30, usage=(2, 2)).fails("http_500", at_ms=30, failed=40).issues(
        40
    )
    first.session(EventType.TELEMETRY, 60, source="parent", cpu_share=0.5)
    second.events.clear()
    second.begins(LATER_MS)
    second.answers(
        *(LATER_MS + 110, LATER_MS + 130),
        at_ms=LATER_MS + 100,
        complete=LATER_MS + 140,
        usage=(2, 2),
        uuid="again",
    )
    second.requests = 1
    second.stops(LATER_MS + 140).ends(LATER_MS + 150)
    return first, second


def test_the_window_is_that_of_all_segments(segments: tuple[Run, Run]) -> None:
    """Rates count the time of the segments and what completed in them, not the minute between."""
    report = report_of(resumed(*segments))
    assert report.window.duration_s == pytest.approx(0.060 + 0.040)
    assert (report.window.start_ns, report.window.end_ns) == (ns(0), ns(LATER_MS + 140))
    assert report.window.kind == "requests"
    assert report.throughput.qps == pytest.approx(2 / 0.1)
    assert report.throughput.output_tps == pytest.approx(4 / 0.1)


def test_counts_add_up_over_segments(segments: tuple[Run, Run]) -> None:
    """What was in flight when a segment was cut off is not any more: it was abandoned, and asked again."""
    counts = report_of(resumed(*segments)).counts
    assert (counts.scheduled, counts.issued) == (4, 4)
    assert (counts.completed, counts.failed, counts.abandoned) == (2, 1, 1)
    assert counts.in_flight == counts.cancelled == 0


def test_the_vllm_file_has_no_repeated_requests(segments: tuple[Run, Run]) -> None:
    """Only what completed or failed."""
    with MetricsReporter(resumed(*segments)) as reporter:
        result = orjson.loads(b"".join(render(reporter.log, reporter.create_report(), texts=False)))
    assert (result["num_prompts"], result["completed"], result["failed"]) == (3, 2, 1)
    assert len(result["ttfts"]) == 3


def test_a_report_says_that_the_run_was_resumed(segments: tuple[Run, Run]) -> None:
    """In what it says of the run, as a finding, and in the heading; the run is valid once it is complete."""
    report = report_of(resumed(*segments))
    assert report.run.ended == "completed"
    assert [asdict(segment) for segment in report.run.segments] == [
        {
            "started_at": "2026-01-02T03:04:05.678Z",
            "ended": "cut_off",
            "issued": 3,
            "completed": 1,
            "window_s": 0.06,
        },
        {
            "started_at": "2026-01-02T03:05:05.678Z",
            "ended": "completed",
            "issued": 1,
            "completed": 1,
            "window_s": 0.04,
        },
    ]
    by_code = {finding.code: finding for finding in report.findings}
    assert by_code["resumed"].severity == "warning"
    assert "2 segments" in by_code["resumed"].message
    assert "Abandoned requests that were sent again: 1." in by_code["resumed"].message
    assert "cut_off" not in by_code
    assert report.validity.valid
    shown: list[str] = []
    report.display(shown.append)
    assert "in 2 segments" in shown[0]
    assert "1 asked again" in shown[0]


@pytest.mark.slow
@pytest.mark.parametrize("ahead_s", [-4_000_000_000, 86_400])
def test_a_restart_between_segments_changes_no_figure(a_run: Callable[..., Run], ahead_s: int) -> None:
    """The monotonic clock restarts: every view shows times as if it had continued."""

    def answers(run: Run, since: float) -> Run:
        for number in range(3):
            at_ms = since + 40 * number
            run.answers(
                at_ms + 10,
                at_ms + 20.5,
                at_ms + 25,
                at_ms=at_ms,
                complete=at_ms + 30,
                usage=(1, 3),
                uuid=f"{since} {number}",
            )
        return run.session(EventType.TELEMETRY, since + 50, source="client", in_flight=1, loop_lag_max_ms=0.5)

    folders = []
    for ahead_ns, boot in ((0, "this boot"), (ahead_s * 1_000_000_000, "another boot")):
        first, second = a_run(), a_run()
        second.events.clear()
        answers(first, 0)
        answers(second.begins(LATER_MS), LATER_MS).stops(LATER_MS + 200).ends(LATER_MS + 200)
        folders.append(resumed(first, second, ahead_ns=ahead_ns, boot=boot))
    with MetricsReporter(folders[0]) as before, MetricsReporter(folders[1]) as after:
        reports = [replace(reporter.create_report(), run=run_facts()) for reporter in (before, after)]
        assert reports[0] == reports[1]
        unshifted, other = before.log, after.log
        for log in (unshifted, other):
            log.load(("events",))
        for view in ("samples", "events", "chunks", "phases", "telemetry", "measured_window"):
            whole, shifted = (
                sorted(map(str, log.execute(f"FROM {view}").fetchall())) for log in (unshifted, other)
            )
            assert shifted == whole, view
        assert other.execute("FROM violations").fetchall() == []
        shifts = other.execute("SELECT shift_ns FROM segments ORDER BY segment").fetchall()
    assert shifts == [(0,), (-ahead_s * 1_000_000_000,)]


def test_a_dump_is_on_one_clock_as_well(segments: tuple[Run, Run], tmp_path: Path) -> None:
    """All of its times, those in the payloads too; nothing else of them changes."""
    segments[1].events[-1] = (
        segments[1]
        .events[-1]
        ._replace(
            data={
                "reason": "completed",
                "a": [1, {"b_ns": 5}],
                "c_ns": None,
                "d_ns": "x",
                "e": 0.1,
                "f": 'ü"\n',
                "g": True,
            }
        )
    )
    folder = resumed(*segments, ahead_ns=7_000_000_000, boot="another boot")
    with MetricsReporter(folder) as reporter:
        reporter.dump_to_json(tmp_path / "dump.jsonl")
    lines = [orjson.loads(line) for line in (tmp_path / "dump.jsonl").read_bytes().splitlines()]
    ended = lines[-1]
    assert ended["timestamp_ns"] == ns(LATER_MS + 150)
    assert ended["data"] == segments[1].events[-1].data
    complete = next(
        line for line in lines if line["event_type"] == "COMPLETE" and line["sample_uuid"] == "again"
    )
    assert complete["data"]["first_token_ns"] == ns(LATER_MS + 110)


def test_what_ended_an_earlier_segment_does_not_make_the_run_invalid(segments: tuple[Run, Run]) -> None:
    """A worker that was lost then is a warning now; and its requests are issued again: no failures."""
    first, second = segments
    first.happens(EventType.ERROR, 50, error="worker_lost", message="it was lost")
    finding: dict[str, Any] = {
        "code": "worker_lost",
        "severity": "error",
        "message": "A worker.",
        "remedy": "",
    }
    first.session(EventType.FINDING, 55, **finding)
    report = report_of(resumed(first, second))
    assert {"worker_lost": "warning", "resumed": "warning"}.items() <= {
        finding.code: finding.severity for finding in report.findings
    }.items()
    assert report.validity.valid
    assert report.counts.by_error == {"http_500": 1}
    assert report.counts.abandoned == 1


def test_an_error_of_the_last_segment_counts(segments: tuple[Run, Run]) -> None:
    """As it does where there is only one."""
    finding: dict[str, Any] = {
        "code": "worker_lost",
        "severity": "error",
        "message": "A worker.",
        "remedy": "",
    }
    segments[1].session(EventType.FINDING, LATER_MS + 120, **finding)
    assert not report_of(resumed(*segments)).validity.valid


@pytest.mark.slow
def test_what_is_open_in_the_last_segment_is_in_flight(segments: tuple[Run, Run]) -> None:
    """A run that was cut off again has requests of both kinds."""
    first, second = segments
    del second.events[-2:]
    second.requests += 1
    second.issues(LATER_MS + 150, uuid="once more")
    report = report_of(resumed(first, second))
    assert (report.run.ended, report.window.kind) == ("cut_off", "cut_off")
    assert (report.counts.abandoned, report.counts.in_flight) == (1, 1)
    assert query(first.folder, "FROM violations").rows == []


def test_a_segment_that_did_nothing(segments: tuple[Run, Run]) -> None:
    """One that only closed the log has no window, and takes none from the other."""
    first, second = segments
    del first.events[-3:]
    second.events = [
        Event(EventType.TEST_STARTED, ns(LATER_MS)),
        Event(EventType.TEST_ENDED, ns(LATER_MS), data={"reason": "completed"}),
    ]
    report = report_of(resumed(first, second))
    assert report.run.ended == "completed"
    assert report.window.duration_s == pytest.approx(0.040)
    assert [segment.issued for segment in report.run.segments] == [2, 0]


def test_a_spent_budget_stays_spent(segments: tuple[Run, Run]) -> None:
    """Failures are results, which are not issued again: a resumption does not undo them."""
    finding: dict[str, Any] = {
        "code": "error_budget",
        "severity": "error",
        "message": "Too much.",
        "remedy": "",
    }
    segments[0].session(EventType.FINDING, 55, **finding)
    report = report_of(resumed(*segments))
    assert report.validity.reasons == ["Too much."]


def test_what_the_recorder_says_is_of_all_segments(segments: tuple[Run, Run]) -> None:
    """What it counts adds up; of what was slow, the slowest counts."""
    first, second = segments
    slow: dict[str, Any] = {"longest_wait_ms": 400.0, "high_water": 7}
    quick: dict[str, Any] = {"longest_wait_ms": 9.0, "high_water": 11}
    first.session(EventType.TELEMETRY, 20, source="recorder", events=1, commits=1)
    first.session(EventType.TELEMETRY, 50, source="recorder", events=30, commits=3, **slow)
    second.session(EventType.TELEMETRY, LATER_MS + 150, source="recorder", events=12, commits=2, **quick)
    report = report_of(resumed(first, second))
    assert report.recorder == RecorderHealth(events=42, commits=5, longest_wait_ms=400.0, high_water=11)
    assert "recorder_slow" in {finding.code for finding in report.findings}


def test_abandoned_requests_are_counted_where_nothing_completed(a_run: Callable[..., Run]) -> None:
    """The parts add up to what was issued."""
    first, second = a_run().issues(0), a_run()
    second.events.clear()
    second.begins(LATER_MS).fails("http_500", at_ms=LATER_MS, failed=LATER_MS + 10)
    second.stops(LATER_MS + 20).ends(LATER_MS + 20)
    second.events = [event._replace(sample_uuid=event.sample_uuid and "again") for event in second.events]
    report = report_of(resumed(first, second))
    by_code = {finding.code: finding.message for finding in report.findings}
    assert "None of the 2 requests completed: 1 given up, 1 http_500." in by_code["nothing_completed"]


@pytest.mark.slow
def test_moments_and_stages_of_several_segments(segments: tuple[Run, Run]) -> None:
    """Each segment has its own moments, and goes on where the one before it left the plan's stages."""
    first, second = segments
    first.settings["load"] = {"kind": "constant", "profile": "steps:10..20x2,0.1s"}
    first.stops(60).ends(60, "interrupted")
    report = report_of(resumed(first, second))
    assert [part.duration_s for part in report.breakdown["stage"]] == [
        pytest.approx(0.05),
        pytest.approx(0.15),
    ]
    assert {moment.segment for moment in report.over_time} == {1, 2}
    assert sum(moment.issued for moment in report.over_time) == report.counts.issued
    assert report.over_time[-1].in_flight == 0
    assert len(report.over_time) < 60
    assert report.steady_state is not None
    assert report.steady_state.reason == "the run was resumed, and ramped up again each time"


def test_what_was_abandoned_was_in_flight_until_its_segment_ended(a_run: Callable[..., Run]) -> None:
    """Not a moment less, and not in the next segment."""
    first, second = a_run().answers(40, at_ms=0).issues(50).answers(90, at_ms=60), a_run()
    second.events.clear()
    second.begins(LATER_MS).answers(LATER_MS + 40, at_ms=LATER_MS, uuid="again").ends(LATER_MS + 50)
    moments = report_of(resumed(first, second)).over_time
    last = {moment.segment: moment.in_flight for moment in moments}
    assert last == {1: 1, 2: 0}
    assert max(moment.in_flight for moment in moments) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "failed", "has_finding"),
    [
        ("drain_over", False, False),
        ("drain_over", True, False),
        ("conversations_cut", False, False),
        ("conversations_cut", True, True),
    ],
)
def test_requests_that_were_issued_again_are_not_missing(
    segments: tuple[Run, Run],
    code: str,
    failed: bool,  # noqa: FBT001 (a case)
    has_finding: bool,  # noqa: FBT001 (a case)
) -> None:
    """Requests that an earlier segment abandoned have no finding; a conversation cut by a failure has one."""
    first, second = segments
    if failed:
        about = {"conversation": "c", "turn": 0, "turns": 2}
        first.issues(5, uuid="turn", about=about).happens(EventType.ERROR, 9, "turn", error="reset")
    first.session(EventType.FINDING, 55, code=code, severity="warning", message="Cut.", remedy="")
    codes = {finding.code for finding in report_of(resumed(first, second)).findings}
    assert (code in codes) is has_finding


def test_requests_that_the_last_segment_abandoned_are_reported(segments: tuple[Run, Run]) -> None:
    """No later segment issued them again."""
    segments[1].session(
        EventType.FINDING, LATER_MS + 55, code="drain_over", severity="warning", message="Cut."
    )
    assert "drain_over" in {finding.code for finding in report_of(resumed(*segments)).findings}
