"""The report next to a log is read instead of computed, where both would be equal."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from loadgen.sessions.files.run_folder import REPORT
from loadgen.sessions.gating.reference import read_rules
from loadgen.sessions.run.report import make_report, write_report
from loadgen.sessions.series.stored_report import stored_report
from recorder.store import LOG_NAME
from rulesets.definitions import Definitions
from rulesets.ruleset import of_expressions


@pytest.fixture(scope="module")
def reported(made_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose report was written by the functions that these tests call; not to be changed."""
    folder = Path(shutil.copytree(made_run, tmp_path_factory.mktemp("reported") / "run"))
    write_report(folder, None)
    return folder


@pytest.fixture
def reported_copy(reported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that run, whose report was written by this version."""
    folder = Path(shutil.copytree(reported, tmp_path / "run"))
    made = orjson.loads((folder / REPORT).read_bytes())["run"]["versions"]["llm-loadgen"]
    monkeypatch.setattr("loadgen.sessions.series.stored_report.package_version", lambda _: made)
    return folder


def change(run: Path, **run_says: Any) -> None:
    """Change facts of the run in its report."""
    stored = orjson.loads((run / REPORT).read_bytes())
    stored["run"] |= run_says
    (run / REPORT).write_bytes(orjson.dumps(stored))


def remove_findings(run: Path) -> None:
    """Remove findings about the client from the report: a busy machine makes it late."""
    stored = orjson.loads((run / REPORT).read_bytes())
    stored["findings"], stored["validity"] = [], {"valid": True, "reasons": []}
    (run / REPORT).write_bytes(orjson.dumps(stored))


@pytest.mark.slow
def test_it_is_what_would_be_computed(reported_copy: Path) -> None:
    """To the digits of the file, whatever rules it was evaluated by since."""
    before = stored_report(reported_copy)
    assert before is not None
    computed = make_report(reported_copy, None)
    assert (before.counts, before.findings, before.verdict) == (computed.counts, computed.findings, None)
    assert before.ttft_ms is not None
    assert computed.ttft_ms is not None
    assert before.ttft_ms.p99 == pytest.approx(computed.ttft_ms.p99, abs=1e-6)
    assert write_report(reported_copy, read_rules(["ttft:max<1us"], None)).verdict is not None
    # On a busy machine the client is late, and other figures decide by the rules than without any.
    assert stored_report(reported_copy) in (None, before)


def test_the_verdict_is_by_the_rules_of_the_run(reported_copy: Path) -> None:
    """They are evaluated again: the verdict in the file may be by other rules."""
    rules = read_rules(["ttft:max<1us"], None)
    assert rules is not None
    change(reported_copy, ruleset=rules.to_dict(), own_delay_decides=["TTFT max"])
    remove_findings(reported_copy)
    read = stored_report(reported_copy)
    assert read is not None
    assert read.verdict is not None
    assert read.verdict.status == "FAIL"


@pytest.mark.parametrize(
    ("rules", "definitions"),
    [
        (["ttft:p(12.5)<60s"], {}),
        (["good(ttft<60s):fraction>=1%"], {}),
        (["qps>0"], {"tpot_end": "complete"}),
    ],
)
def test_figures_that_a_report_lacks_are_computed(
    reported_copy: Path, rules: list[str], definitions: dict[str, Any]
) -> None:
    """Where the rules ask for more than its summaries, or for figures by other definitions."""
    own = replace(of_expressions(rules), definitions=Definitions(**definitions))
    change(reported_copy, ruleset=own.to_dict())
    assert stored_report(reported_copy) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"percentile_method": "nearest_rank"},
        {"tpot_mode": "token_weighted"},
        {"versions": {"llm-loadgen": "0.0.0"}},
        {"ended": "running"},
        {"ended": "cut_off"},
    ],
)
def test_a_report_by_other_options_is_not_used(reported_copy: Path, changes: Any) -> None:
    """By other options, another version, or before the end."""
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
