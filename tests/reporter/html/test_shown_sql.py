"""Every SQL text that a page shows, run by plain DuckDB, gives the figures that stand next to it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.sessions.run.report_of_log import opened_report
from loadgen.sessions.settings.definition_options import with_definitions
from recorder import EventType
from reporter.contents.run_contents import run_contents
from reporter.percentiles import percentiles_named
from reporter.render.html.page import FigureCards, Tables
from reporter.render.html.run_page import page_of
from reporter.render.table import plain
from reporter.report_options import ReportOptions, TPOTReportingMode
from rulesets.ruleset import of_expressions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from reporter.log.query import QueryResult
    from reporter.render.html.page import Page

RULES = (
    *(
        "ttft:p(95)<400ms",
        "itl:mean<1s",
        "itl:p(99)<1s",
        "qps>0.1",
        "error<50%",
        "latency{class:chat}:max<9s",
    ),
    *("output_tps{class:code}>1", "good(ttft<60ms,tpot<1s):fraction>1%", "output_tokens:max<100"),
)
CASES: tuple[tuple[dict[str, Any], TPOTReportingMode], ...] = (
    ({}, TPOTReportingMode.TOKEN_WEIGHTED),
    (
        {
            "percentile_method": "nearest_rank",
            "failed_requests": "count_as_violation",
            "tpot_end": "complete",
        },
        TPOTReportingMode.REQUEST_WEIGHTED,
    ),
)
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")
SCALES = (1, 100, 1e-3)
"""A share is shown in percent, a bound in seconds where the rule has seconds."""


@pytest.fixture(scope="module")
def run(a_run: Callable[..., Any]) -> Path:
    """A warm-up, and conversations of two turns and two classes in three steps of load, with failures."""
    run = a_run(kind="poisson", profile="steps:10..30x3,1.2s")
    run.session(EventType.PHASE_STARTED, 0, phase="warmup")
    for number in range(70):
        if number == 10:
            run.session(EventType.PHASE_ENDED, 200, phase="warmup").begins(200)
        at_ms = 20 * number
        about = {"conversation": f"c{number // 2}", "turn": number % 2, "prompt_id": number}
        about |= {"tags": {"class": ("chat", "code")[number % 3 == 0]}}
        issue = {"about": about, "phase": "warmup" if number < 10 else "performance"}
        if number % 9 == 8:
            run.issues(at_ms, **issue).happens(EventType.ERROR, at_ms + 5, error="http_503", message="busy")
        else:
            times = (at_ms + 10 + number % 7 + (6 + number % 5) * chunk for chunk in range(2 + number % 6))
            run.answers(*times, at_ms=at_ms, usage=(7 + number, 2 + number % 6), issue=issue)
    return run.stops(1400).ends(1600).write()  # type: ignore[no-any-return]


def is_in(number: str, row: tuple[Any, ...]) -> bool:
    """Whether a figure as shown is one of the values of a row."""
    places = len(number.partition(".")[2])
    values = (value for value in row if isinstance(value, int | float) and math.isfinite(value))
    return any(f"{scale * value:,.{places}f}" == number for value in values for scale in SCALES)


def shown(page: Page) -> Iterator[tuple[str, str, list[list[str]]]]:
    """Every query with figures next to it: where, the query, and the numbers row by row."""
    for section in page.sections:
        if isinstance(section, FigureCards):
            for card in section.cards:
                yield card.label, card.sql, [NUMBER.findall(f"{each.value}") for each in card.figures]
        if isinstance(section, Tables):
            for table in section.tables:
                titles = [column.title for column in table.columns]
                figures = range(1, len(titles)) if "observed" not in titles else (titles.index("observed"),)
                rows = [[plain(row[place]) for place in figures] for row in table.rows if row]
                numbers = [[number for cell in row for number in NUMBER.findall(cell)] for row in rows]
                yield table.caption or section.title, table.sql, numbers


@pytest.mark.parametrize(("definitions", "weighted"), CASES)
def test_a_query_has_the_figures_next_to_it(
    run: Path, ask: Callable[..., QueryResult], definitions: dict[str, Any], weighted: TPOTReportingMode
) -> None:
    """Of each row of each table and each card; in the order of the table, where rows have no common name."""
    rules = with_definitions(of_expressions(RULES), definitions)
    options = ReportOptions(percentiles=percentiles_named("50,75,99.9"), tpot_reporting_mode=weighted)
    with opened_report(run, rules, options=options) as (report, evidence):
        page = page_of(report, run_contents(report, evidence))
    checked = 0
    for where, sql, rows in shown(page):
        answer = ask(run, page.variables + sql)
        for place, numbers in enumerate(rows):
            one_row = len(answer.rows) == len(rows)
            values = answer.rows[place] if one_row else tuple(value for row in answer.rows for value in row)
            missing = [number for number in numbers if not is_in(number, values)]
            assert missing == [], (where, place, numbers, values, sql)
            checked += len(numbers)
    assert checked > 150
    assert {"phase", "turn", "class", "stage"} <= report.breakdown.keys()
