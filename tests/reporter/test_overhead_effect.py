"""The effect of client overhead on each figure, which figures decide, and what a user can accept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.sessions.run_session import outcome
from recorder import EventType
from rulesets import of_expressions
from rulesets.evaluators.client_delay import AffectedFigure, asked_figures
from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from reporter.report import Report
    from tests.reporter.conftest import Run

    NewRun = Callable[..., Run]

REQUESTS = 200


def hiccups(run: Run, own_ms: float, late: int = 4, server_ms: float = 10.0) -> Run:
    """A run whose server takes a constant time, and whose client sent `late` requests late."""
    for number in range(REQUESTS):
        at_ms, own = 20.0 * number, own_ms if number < late else 0.0
        issue = {"scheduled": at_ms, "sent": at_ms + own}
        run.answers(at_ms + own + server_ms, at_ms=at_ms + own, usage=(1, 1), issue=issue)
    return run.stops(20.0 * REQUESTS).ends(20.0 * REQUESTS + 100)


def codes(report: Report) -> dict[str, str]:
    """The findings that the client caused."""
    return {
        finding.code: finding.severity for finding in report.findings if finding.code.startswith("client_")
    }


def test_a_hiccup_of_a_few_ms_is_a_warning_with_its_effect_on_each_figure(a_run: NewRun) -> None:
    """2 ms in 2 % of the requests of a server of 10 ms: the p99 has them, the median has none."""
    report = hiccups(a_run(kind="constant", rate=50.0), 2.0).report()
    assert report.validity.valid
    assert codes(report) == {"client_late": "warning"}
    ttft = report.own_effect["ttft_ms"]
    assert (ttft["p99"].own_ms, ttft["p99"].of_ms) == (pytest.approx(2.0), pytest.approx(12.0))
    assert ttft["p99"].share == pytest.approx(1 / 6)
    assert ttft["p50"].own_ms == 0
    assert report.own_effect["latency_ms"]["p99"].own_ms == pytest.approx(2.0)
    assert "qps" not in report.own_effect
    (message,) = [finding.message for finding in report.findings if finding.code == "client_late"]
    assert "TTFT p99 incl. queueing (17 %, 2.0 of 12.0 ms)" in message
    assert "Not affected: TTFT p50 (0.00 ms)" in message


def test_a_longer_hiccup_makes_a_run_without_rules_invalid(a_run: NewRun) -> None:
    """Above 4 ms in the tail; the remedy says how to keep the run."""
    report = hiccups(a_run(kind="constant", rate=50.0), 5.0).report()
    assert (report.validity.valid, report.validity.accepted, codes(report)) == (
        False,
        False,
        {"client_limited": "error"},
    )
    assert report.findings[0].acceptable
    assert "--on-invalid warn" in report.findings[0].remedy


@pytest.mark.parametrize(
    ("rules", "valid"),
    [
        (["ttft:p(50)<12ms"], True),
        (["ttft:mean<12ms"], True),
        (["ttft:p(99)<12ms"], False),
        (["ttft:p(99)<8ms"], False),
        (["ttft:p(99)<16ms"], True),
        (["ttft:p(99)<4ms"], True),
        (["ttft:p(50)<12ms", "ttft_from_schedule:max<18ms"], False),
        (["ttft:p(50)<12ms", "ttft_from_schedule:max<21ms"], True),
        (["latency:p(98.5)<12ms"], False),
        (["good(ttft<1s):fraction>50%"], True),
        (["good(ttft<4ms):fraction>50%"], True),
        (["good(ttft<12ms):fraction>50%"], False),
        (["good(ttft<12ms):rate>50"], False),
        (["ttft:p(90)<40ms@ucl95"], True),
        (["ttft:p(98.5)<12ms@ucl95"], False),
        (["tpot:p(99)<1s", "error<50%", "qps>0", "output_tokens:p(50)>0"], True),
    ],
)
def test_the_figures_that_rules_ask_for_decide(a_run: NewRun, rules: list[str], *, valid: bool) -> None:
    """5 ms in the p99 of 15 ms invalidate a rule about it if its bound is near, and none about the median."""
    report = hiccups(a_run(kind="constant", rate=50.0), 5.0).report(judged_by=of_expressions(rules))
    assert report.validity.valid is valid
    assert codes(report) == ({"client_late": "warning"} if valid else {"client_limited": "error"})
    message = report.findings[0].message
    assert ("Client overhead cannot change the result of a rule" in message) is valid
    deciding = report.run.own_delay_decides
    assert set(deciding) <= set(map(str, asked_figures(of_expressions(rules)) or ()))
    assert ("TTFT p99" in deciding or "latency p99" in deciding or "TTFT max" in deciding) is not valid


def test_a_rule_about_a_percentile_is_stricter_than_none(a_run: NewRun) -> None:
    """2 ms of 12 ms are a warning without rules, and too much for a rule about that p99."""
    rules = of_expressions(["ttft:p(99)<11ms"])
    assert not hiccups(a_run(kind="constant", rate=50.0), 2.0).report(judged_by=rules).validity.valid


def test_in_a_closed_loop_the_throughput_is_affected(a_run: NewRun) -> None:
    """A stream that asks 5 ms late each time spends a third of its 15 ms on client overhead."""
    run = hiccups(a_run(kind="closed", concurrency=1), 5.0, late=REQUESTS)
    report = run.report(judged_by=of_expressions(["qps>50"]))
    assert report.own_effect["qps"]["mean"].share == pytest.approx(1 / 3)
    assert codes(report) == {"client_limited": "error"}
    assert "throughput (33 %)" in report.findings[0].message


def test_locked_rules_and_rules_over_several_runs_judge_the_run_as_a_whole() -> None:
    """As without rules; a percentile without a figure goes by the next one up."""
    rules = of_expressions(["ttft:p(97)<1s", "ttft:p(99.95)<1s", "ttft:min<1s"])
    assert asked_figures(rules) == (
        AffectedFigure("ttft", "p99"),
        AffectedFigure("ttft", "max"),
        AffectedFigure("ttft", "p50"),
    )
    assert asked_figures(replace(rules, locked=True)) is None
    assert asked_figures(replace(rules, targets=())) is None
    assert asked_figures(None) is None


CLIENTS_OWN: dict[str, Callable[[Run], Run]] = {
    "client overhead": lambda run: hiccups(run, 50.0),
    "late event loop": lambda run: hiccups(
        run.session(EventType.TELEMETRY, 5, source="client", loop_lag_p50_ms=9.0), 0.0
    ),
    "CPU used up": lambda run: hiccups(
        run.session(EventType.TELEMETRY, 5, source="client", cpu_share=0.99), 0.0
    ),
}


@pytest.mark.parametrize("disturbed", CLIENTS_OWN.values(), ids=CLIENTS_OWN)
def test_client_overhead_can_be_accepted(a_run: NewRun, disturbed: Callable[[Run], Run]) -> None:
    """The run stays invalid, and is accepted: by an option of the report, or as it was started."""
    run = disturbed(a_run(kind="constant", rate=50.0))
    run.settings["options"] = {"on_invalid": "warn"}
    report = run.report()
    assert (report.validity.valid, report.validity.accepted, report.run.on_invalid) == (False, True, "warn")
    assert report.validity.reasons


@pytest.mark.parametrize("reason", ["interrupted", "error_budget", "worker_lost"])
def test_nothing_is_accepted_where_anything_cannot_be(a_run: NewRun, reason: str) -> None:
    """A run that was ended early lacks the figures themselves, whatever else is wrong with it."""
    run = hiccups(a_run(kind="constant", rate=50.0), 50.0)
    run.events.pop()
    if reason != "interrupted":
        run.session(EventType.FINDING, 4050, code=reason, severity="error", message="It ended.", remedy="")
    report = run.ends(4100, reason).report(on_invalid="warn")
    assert (report.validity.valid, report.validity.accepted) == (False, False)


def test_a_run_that_was_cut_off_is_not_accepted(a_run: NewRun) -> None:
    """Its log has no end."""
    run = hiccups(a_run(kind="constant", rate=50.0), 50.0)
    run.events.pop()
    assert not run.report(on_invalid="warn").validity.accepted


def test_requests_that_the_client_failed_are_not_accepted(a_run: NewRun) -> None:
    """They are client_limited too, and have no figure at all."""
    run = a_run(kind="constant", rate=50.0)
    for _ in range(5):
        run.fails("client_bug")
    report = hiccups(run, 0.0, late=0).report(on_invalid="warn")
    assert codes(report) == {"client_limited": "error"}
    assert (report.validity.valid, report.validity.accepted) == (False, False)


def test_a_valid_run_has_nothing_to_accept(a_run: NewRun) -> None:
    """The option changes nothing of it."""
    report = hiccups(a_run(kind="constant", rate=50.0), 0.0).report(on_invalid="warn")
    assert (report.validity.valid, report.validity.accepted) == (True, False)


@pytest.mark.parametrize("locked", [False, True])
def test_rules_judge_an_accepted_run_unless_they_are_locked(a_run: NewRun, *, locked: bool) -> None:
    """Locked rules stand for what others agreed on."""
    rules = replace(of_expressions(["ttft:p(99)<30ms"]), locked=locked)
    options: dict[str, Any] = {"ruleset": rules, "on_invalid": "warn"}
    verdict = hiccups(a_run(kind="constant", rate=50.0), 50.0).report(**options).verdict
    assert verdict is not None
    assert verdict.status == ("INVALID" if locked else "PASS")
    assert bool(verdict.accepted) is not locked
    assert any("--on-invalid warn does not apply" in reason for reason in verdict.reasons) is locked


SCORED: dict[str, Any] = {"tasks": ["sums"]}
RULES_ON_SCORES = ["accuracy.sums>=0", "error<50%"]


@pytest.mark.parametrize("disturbed", CLIENTS_OWN.values(), ids=CLIENTS_OWN)
@pytest.mark.parametrize("rules", [None, RULES_ON_SCORES], ids=["no rules", "rules on scores"])
def test_a_scored_run_of_a_late_client_is_valid_for_its_scores(
    a_run: NewRun, disturbed: Callable[[Run], Run], rules: list[str] | None
) -> None:
    """The report says that latencies are not valid."""
    options = {} if rules is None else {"ruleset": of_expressions(rules)}
    run = disturbed(a_run(kind="constant", rate=50.0))
    run.settings["accuracy"] = SCORED
    report = run.report(**options)
    assert (report.validity.label, report.validity.stands) == ("VALID", True)
    assert report.validity.summary == "valid for its scores, not for latencies and rates"
    (finding,) = [finding for finding in report.findings if finding.code == "latencies_invalid"]
    assert finding.severity == "warning"
    assert report.validity.latency_reasons == [finding.message]
    assert finding.message.endswith("latencies and rates are not valid.")
    assert report.verdict is None or report.verdict.status != "INVALID"
    assert rules is not None or outcome(report) == ExitCode.PASS


@pytest.mark.parametrize("disturbed", CLIENTS_OWN.values(), ids=CLIENTS_OWN)
@pytest.mark.parametrize("locked", [False, True])
def test_rules_on_latencies_do_not_pass_in_a_scored_run_of_a_late_client(
    a_run: NewRun, disturbed: Callable[[Run], Run], *, locked: bool
) -> None:
    """Nor do locked rules, whatever they are about."""
    expressions = ["error<50%"] if locked else ["ttft:p(99)<30ms", "accuracy.sums>=0"]
    run = disturbed(a_run(kind="constant", rate=50.0))
    run.settings["accuracy"] = SCORED
    rules = replace(of_expressions(expressions), locked=locked)
    verdict = run.report(ruleset=rules).verdict
    assert verdict is not None
    assert verdict.status == "INVALID"


def test_other_faults_of_a_scored_run_make_it_invalid(a_run: NewRun) -> None:
    """Requests that the client failed itself have no score."""
    run = a_run(kind="constant", rate=50.0)
    run.settings["accuracy"] = SCORED
    for _ in range(5):
        run.fails("client_bug")
    assert not hiccups(run, 50.0).report().validity.stands
