"""What the campaigns of `make kill`, `make soak` and `make chaos` demand before they say PASS."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from loadgen.mock_endpoint.scenarios.chaos import AFTER_UNASKED
from loadgen.mock_endpoint.truth import PlayedTruth

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def campaign(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A campaign by its name: scripts, not modules of a package."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return import_module


def test_a_round_of_kills_takes_load(campaign: Any) -> None:
    """Below 2,000 answers per second a round proves nothing, and neither does one with late answers."""
    kill = campaign("kill")
    good = {
        "killed": "parent",
        "after_s": 1.0,
        "asked_per_s": 2200.0,
        "per_s": 2000,
        "finished": 100,
        "missing": 0,
        "oldest_ms": 0.0,
        "wait_ms": 20.0,
        "lag_ms": 1.0,
        "busy": 0,
        "behind_ms": 20.0,
        "untrue": 0,
        "left": 0,
        "reported": True,
    }
    assert kill.Round(**good).passed
    idle = kill.Round(**good | {"per_s": 1999})
    late = kill.Round(**good | {"missing": 1, "wait_ms": 150.0})
    assert [(round_.passed, round_.in_doubt) for round_ in (idle, late)] == [(False, True)] * 2
    for broken in (
        {"missing": 1},
        {"untrue": 1},
        {"behind_ms": None},
        {"left": 1, "per_s": 1},
        {"reported": False},
    ):
        bad = kill.Round(**good | broken)
        assert not bad.passed
        assert not bad.in_doubt
    assert "IN DOUBT" in kill._table([idle, late])


def test_a_log_that_is_not_as_a_kill_leaves_it_is_not_reported(campaign: Any, tmp_path: Path) -> None:
    """Another process opened it before the report did."""
    assert campaign("kill")._report(tmp_path, "cut_off") is None


def test_chaos_takes_faults(campaign: Any) -> None:
    """About as many as were asked for."""
    faulty = campaign("chaos")._faulty
    assert list(faulty(10_000, 2_050, 0.2)) == []
    assert list(faulty(100, 0, 0.0)) == []
    for faults in (0, 1_500, 2_500):
        assert list(faulty(10_000, faults, 0.2)) == [
            f"{faults} of 10000 requests met a fault, and 20 % of them were to"
        ]


def test_chaos_takes_a_valid_run(campaign: Any) -> None:
    """But for a machine that is too slow."""
    findings = [
        {"severity": "error", "code": "client_limited", "message": "slow"},
        {"severity": "warning", "code": "many_failures", "message": "many"},
        {"severity": "error", "code": "terminal_twice", "message": "Twice."},
    ]
    assert list(campaign("chaos")._invalid({"findings": findings})) == ["the run is invalid: Twice."]


@pytest.mark.parametrize(
    ("ended", "sent_ns", "wrong"),
    [("completed", 999_000, False), ("completed", 2_000_000, True), ("unasked_response", 2_000_000, False)],
)
def test_chaos_takes_no_response_that_came_before_its_request(
    campaign: Any, ended: str, sent_ns: int, *, wrong: bool
) -> None:
    """Only a request that was on its way may have been completed by another's response."""
    truth = {
        "a": PlayedTruth("a", "/", 1_000_100, scenario=AFTER_UNASKED, unasked_ns=1_000_000),
        "b": PlayedTruth("b", "/", 1_000_100, scenario="short"),
    }
    endings = {"a": [ended], "b": ["completed"]}
    faults = list(campaign("chaos")._completed_too_early(endings, truth, {"a": sent_ns, "b": 5_000_000}))
    assert bool(faults) is wrong


def test_chaos_takes_a_report_of_unasked_responses(campaign: Any) -> None:
    """Only where it has a finding that says so."""
    reported = campaign("chaos")._unasked_reported
    with_finding = {"findings": [{"code": "unasked_responses", "severity": "error"}]}
    assert list(reported(with_finding, {"a": ["unasked_response"]})) == []
    assert list(reported({"findings": []}, {"a": ["completed"]})) == []
    assert len(list(reported({"findings": []}, {"a": ["unasked_response"]}))) == 1


@pytest.mark.parametrize(
    ("code", "outcomes"), [(0, {"reported": 2}), (2, {"reported as damaged": 2}), (70, {}), (None, {})]
)
def test_a_damaged_log_is_reported_or_refused_as_damaged(
    campaign: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: int | None, outcomes: dict[str, int]
) -> None:
    """Any other end is wrong, and is reported with the damage."""
    damaged = campaign("damaged_logs")
    log = tmp_path / "events.db"
    log.write_bytes(b"x" * 100)

    def ends(_: Any, stderr: Path) -> int | None:
        stderr.write_text("a traceback")
        return code

    monkeypatch.setattr(damaged, "_exit_code", ends)
    monkeypatch.setattr(damaged, "_targets", lambda: SimpleNamespace(spoil=lambda *_: None))
    damages = damaged.damaged_logs(log, 1, 0)
    assert (damages.outcomes, len(damages.wrong)) == (outcomes, 0 if outcomes else 2)


def test_a_worker_that_is_not_found_is_reported(campaign: Any, tmp_path: Path) -> None:
    """Memory that was not measured does not count as flat."""
    (tmp_path / "output").write_text("it failed")
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
        with pytest.raises(RuntimeError, match="of 2 workers 1 were found: it failed"):
            campaign("under_load").require_all([os.getpid()], 2, process, tmp_path / "run")


@pytest.mark.parametrize(
    ("valid", "completed", "options", "code"),
    [
        (True, 2, [], 0),
        (False, 2, [], 1),
        (True, 1, [], 1),
        (False, 2, ["--capacity-share", "0.9"], 0),
        (False, 1, ["--capacity-share", "0.9"], 1),
    ],
)
def test_a_soak_takes_a_valid_run(
    campaign: Any,
    monkeypatch: pytest.MonkeyPatch,
    *,
    valid: bool,
    completed: int,
    options: list[str],
    code: int,
) -> None:
    """An invalid one stands for nothing, however flat it is, but near the client's capacity.

    Every request that was issued completes; one that was due at the very end may not have been issued.
    """
    soak = campaign("soak")
    counts = {"completed": completed, "issued": 2, "scheduled": 3}
    report = {"counts": counts, "validity": {"valid": valid}, "findings": []}
    monkeypatch.setattr(soak, "run", lambda _: ([], report))
    monkeypatch.setattr(soak, "POSSIBLE", True)
    monkeypatch.setattr(sys, "argv", ["soak.py", *options])
    assert soak.main() == code
