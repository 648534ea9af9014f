"""Failed requests: their share, and an endpoint that went away or limited the rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reporter.findings.check_inputs import failure_limit
from reporter.render import console
from rulesets.expression import parse
from rulesets.ruleset import Ruleset

if TYPE_CHECKING:
    from collections.abc import Callable


def failing(run: Any, good: int, bad: int, error: str = "reset", *, mixed: bool = False) -> Any:
    """A run of answered requests, and failed ones after or between them, ten ms apart."""
    kinds = [True] * good + [False] * bad
    if mixed:
        kinds = [number % (good + bad) * bad % (good + bad) >= bad for number in range(good + bad)]
    run.begins()
    for number, answered in enumerate(kinds):
        at_ms = 10.0 * number
        run.answers(at_ms + 5, at_ms=at_ms) if answered else run.fails(error, at_ms=at_ms, failed=at_ms + 1)
    return run.stops(10 * len(kinds)).ends(10 * len(kinds))


def on_failures(report: Any, *codes: str) -> list[tuple[str, str]]:
    """The findings on failures, with their severities."""
    named = {"requests_failed", "many_failures", "rate_limited", "endpoint_gone", *codes}
    return [(finding.code, finding.severity) for finding in report.findings if finding.code in named]


@pytest.mark.parametrize(
    ("good", "bad", "code", "severity"),
    [
        (199, 1, "requests_failed", "info"),
        (97, 3, "requests_failed", "warning"),
        (95, 5, "requests_failed", "warning"),
        (94, 6, "many_failures", "error"),
    ],
)
def test_the_share_decides(a_run: Callable[..., Any], good: int, bad: int, code: str, severity: str) -> None:
    """Up to 1 % is a remark, above 5 % the run is invalid."""
    report = failing(a_run(kind="closed", concurrency=1), good, bad, "http_400", mixed=True).report()
    assert report.counts.failed == bad
    assert on_failures(report) == [(code, severity)]
    assert report.validity.valid is (severity != "error")


def test_an_endpoint_that_went_away_is_named_in_the_first_line(a_run: Callable[..., Any]) -> None:
    """From a moment on until the end nothing was answered."""
    report = failing(a_run(kind="closed", concurrency=1), 60, 40, "refused").report()
    assert on_failures(report) == [("endpoint_gone", "error")]
    assert report.validity.summary == "The endpoint went away after 601 ms"
    assert "Result         INVALID   The endpoint went away after 601 ms" in console.render(report)


def test_an_endpoint_that_fails_now_and_then_is_not_gone(a_run: Callable[..., Any]) -> None:
    """It answers to the end."""
    report = failing(a_run(kind="closed", concurrency=1), 50, 50, "http_500", mixed=True).report()
    assert on_failures(report) == [("many_failures", "error")]


def test_a_limit_of_the_rate_is_named_in_the_first_line(a_run: Callable[..., Any]) -> None:
    """Most failures are 429."""
    report = failing(a_run(kind="closed", concurrency=1), 20, 40, "http_429", mixed=True).report()
    assert on_failures(report) == [("rate_limited", "error")]
    assert report.validity.summary == "The endpoint limited the rate: 40 of 60 requests were answered 429"


def test_the_limit_is_the_run_s(a_run: Callable[..., Any]) -> None:
    """`--max-error-rate` of the run replaces the default, both ways."""
    run = failing(a_run(kind="closed", concurrency=1), 90, 10, "http_400", mixed=True)
    run.settings["max_error_rate"] = 0.2
    assert on_failures(run.report()) == [("many_failures", "warning")]
    run = failing(a_run(kind="closed", concurrency=1), 97, 3, "http_400", mixed=True)
    run.settings["max_error_rate"] = 0.02
    assert on_failures(run.report()) == [("requests_failed", "error")]


def test_rules_about_failures_decide_themselves(a_run: Callable[..., Any]) -> None:
    """A missed rule is a failure (1), and not a run to be measured again (4)."""
    run = failing(a_run(kind="closed", concurrency=1), 90, 10, "http_400", mixed=True)
    assert run.report(ruleset=Ruleset("r", "1", (parse("error<1%"),))).verdict.status == "FAIL"
    assert run.report(ruleset=Ruleset("r", "1", (parse("error<20%"),))).verdict.status == "PASS"
    assert run.report(ruleset=Ruleset("r", "1", (parse("ttft:p(99)<1s"),))).verdict.status == "INVALID"


def test_where_the_limit_comes_from() -> None:
    """The run's own, else 5 %, unless rules bound failures."""
    assert failure_limit(None, None) == 0.05
    assert failure_limit(Ruleset("r", "1", (parse("qps>1"),)), None) == 0.05
    assert failure_limit(Ruleset("r", "1", (parse("failed==0"),)), None) == 1.0
    assert failure_limit(Ruleset("r", "1", (parse("failed==0"),)), 0.3) == 0.3
