"""A log of format 1, from before there were segments, is read as it always was."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from reporter import MetricsReporter
from reporter.log.query import VIEWS, query
from tests.for_each import for_each

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reporter.log.query import QueryResult

FORMAT_1 = """
PRAGMA application_id = 0x4C4F4447;
PRAGMA user_version = 1;
CREATE TABLE session (
    session_id      TEXT PRIMARY KEY,
    started_at_ns   INTEGER NOT NULL,
    started_wall_ns INTEGER NOT NULL,
    settings        TEXT NOT NULL,
    environment     TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE event_types (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE events (
    seq           INTEGER PRIMARY KEY,
    code          INTEGER NOT NULL REFERENCES event_types (code),
    at_ns         INTEGER NOT NULL,
    sample_uuid   TEXT,
    data          TEXT,
    texts         TEXT,
    chunk_gaps_us BLOB
);
INSERT INTO session VALUES ('old', 1000000000, 1767323045000000000, '{"model":"llama"}', '{"host":"then"}');
INSERT INTO event_types VALUES (1, 'TEST_STARTED'), (2, 'PHASE_STARTED'), (3, 'PHASE_ENDED'),
    (4, 'STOP_PERFORMANCE_TRACKING'), (5, 'TEST_ENDED'), (20, 'LOADGEN_ISSUE_CALLED'), (21, 'REQUEST_SENT'),
    (22, 'FIRST_CHUNK'), (23, 'COMPLETE');
INSERT INTO events (code, at_ns, sample_uuid, data, texts, chunk_gaps_us) VALUES
    (1, 1000000000, NULL, NULL, NULL, NULL),
    (2, 1001000000, NULL, '{"phase":"performance","duration_s":null,"requests":1}', NULL, NULL),
    (20, 1002000000, 'a', '{"scheduled_ns":1002000000,"phase":"performance","prompt_id":0}',
        '{"prompt":"hi"}', NULL),
    (21, 1003000000, 'a', '{"reused":false,"dns_ms":null,"connect_ms":0.5,"tls_ms":null}', NULL, NULL),
    (22, 1013000000, 'a', NULL, NULL, NULL),
    (23, 1024000000, 'a', '{"status":200,"stream":true,"first_byte_ns":1012000000,"first_token_ns":1013000000,
        "first_output_ns":1013000000,"last_token_ns":1023000000,"chunks":2,"reads":2,"coalesced":0,"bytes":90,
        "finish_reason":"stop","input_tokens":3,"output_tokens":2}', '{"output":"hello"}',
        x'1027000010270000'),
    (4, 1024500000, NULL, '{"reason":"requests","scheduled":1}', NULL, NULL),
    (5, 1025000000, NULL, '{"reason":"completed"}', NULL, NULL);
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A run of one request."""
    with closing(sqlite3.connect(tmp_path / "events.db")) as connection:
        connection.executescript(FORMAT_1)
    return tmp_path


def test_an_old_run_is_reported(old: Path) -> None:
    """All of it is one segment, whose figures are what they were."""
    with MetricsReporter(old) as reporter:
        report = reporter.create_report()
    assert report.validity.valid
    assert report.run.ended == "completed"
    assert [segment.completed for segment in report.run.segments] == [1]
    assert report.ttft_ms is not None
    assert report.ttft_ms.p50 == 10.0
    assert report.window.duration_s == pytest.approx(0.022)
    assert "resumed" not in {finding.code for finding in report.findings}


@pytest.mark.slow
@for_each("view", VIEWS)
def test_every_view_shows_an_old_run(old: Path, ask: Callable[..., QueryResult], view: str) -> None:
    """None of them asks for what the log does not have; a query that names a big table loads it."""
    empty = {
        *("telemetry", "findings", "violations"),
        *("questions", "question_references", "scores", "passes", "reported_passes", "judge_calls"),
        *("sensors", "server_metrics", "server_pages", "request_energy"),
        *("episodes", "open_episodes", "tool_calls", "nodes", "sessions", "session_turns"),
        *("server_times", "speculation", "speculation_counters", "vectors", "agreement"),
    }
    answer = (query if view == "outputs" else ask)(old, f"FROM {view}")
    assert bool(answer.rows) == (view not in empty)


def test_an_old_log_that_was_cut_off(old: Path) -> None:
    """It has one segment without an end."""
    with closing(sqlite3.connect(old / "events.db")) as connection, connection:
        connection.execute("DELETE FROM events WHERE code = 5")
    assert query(old, "SELECT ended, started_at_utc::VARCHAR FROM sittings WHERE sitting = 1").rows == [
        ("cut_off", "2026-01-02 03:04:05")
    ]
