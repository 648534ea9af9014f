"""The report beside a log is read instead of computed, where it is what would be computed."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from loadgen.sessions.gating.reference import read_rules
from loadgen.sessions.run.report import make_report, write_report
from loadgen.sessions.run.run_folder import REPORT
from loadgen.sessions.series.stored_report import kept_report
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
def kept(reported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that run, whose report was written by the version that it was made by."""
    folder = Path(shutil.copytree(reported, tmp_path / "run"))
    made = orjson.loads((folder / REPORT).read_bytes())["run"]["versions"]["llm-loadgen"]
    monkeypatch.setattr("loadgen.sessions.series.stored_report.package_version", lambda _: made)
    return folder


def change(run: Path, **run_says: Any) -> None:
    """Have the report say something else of its run."""
    told = orjson.loads((run / REPORT).read_bytes())
    told["run"] |= run_says
    (run / REPORT).write_bytes(orjson.dumps(told))


def remove_findings(run: Path) -> None:
    """Have the report say nothing of the client, which a busy machine makes late."""
    told = orjson.loads((run / REPORT).read_bytes())
    told["findings"], told["validity"] = [], {"valid": True, "reasons": []}
    (run / REPORT).write_bytes(orjson.dumps(told))


def test_it_is_what_would_be_computed(kept: Path) -> None:
    """To the digits that the file has, whatever rules somebody has judged it by since."""
    before = kept_report(kept)
    assert before is not None
    computed = make_report(kept, None)
    assert (before.counts, before.findings, before.verdict) == (computed.counts, computed.findings, None)
    assert before.ttft_ms is not None
    assert computed.ttft_ms is not None
    assert before.ttft_ms.p99 == pytest.approx(computed.ttft_ms.p99, abs=1e-6)
    assert write_report(kept, read_rules(["ttft:max<1us"], None)).verdict is not None
    # On a busy machine the client is late, and other figures decide by the rules than without any.
    assert kept_report(kept) in (None, before)


def test_the_verdict_is_by_the_rules_of_the_run(kept: Path) -> None:
    """They are judged anew: what the file has for a verdict may be by others."""
    rules = read_rules(["ttft:max<1us"], None)
    assert rules is not None
    change(kept, ruleset=rules.to_dict(), own_delay_decides=["TTFT max"])
    remove_findings(kept)
    found = kept_report(kept)
    assert found is not None
    assert found.verdict is not None
    assert found.verdict.status == "FAIL"


@pytest.mark.parametrize(
    ("rules", "definitions"),
    [
        (["ttft:p(12.5)<60s"], {}),
        (["good(ttft<60s):fraction>=1%"], {}),
        (["qps>0"], {"tpot_end": "complete"}),
    ],
)
def test_what_a_report_cannot_tell_is_computed(
    kept: Path, rules: list[str], definitions: dict[str, Any]
) -> None:
    """Where the rules ask for more than its summaries, or for figures by other definitions."""
    own = replace(of_expressions(rules), definitions=Definitions(**definitions))
    change(kept, ruleset=own.to_dict())
    assert kept_report(kept) is None


@pytest.mark.parametrize(
    "said",
    [
        {"percentile_method": "nearest_rank"},
        {"tpot_mode": "token_weighted"},
        {"versions": {"llm-loadgen": "0.0.0"}},
        {"ended": "running"},
        {"ended": "cut_off"},
    ],
)
def test_one_that_was_made_otherwise_is_not_used(kept: Path, said: Any) -> None:
    """By other options, another version, or before the end."""
    change(kept, **said)
    assert kept_report(kept) is None


def test_one_that_is_older_than_the_log_is_not_used(kept: Path) -> None:
    """Nor one that is none, or is not there."""
    later = (kept / REPORT).stat().st_mtime_ns + 1
    os.utime(kept / LOG_NAME, ns=(later, later))
    assert kept_report(kept) is None
    (kept / REPORT).write_text("{}")
    assert kept_report(kept) is None
    (kept / REPORT).unlink()
    assert kept_report(kept) is None
