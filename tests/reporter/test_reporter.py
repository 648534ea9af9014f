"""MetricsReporter, as it is used from Python."""

from __future__ import annotations

import json
from array import array
from typing import TYPE_CHECKING

import pytest

from recorder import EventRecorder, EventType
from recorder.errors import NotALogError
from reporter import MetricsReporter
from reporter.errors import OptionError
from rulesets import TPOT, TTFT, Throughput, of_expressions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reporter.conftest import Run


@pytest.mark.slow
def test_a_run_is_named_by_its_folder_or_its_log(a_run: Callable[..., Run]) -> None:
    """Both names, as text or as a path, mean the same run."""
    folder = a_run().answers(5, usage=(1, 1)).ends().write()
    names = [folder, folder / "events.db", str(folder), str(folder / "events.db")]
    assert len({repr(MetricsReporter(name).create_report()) for name in names}) == 1


def test_a_recorded_run_is_reported(tmp_path: Path) -> None:
    """What an EventRecorder wrote, the reporter reads, the recorder's own health included."""
    with EventRecorder("s", path=tmp_path / "events.db", settings={"model": "m"}) as recorder:
        record = recorder.record_event
        record(EventType.PHASE_STARTED, 0, data={"phase": "performance"})
        record(EventType.LOADGEN_ISSUE_CALLED, 1, "a", data={"phase": "performance", "scheduled_ns": 0})
        record(EventType.REQUEST_SENT, 2, "a")
        record(EventType.COMPLETE, 9_000_002, "a", data={"output_tokens": 5, "first_byte_ns": 4_000_002})
        record(EventType.TEST_ENDED, 9_000_003, data={"reason": "completed"})
    with MetricsReporter(tmp_path) as reporter:
        report = reporter.create_report()
    assert report.run.model == "m"
    assert report.ttfb_ms is not None
    assert report.ttfb_ms.p50 == 4
    assert report.recorder.events == 5
    assert report.findings == []


@pytest.mark.slow
def test_a_report_is_validated_against_a_ruleset(a_run: Callable[..., Run]) -> None:
    """Metrics, a ruleset, or the one that the run was started with; by default against none."""
    rules = of_expressions(["ttft:p(50)<1s", "failed==0"])
    run = a_run(kind="poisson", rate=1.0).answers(20, 40, at_ms=0, usage=(1, 3)).stops(500).ends(600)
    run.settings = {**run.settings, "ruleset": rules.to_dict(), "skip": ["failed:count==0"]}
    folder = run.write()
    with MetricsReporter(folder) as reporter:
        assert reporter.create_report().verdict is None
        statuses = []
        for ruleset in ([TTFT(max_ttft_latency_ms=10_000)], [TPOT(0.001), Throughput(1e-6)], rules, "active"):
            verdict = reporter.create_report(ruleset=ruleset).verdict
            assert verdict is not None
            statuses.append((verdict.status, [row.status for row in verdict.rows]))
    assert statuses == [
        ("PASS", ["PASS"]),
        ("FAIL", ["FAIL", "PASS"]),
        ("PASS", ["PASS", "PASS"]),
        ("PASS", ["PASS", "SKIP"]),
    ]


def test_a_run_without_a_ruleset_has_none_to_be_validated_against(a_run: Callable[..., Run]) -> None:
    """It says so."""
    folder = a_run().answers(5, usage=(1, 1)).ends().write()
    with MetricsReporter(folder) as reporter, pytest.raises(OptionError, match="started without a ruleset"):
        reporter.create_report(ruleset="active")


def test_every_event_is_dumped(tmp_path: Path) -> None:
    """Each event is one line of JSON in the order of the log, with all that was recorded, unchanged."""
    with EventRecorder("s", path=tmp_path / "events.db") as recorder:
        recorder.record_event(EventType.TEST_STARTED, 2**63 - 1)
        data = {
            "error": "reset",
            "big": 2**64 - 1,
            "null": None,
            "texts": {"output": "nul \0, naïve 🙂", "reasoning": None},
            "chunk_gaps_us": array("I", [0, 2**32 - 1]).tobytes(),
        }
        recorder.record_event(EventType.ERROR, 5, "not hex", data=data)
        recorder.record_event(EventType.CANCELLED, 4, "b", data={"texts": {}})
    with MetricsReporter(tmp_path) as reporter:
        reporter.dump_to_json(tmp_path / "events.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text("utf-8").splitlines()]
    assert lines[:3] == [
        {"sample_uuid": None, "event_type": "TEST_STARTED", "timestamp_ns": 2**63 - 1, "data": None},
        {
            "sample_uuid": "not hex",
            "event_type": "ERROR",
            "timestamp_ns": 5,
            "data": {**data, "chunk_gaps_us": [0, 2**32 - 1]},
        },
        {"sample_uuid": "b", "event_type": "CANCELLED", "timestamp_ns": 4, "data": {"texts": {}}},
    ]
    assert [line["event_type"] for line in lines[3:]] == ["TELEMETRY"]


def test_an_empty_log_dumps_nothing(a_run: Callable[..., Run], tmp_path: Path) -> None:
    """A log without events is a file without lines."""
    run = a_run()
    run.events.clear()
    with MetricsReporter(run.write()) as reporter:
        reporter.dump_to_json(json_path=tmp_path / "none.jsonl")
    assert (tmp_path / "none.jsonl").read_bytes() == b""


def test_a_report_displays_itself(a_run: Callable[..., Run]) -> None:
    """A report hands its text to whatever takes it; the summary is shorter."""
    report = a_run().answers(5, 6, usage=(1, 2)).ends().report()
    shown: list[str] = []
    report.display(shown.append)
    report.display(shown.append, summary_only=True)
    assert "TTFT" in shown[0]
    assert len(shown[1]) < len(shown[0])


def test_no_other_client_type() -> None:
    """The error for another client type names the one that is supported."""
    with pytest.raises(OptionError, match="unknown client type 'pandas'; use 'duckdb'"):
        MetricsReporter("anything", client_type="pandas")


def test_options_are_checked_before_the_log_is_read(tmp_path: Path) -> None:
    """A wrong method is refused even where there is no log; the missing log is reported after it."""
    with MetricsReporter(tmp_path) as reporter:
        with pytest.raises(OptionError, match="unknown percentile method 'median'"):
            reporter.create_report(percentile_method="median")
        with pytest.raises(NotALogError):
            reporter.create_report()
        with pytest.raises(NotALogError):
            reporter.dump_to_json(tmp_path / "events.jsonl")


@pytest.mark.slow
def test_a_closed_reporter_reads_the_log_again(a_run: Callable[..., Run]) -> None:
    """A reporter keeps to the moment at which it read the log, until it is closed."""
    run = a_run().answers(5, usage=(1, 1)).ends()
    reporter = MetricsReporter(run.write())
    assert reporter.create_report().counts.issued == 1
    (run.folder / "events.db").unlink()
    run.fails().write()
    assert reporter.create_report().counts.issued == 1
    reporter.close()
    reporter.close()
    assert reporter.create_report().counts.issued == 2
    reporter.close()


@pytest.mark.slow
def test_data_that_json_cannot_hold_is_a_finding(a_run: Callable[..., Run]) -> None:
    """The log has the cause in its place, and the run is invalid: what it said is in no figure."""
    run = a_run().answers(20, 40, usage=(1, 2), issue={"reused": object()})
    run.session(EventType.TELEMETRY, 50, source="\ud800").happens(EventType.COMPLETE, 60, message=object())
    report = run.ends().report()
    (finding,) = [item for item in report.findings if item.code == "data_not_written"]
    assert finding.message.startswith("The data of 3 events (such as COMPLETE) is not valid JSON")
    assert not report.validity.valid
    sound = a_run().answers(20, 40, usage=(1, 2)).ends().report()
    assert not [item for item in sound.findings if item.code == "data_not_written"]
