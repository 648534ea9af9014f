"""What a trial of a search says where chunks were read late: what only they could decide is unclear."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from loadgen.sessions.run.report_of_log import make_report
from loadgen.sessions.series.search import meeting
from loadgen.sessions.series.search.meeting import evaluate
from loadgen.sessions.series.search.requirements import required_of
from loadgen.sessions.series.search.trials import too_few_sessions
from rulesets.demands import ValidityDemand
from rulesets.evaluation import evaluate as evaluate_rules
from rulesets.report_evidence import ReportEvidence
from rulesets.ruleset import Ruleset, of_expressions
from tests.remembered_logs import remembered_log
from tests.reporter.conftest import Run
from tests.reporter.test_doubtful_stamps import delayed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every rule is evaluated on the same opened log."""
    monkeypatch.setattr(meeting, "open_log", remembered_log)


def recorded(folder: Path, rules: list[str], own_ms: float, low_ms: float) -> Path:
    """A run by these rules, of 200 requests: first tokens after 100 ms, or as early as `low_ms`."""
    run = Run(folder).begins()
    run.settings |= {"load": {"kind": "constant", "rate": 5.0}, "ruleset": of_expressions(rules).to_dict()}
    return delayed(run, own_ms, low_ms).write()


LATE_READS = {
    "ttft:p(50)<200ms": "met",
    "ttft:p(50)<90ms": "unclear",
    "ttft:p(50)<50ms": "missed",
    "ttft:mean<200ms": "met",
    "ttft:mean<90ms": "unclear",
    "ttft:mean<50ms": "missed",
    "ttft:max<90ms": "unclear",
    "good(ttft<90ms):fraction>50%": "unclear",
    "good(ttft<50ms):fraction>50%": "missed",
    "error<5%": "met",
}
"""What a trial says of each rule where first tokens arrived after 60 to 100 ms."""


@pytest.mark.slow
def test_what_late_reads_can_decide_is_unclear(tmp_path: Path) -> None:
    """As it is inconclusive for a gate."""
    log = recorded(tmp_path, list(LATE_READS), 0.0, 60.0)
    report = make_report(log, None)
    answers = {rule: evaluate(required_of([rule], None), report, log) for rule in LATE_READS}
    assert {rule: str(status) for rule, (status, _) in answers.items()} == LATE_READS
    unclear = {rule for rule, (_, why) in answers.items() if "chunks were read late" in why}
    assert unclear == {rule for rule, status in LATE_READS.items() if status == "unclear"}


CLIENT_OVERHEAD = {"ttft:p(50)<105ms": "unclear", "ttft:p(50)<109ms": "met", "ttft:p(50)<45ms": "missed"}


@pytest.mark.slow
def test_so_is_what_client_overhead_can_decide(tmp_path: Path) -> None:
    """8 ms of 100 ms are not too much of it, and of 60 ms they are."""
    log = recorded(tmp_path, list(CLIENT_OVERHEAD), 8.0, 60.0)
    report = make_report(log, None)
    answers = {rule: evaluate(required_of([rule], None), report, log) for rule in CLIENT_OVERHEAD}
    assert {rule: str(status) for rule, (status, _) in answers.items()} == CLIENT_OVERHEAD


@pytest.mark.parametrize(("completed", "why"), [(29, "the number of completed sessions"), (30, "")])
def test_a_trial_with_too_few_sessions_does_not_count(completed: int, why: str) -> None:
    """As AgentPerf asks for 30 trajectories: the trial is repeated for longer."""
    rules = Ruleset("r", "1", (), validity=ValidityDemand(min_sessions=30, min_duration_s=600))
    facts = {"run": {}, "counts": {}, "sessions": {"count": 40, "endings": {"completed": completed}}}
    assert too_few_sessions(evaluate_rules(rules, ReportEvidence(facts))).startswith(why)
    assert bool(why) == bool(too_few_sessions(evaluate_rules(rules, ReportEvidence(facts))))
