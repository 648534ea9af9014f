"""`loadgen report --by`: what a run is broken down by, asked for by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from loadgen.cli.report import report
from loadgen.sessions.errors import UsageError
from recorder import EventRecorder, EventType

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of three requests with a tag."""
    with EventRecorder(
        path=tmp_path / "events.db", settings={"load": {"kind": "closed", "concurrency": 1}}
    ) as log:
        log.record_event(EventType.PHASE_STARTED, 1, data={"phase": "performance"})
        for number, size in enumerate(("small", "big", "big")):
            at_ns = 1_000_000 * (1 + number)
            issue = {
                "scheduled_ns": at_ns,
                "phase": "performance",
                "prompt_id": number,
                "tags": {"size": size},
            }
            log.record_event(EventType.LOADGEN_ISSUE_CALLED, at_ns, f"{number}", data=issue)
            log.record_event(EventType.REQUEST_SENT, at_ns, f"{number}", data={"reused": True})
            log.record_event(EventType.COMPLETE, at_ns + 900_000, f"{number}", data={"stream": False})
        log.record_event(EventType.TEST_ENDED, 9_000_000, data={"reason": "completed"})
    return tmp_path


def test_tables_are_printed_where_they_are_asked_for(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By a tag and by the time, in that order, after the report."""
    report(run, by=["size", "time"])
    shown = capsys.readouterr().out
    assert shown.index("Latency") < shown.index("By size") < shown.index("By time")
    assert "\nbig " in shown


@pytest.mark.parametrize("name", ["endpoint", "color", ""])
def test_what_is_not_there_is_refused(run: Path, name: str) -> None:
    """The error names what there is."""
    with pytest.raises(UsageError, match=f"--by {name}: no such breakdown in the run; choose size, time"):
        report(run, by=[name])


def test_json_has_it_all(run: Path) -> None:
    """So it is an error to ask for a part of it."""
    with pytest.raises(UsageError, match="leave --by out"):
        report(run, json=True, by=["size"])
