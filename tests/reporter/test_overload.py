"""Overload of an open loop, found in its log after the run."""

from __future__ import annotations

import heapq
import random
from typing import TYPE_CHECKING, Any

import pytest

from reporter.findings.overload import BLOCKS, LoadBlock, grows
from reporter.render import console, junit, report_markdown
from reporter.render.html import run_page as page
from reporter.render.named_verdict import NamedVerdict
from rulesets.expression import parse
from rulesets.ruleset import Ruleset

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def served(run: Any, arrivals_ms: Sequence[float], answer_ms: Sequence[float], slots: int = 1) -> Any:
    """A run whose endpoint answers requests in order, `slots` of them at once."""
    free = [0.0] * slots
    for at_ms, takes_ms in zip(arrivals_ms, answer_ms, strict=True):
        done_ms = max(at_ms, heapq.heappop(free)) + takes_ms
        heapq.heappush(free, done_ms)
        run.answers(done_ms, at_ms=at_ms)
    return run.stops(arrivals_ms[-1]).ends(max(free))


def constant(rate: float, number: int, start_ms: float = 0.0) -> list[float]:
    """Arrivals at equal distances."""
    return [start_ms + 1000 * index / rate for index in range(number)]


@pytest.fixture
def overloaded(a_run: Callable[..., Any]) -> Any:
    """150 req/s of an endpoint that answers 100/s."""
    return served(a_run(kind="constant", rate=150.0).begins(), constant(150, 300), [10.0] * 300)


def test_the_first_line_names_overload(overloaded: Any) -> None:
    """On the console, the page, in Markdown and JSON."""
    report = overloaded.report()
    assert (report.validity.valid, report.validity.overloaded) == (False, True)
    assert report.validity.summary.startswith(
        "The queue grew from 11 to 100 requests in flight in 1.8 s: 100"
    )
    [finding] = [finding for finding in report.findings if finding.code == "overloaded"]
    assert "not a property of the server" in finding.message
    assert "sustained: 100 req/s" in finding.remedy
    assert "Result         OVERLOADED   The queue grew" in console.render(report)
    assert page.page_of(report, page.RunContents()).marks[0].text == "OVERLOADED"
    assert "OVERLOADED" in report_markdown.render(report).splitlines()[0]
    assert report.to_dict()["validity"]["overloaded"] is True


def test_a_verdict_says_overloaded(overloaded: Any) -> None:
    """JUnit and the verdict's own page, whose status stays INVALID for machines."""
    report = overloaded.report(ruleset=Ruleset("r", "1", (parse("ttft:p(99)<10s"),)))
    assert report.verdict.status == "INVALID"
    part = NamedVerdict.of(report)
    assert part.label == "OVERLOADED"
    document = junit.render([part])
    assert 'message="OVERLOADED: The queue grew' in document
    assert '<property name="status" value="OVERLOADED" />' in document


def test_it_can_be_accepted(overloaded: Any) -> None:
    """Who wants the throughput of a full endpoint says so."""
    validity = overloaded.report(on_invalid="warn").validity
    assert validity.overloaded
    assert validity.stands


@pytest.mark.parametrize("load", [{"kind": "closed", "concurrency": 9}, {"kind": "offline"}])
def test_only_an_open_loop_is_overloaded(a_run: Callable[..., Any], load: dict[str, Any]) -> None:
    """In a closed loop, and offline, a queue is what was asked for."""
    report = served(a_run(**load).begins(), constant(150, 300), [10.0] * 300).report()
    assert not report.validity.overloaded


def test_filling_up_is_not_overload(a_run: Callable[..., Any]) -> None:
    """More and more are in flight while no answer has come, and none of them takes longer."""
    report = served(
        a_run(kind="constant", rate=20.0).begins(), constant(20, 100), [3000.0] * 100, 100
    ).report()
    assert not report.validity.overloaded


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("spread", ["exponential", "lognormal"])
def test_a_stationary_queue_is_not_overloaded(a_run: Callable[..., Any], seed: int, spread: str) -> None:
    """Poisson arrivals at 80 % of the capacity of one server and of 16, from an empty queue on."""
    drawn = random.Random(seed)  # noqa: S311 (a simulation)
    slots = 16 if seed % 2 else 1
    at_ms, arrivals = 0.0, []
    for _ in range(400):
        at_ms += drawn.expovariate(0.8 * slots / 10)
        arrivals.append(at_ms)
    takes = [
        drawn.expovariate(0.1) if spread == "exponential" else 10 * drawn.lognormvariate(-0.5, 1)
        for _ in arrivals
    ]
    report = served(a_run(kind="poisson", rate=80.0 * slots).begins(), arrivals, takes, slots).report()
    assert not report.validity.overloaded


def test_the_stage_that_is_overloaded_is_named(a_run: Callable[..., Any]) -> None:
    """Two stages hold, the third asks for twice the capacity."""
    stages = [
        {"name": name, "start_s": 2.0 * number, "duration_s": 2.0, "rate": str(rate)}
        for number, (name, rate) in enumerate({"low": 40, "good": 80, "high": 200}.items())
    ]
    arrivals = [*constant(40, 80), *constant(80, 160, 2000), *constant(200, 400, 4000)]
    run = served(a_run(kind="constant", stages=stages).begins(), arrivals, [10.0] * len(arrivals))
    report = run.report()
    assert "The queue grew in stage 'high' from " in report.validity.summary
    [finding] = [finding for finding in report.findings if finding.code == "overloaded"]
    assert "Highest rate that held: 79.4" in finding.remedy
    assert "'good'" in finding.remedy


def blocks(issued: int, ended: Sequence[int], response_s: Sequence[float]) -> list[LoadBlock]:
    """Blocks of as many issued requests each."""
    return [LoadBlock(issued, done, done, slow) for done, slow in zip(ended, response_s, strict=True)]


def test_growth_must_be_material_and_slow_requests_down() -> None:
    """By 5 % of the issued requests, beyond chance, with response times that rise throughout."""
    rising = [1.0 + index for index in range(BLOCKS)]
    assert grows(blocks(100, [90] * BLOCKS, rising))
    assert not grows(blocks(100, [97] * BLOCKS, rising))
    assert not grows(blocks(100, [90] * BLOCKS, [1.0] * BLOCKS))
    assert not grows(blocks(100, [60, 140, 50, 130, 60, 140, 40, 120, 60, 100], rising))
    assert not grows(blocks(100, [90] * BLOCKS, [1.0 + index / 50 for index in range(BLOCKS)]))
