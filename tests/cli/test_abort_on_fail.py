"""A run that cannot pass any more ends early, with --abort-on-fail."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.cli.terminal.progress_observer import Terminal
from loadgen.driver.stop import Stop
from loadgen.driver.system.clock import system_clock
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.follower import Follower, metrics_of, watches
from loadgen.sessions.run.gate_watch import require_watchable, watch_gate
from loadgen.sessions.run.report_of_log import make_report
from loadgen.sessions.run_session import outcome, run
from loadgen.sessions.settings.perf import perf_settings
from reporter.live.growing_log import GrowingLog
from reporter.log.query import query
from rulesets.ruleset import of_expressions
from tests.reporter.conftest import Run, ns

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess
    from rulesets.ruleset import Ruleset

RULES = """
schema: rulesets/1
ruleset: {name: strict, version: "1"}
validity: {min_duration_s: 600, min_samples: 100000}
targets: ["ttft:p(50)<1ms", "qps>0.1"]
"""


def test_a_run_whose_gate_is_lost_ends_early_and_fails(mock: MockProcess, tmp_path: Path) -> None:
    """It ends after seconds instead of ten minutes. Rules that so short a run cannot meet are skipped."""
    rules = tmp_path / "strict.yaml"
    rules.write_text(RULES)
    report, folder = run(
        perf_settings(
            url=[mock.url],
            model="small-model",
            api_key="sk-right-key",
            concurrency=8,
            duration=600.0,
            ruleset=str(rules),
            abort_on_fail=True,
            on_invalid="warn",
            quiet=True,
            out=tmp_path / "run",
        )
    )
    assert (report.run.ended, outcome(report)) == ("gate_lost", 1)
    assert report.validity.stands
    [finding] = [item for item in report.findings if item.code == "gate_lost"]
    assert "ttft:p(50)<1ms is lost: " in finding.message
    assert report.counts.in_flight == 0
    assert report.window.kind == "duration"
    assert (report.window.duration_s or 600) < 300
    assert report.verdict is not None
    rows = {row.id: row for row in report.verdict.rows}
    assert {name: row.status for name, row in rows.items()} == {
        "validity.min_samples": "SKIP",
        "validity.min_duration_s": "SKIP",
        "ttft:p(50)<1ms": "FAIL",
        "qps:value>0.1req/s": "PASS",
    }
    assert "its gate was lost" in rows["validity.min_samples"].reason
    ends = "type IN ('TEST_ENDED', 'STOP_PERFORMANCE_TRACKING')"
    reasons = query(folder, f"SELECT DISTINCT data->>'reason' FROM events WHERE {ends}")  # noqa: S608 (ours)
    assert reasons.rows == [("gate_lost",)]
    # Rules that it meets did not end it, and a run that was cut short stands for nothing else.
    loose = make_report(folder, of_expressions(["qps>0.1"])).verdict
    assert loose is not None
    assert loose.status == "INVALID"
    assert "run again without --abort-on-fail" in loose.reasons[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "planned", "lost"),
    [
        (["ttft:max<1us"], 10, ("ttft:max<1us", "10 of 10 so far miss it")),
        (["ttft:p(50)<10s", "ttft:p(50)<1us"], 10, ("ttft:p(50)<1us", "10 of 10 so far miss it, and of 10")),
        (["ttft:p(50)<1us"], 30, None),
        (["ttft:p(50)<1us"], None, None),
        (["ttft:max<1us!warn"], 10, None),
        (["completed>=11"], 10, ("completed:count>=11", "at most 10")),
    ],
)
def test_a_log_is_evaluated_by_the_targets(
    made_run: Path, rules: list[str], planned: int | None, lost: tuple[str, str] | None
) -> None:
    """The result is the first lost one, with the reason."""
    ruleset = of_expressions(rules)
    result = look(made_run, ruleset, planned)
    assert (result is None) == (lost is None)
    if result and lost:
        assert result[0] == lost[0]
        assert result[1].startswith(lost[1])


def look(folder: Path, rules: Ruleset, planned: int | None) -> tuple[str, str] | None:
    """The target that a log has lost, and why."""
    watched = watches(rules)
    with GrowingLog(folder / "events.db", rules.definitions, metrics_of(watched)) as log:
        return Follower(log, watched, planned).look()


@pytest.mark.parametrize(
    ("early_ms", "lost"), [(0, "200 of 200 so far miss it"), (5, "200 of 200 so far miss it"), (60, None)]
)
def test_a_run_is_not_ended_for_a_target_that_late_reads_can_have_missed(
    tmp_path: Path, early_ms: int, lost: str | None
) -> None:
    """Its first tokens are stamped after 100 ms, and can have arrived so much earlier."""
    run = Run(tmp_path).begins()
    for number in range(200):
        at_ms = 200.0 * number
        low_ns = ns(at_ms + 100 - early_ms)
        run.answers(
            *(at_ms + 100, at_ms + 130),
            at_ms=at_ms,
            usage=(1, 2),
            first_token_low_ns=low_ns,
            first_output_low_ns=low_ns,
            late_chunks=[0, 1, 1000 * early_ms] if early_ms else None,
        )
    result = look(run.write(), of_expressions(["ttft:p(50)<50ms", "latency:max<10s"]), None)
    assert (result is None) == (lost is None)
    assert result is None or lost is None or result[1].startswith(lost)


def test_what_is_left_out_of_the_verdict_ends_no_run() -> None:
    """By its id or its group."""
    rules = of_expressions(["ttft:max<1us", "failed==0"])
    assert [watch.target.metric for watch in watches(rules)] == ["ttft", "failed"]
    assert [watch.target.metric for watch in watches(rules, ["ttft:max<1us"])] == ["failed"]
    assert watches(rules, ["target"]) == []


@pytest.mark.parametrize(
    ("require", "message"),
    [
        ([], "--abort-on-fail without rules: give --require or --ruleset"),
        (["qps>5"], "--abort-on-fail: no target can be lost before the end of a run"),
        (["failed==0!warn"], "no target can be lost"),
    ],
)
def test_nothing_to_abort_for_is_refused(require: list[str], message: str) -> None:
    """Before anything is sent."""
    perf = perf_settings(url=["http://127.0.0.1:1"], model="m", require=require, abort_on_fail=True)
    prepared: Any = SimpleNamespace(perf=perf, rules=of_expressions(require) if require else None)
    with pytest.raises(UsageError) as refused:
        require_watchable(prepared)
    assert message in str(refused.value)


def test_a_run_survives_the_process_that_follows_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It says that it is no longer followed, and continues."""
    nobody: Any = None

    async def follow() -> Stop:
        stop, clock = Stop(), system_clock()
        await watch_gate(tmp_path / "no.db", nobody, nobody, clock, stop, Terminal())
        clock.close()
        return stop

    assert asyncio.run(follow()).reason is None
    stderr = capfd.readouterr().err
    assert "error: --abort-on-fail: NotALogError: " in stderr
    assert "note: the process that follows the run for --abort-on-fail ended by itself (1)" in stderr
    assert "Traceback" not in stderr
