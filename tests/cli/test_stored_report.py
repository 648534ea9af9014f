"""The report next to a log is read instead of computed, where both would be equal."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest

from loadgen.sessions.files.run_folder import REPORT
from loadgen.sessions.run.report_of_log import make_report, write_report
from loadgen.sessions.series.outcomes_so_far import stored_report
from recorder.store import LOG_NAME
from reporter.costs import Price, PriceTable
from reporter.report_options import ReportOptions
from rulesets.ruleset import of_expressions


@pytest.fixture(scope="module")
def reported(made_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose report was written by the functions that these tests call; not to be changed."""
    folder = Path(shutil.copytree(made_run, tmp_path_factory.mktemp("reported") / "run"))
    write_report(folder, None, as_started=True)
    return folder


@pytest.fixture
def reported_copy(reported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that run, whose report was written by this version."""
    folder = Path(shutil.copytree(reported, tmp_path / "run"))
    made = orjson.loads((folder / REPORT).read_bytes())["run"]["versions"]["llm-loadgen"]
    monkeypatch.setattr("loadgen.sessions.series.outcomes_so_far.package_version", lambda _: made)
    return folder


def change(run: Path, **run_says: Any) -> None:
    """Change facts of the run in its report."""
    stored = orjson.loads((run / REPORT).read_bytes())
    stored["run"] |= run_says
    (run / REPORT).write_bytes(orjson.dumps(stored))


def test_it_is_what_would_be_computed(reported_copy: Path) -> None:
    """To the digits of the file."""
    before = stored_report(reported_copy)
    assert before is not None
    computed = make_report(reported_copy, None)
    assert (before.counts, before.findings, before.verdict) == (computed.counts, computed.findings, None)
    assert before.ttft_ms is not None
    assert computed.ttft_ms is not None
    assert before.ttft_ms.p99 == pytest.approx(computed.ttft_ms.p99, abs=1e-6)


@pytest.mark.parametrize(
    "choices",
    [
        {"rules": of_expressions(["ttft:max<1us"])},
        {"options": ReportOptions(percentile_method="nearest_rank")},
        {
            "options": ReportOptions(
                prices=PriceTable("prices.yaml", (Price("*", 1, 0.5, 10, 20, "2026-01-01", "me"),))
            )
        },
        {"options": ReportOptions(on_invalid="warn")},
        {"choice": {"tpot_end": "complete"}},
    ],
)
def test_one_with_the_choices_of_a_reader_is_not_used(reported_copy: Path, choices: Any) -> None:
    """Whatever was chosen: a command that takes choices does not say that they are those of the run."""
    write_report(reported_copy, **{"rules": None, **choices})
    assert stored_report(reported_copy) is None


def test_one_without_choices_is_used(reported_copy: Path) -> None:
    """A report that is made again with nothing chosen is the report of the run."""
    (reported_copy / REPORT).unlink()
    write_report(reported_copy, None)
    assert stored_report(reported_copy) is not None


@pytest.mark.parametrize(
    "changes",
    [
        {"versions": {"llm-loadgen": "0.0.0"}},
        {"ended": "running"},
        {"ended": "cut_off"},
    ],
)
def test_a_report_by_another_version_is_not_used(reported_copy: Path, changes: Any) -> None:
    """Nor one from before the end."""
    change(reported_copy, **changes)
    assert stored_report(reported_copy) is None


def test_one_that_is_older_than_the_log_is_not_used(reported_copy: Path) -> None:
    """Nor an invalid one, or a missing one."""
    later = (reported_copy / REPORT).stat().st_mtime_ns + 1
    os.utime(reported_copy / LOG_NAME, ns=(later, later))
    assert stored_report(reported_copy) is None
    (reported_copy / REPORT).write_text("{}")
    assert stored_report(reported_copy) is None
    (reported_copy / REPORT).unlink()
    assert stored_report(reported_copy) is None
