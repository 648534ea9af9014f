"""Runs as a command line names them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from recorder.errors import LogError
from reporter.errors import NotARunError
from reporter.log.settings import LogHead
from reporter.references import evidence, evidences, log_head, runs_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

REPORT = {"run": {}, "counts": {"completed": 3}, "throughput": {"qps": 7.0}}


@pytest.fixture
def log(a_run: Callable[..., object]) -> Path:
    """The folder of a run of one request."""
    made: Path = a_run().answers(50, 60, 70).ends().write()  # type: ignore[attr-defined]  # a run in the making
    return made


def a_report(path: Path) -> Path:
    """A report by itself."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(REPORT))
    return path


def test_a_run_is_named_by_its_folder_its_log_or_its_report(log: Path, tmp_path: Path) -> None:
    """Each is itself."""
    report = a_report(tmp_path / "artifacts" / "report.json")
    for run in (log, log / "events.db", report, report.parent):
        assert runs_of(run) == [run]


def test_a_folder_of_runs_is_all_of_them_by_name(log: Path, tmp_path: Path) -> None:
    """Folders with a log or a report; other folders and files, such as JSON next to them, do not count."""
    a_report(tmp_path / "2" / "report.json")
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "events.db").write_bytes((log / "events.db").read_bytes())
    (tmp_path / "notes").mkdir()
    (tmp_path / "series.json").write_text("{}")
    assert runs_of(tmp_path) == [tmp_path / "1", tmp_path / "2"]


def test_a_folder_of_reports_is_all_of_them(tmp_path: Path) -> None:
    """As a CI job may keep them."""
    made = [a_report(tmp_path / f"main-{number}.json") for number in (1, 2, 3)]
    assert runs_of(tmp_path) == made


def test_a_path_that_is_not_a_run_is_refused(tmp_path: Path) -> None:
    """With its path, and what to name instead."""
    with pytest.raises(NotARunError, match="nowhere: no run folder has this name"):
        runs_of(tmp_path / "nowhere")
    with pytest.raises(NotARunError, match=r"not a run folder, it has no events\.db"):
        runs_of(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "not JSON"), ("[]", "not a report.json"), ('{"run": {}}', "not a report.json")],
)
def test_a_file_that_is_not_a_report_is_refused(content: str, message: str, tmp_path: Path) -> None:
    """With its path."""
    path = tmp_path / "main.json"
    path.write_text(content)
    with pytest.raises(NotARunError, match=rf"main\.json: {message}"), evidence(path):
        pass


def test_a_log_is_evidence_and_so_is_a_report(log: Path, tmp_path: Path) -> None:
    """All that references name, in their order."""
    report = a_report(tmp_path / "main.json")
    with evidences([log, report]) as runs:
        counts = [run.counts(())["completed"] for run in runs]
        assert counts == [1, 3]
        assert runs[0].sample("ttft", ()).mean() == 50
        assert runs[1].rate("qps", ()).value == 7


def test_a_log_has_the_settings_that_it_opened_with(log: Path, tmp_path: Path) -> None:
    """A report alone does not; a file that is not a log is refused."""
    opened = log_head(log)
    assert opened.settings == {"load": {"kind": "closed", "concurrency": 1}}
    assert opened.environment == {}
    assert log_head(a_report(tmp_path / "main.json")) == LogHead()
    (tmp_path / "events.db").write_text("no log")
    with pytest.raises(LogError, match=r"events\.db"):
        log_head(tmp_path)
