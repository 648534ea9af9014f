"""The first screen of a run's page: the answer, the tiles, one plot; what follows it, in order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from loadgen.sessions.run.report_of_log import opened_report
from reporter.contents.run_contents import RunContents, run_contents
from reporter.render.html.page import CardFigure, FigureCards
from reporter.render.html.run_page import page_of, reason, result
from reporter.render.table import Mark
from reporter.report import Validity
from rulesets import of_expressions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.report import Report
    from tests.reporter.html.conftest import MadePage


@pytest.fixture(scope="module")
def judged(hostile_page: MadePage) -> Mapping[str, Report]:
    """The run by rules that it meets, by one that it misses, and by one that it cannot decide."""
    rules = {"PASS": "error<50%", "FAIL": "error<1%", "INCONCLUSIVE": "ttft:p(99)<1000s@ucl99"}
    reports = {}
    for status, rule in rules.items():
        with opened_report(hostile_page.run, of_expressions(["qps>0", rule])) as (report, _):
            reports[status] = report
    return reports


@pytest.mark.parametrize("status", ["PASS", "FAIL", "INCONCLUSIVE"])
def test_the_verdict_is_the_answer(judged: Mapping[str, Report], status: str) -> None:
    """The first screen has the verdict with the only reason, and nothing else."""
    report = judged[status]
    assert [mark.text for mark in result(report)] == [status]
    assert report.verdict is not None
    assert reason(report) == ("2 of 2 rules met" if status == "PASS" else report.verdict.rows[1].reason)


def test_what_makes_a_run_invalid_is_the_answer(judged: Mapping[str, Report]) -> None:
    """OVERLOADED with the summary, INVALID with the first reason; the verdict adds nothing."""
    report = judged["FAIL"]
    assert report.verdict is not None
    invalid = replace(
        report,
        validity=Validity(valid=False, reasons=["The recorder lost 2 events.", "another"]),
        verdict=replace(report.verdict, status="INVALID"),
    )
    assert [mark.text for mark in result(invalid)] == ["INVALID"]
    assert reason(invalid) == "The recorder lost 2 events."
    overloaded = replace(
        invalid, validity=replace(invalid.validity, overloaded=True, summary="The queue grew")
    )
    assert [mark.text for mark in result(overloaded)] == ["OVERLOADED"]
    assert page_of(overloaded, RunContents()).answer == "The queue grew"


def test_a_run_without_rules_says_so(hostile_page: MadePage) -> None:
    """The loudest word is not VALID: nothing was asked of the server."""
    report = replace(hostile_page.report, validity=Validity(valid=True, reasons=[]))
    assert [(mark.text, mark.tone) for mark in result(report)] == [("valid", "dim")]
    assert reason(report) == "No target was set (--require)."


def test_five_tiles_have_the_median_the_p99_and_failures(hostile_page: MadePage) -> None:
    """With the figures of the report; failures by kind."""
    (cards,) = [
        it
        for it in page_of(hostile_page.report, hostile_page.contents).sections
        if isinstance(it, FigureCards)
    ]
    assert [card.label for card in cards.cards] == [
        "Output throughput",
        "TTFT",
        "TPOT",
        "Latency",
        "Failures",
    ]
    for card in cards.cards[1:4]:
        assert [figure.name for figure in card.figures] == ["p50", "p99"]
    ttft = hostile_page.report.ttft_ms
    assert ttft is not None
    assert [figure.value for figure in cards.cards[1].figures] == [f"{ttft.p50:.1f}", f"{ttft.p99:.1f}"]
    failures = cards.cards[-1]
    assert failures.figures == (CardFigure("3.6 %", interval=failures.figures[0].interval, tone="bad"),)
    assert failures.more == ("3 of 83 requests", "3 http_500")
    assert all(card.sql for card in cards.cards)


def test_a_tile_says_whether_its_target_holds(hostile_page: MadePage, judged: Mapping[str, Report]) -> None:
    """The target is below the figure, which is red on a miss."""
    page = page_of(judged["FAIL"], hostile_page.contents)
    (cards,) = [it for it in page.sections if isinstance(it, FigureCards)]
    bounds = {card.label: [(it.bound, it.tone) for it in card.figures] for card in cards.cards}
    assert bounds["Output throughput"][1] == ("✓ > 0 req/s", "")
    assert bounds["Failures"] == [("✗ < 1 %", "bad")]
    assert bounds["TTFT"] == [("", ""), ("", "")]
    verdict = judged["FAIL"].verdict
    assert verdict is not None
    row = replace(
        verdict.rows[0], target="ttft:p(95)<1ms", observed=7.25, bound=1.0, unit="ms", group="target"
    )
    further = replace(
        verdict, rows=(replace(row, status="FAIL"), replace(row, status="PASS", target="ttft:mean<1ms"))
    )
    page = page_of(replace(judged["FAIL"], verdict=further), hostile_page.contents)
    (cards,) = [it for it in page.sections if isinstance(it, FigureCards)]
    assert cards.cards[1].more == (Mark("p95 7.25 ms ✗ < 1 ms", "bad"), "mean 7.25 ms ✓ < 1 ms")


def test_the_percentile_table_comes_before_distributions(hostile_page: MadePage) -> None:
    """Then the rest, folded; time series first."""
    with opened_report(hostile_page.run, of_expressions(["qps>0"])) as (report, evidence):
        page = page_of(report, run_contents(report, evidence))
    anchors = [section.anchor for section in page.sections]
    first = ["figures", "first", "findings", "latencies", "rules", "distributions"]
    assert anchors[: len(first)] == first
    assert anchors[len(first)] == "over-time"
    assert page.folded == set(anchors[len(first) :]) >= {"slowest", "failed", "parts", "client", "intervals"}
