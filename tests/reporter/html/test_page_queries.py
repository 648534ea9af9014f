"""Each number of a page is what the query below it answers."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.sessions.compare_runs import compare_runs
from loadgen.sessions.plotting import plots_of_comparison
from loadgen.sessions.run.report_of_log import opened_report
from loadgen.sessions.settings.compare import CompareSettings
from recorder import EventType
from reporter import statements
from reporter.contents import metric_statements
from reporter.contents.run_contents import RunContents, run_contents
from reporter.log.query import queries, query_series
from reporter.plots.plot_value import Plot
from reporter.render.html.comparison_page import page_of as comparison_page
from reporter.render.html.page import Plots, Prose, Tables
from reporter.render.html.run_page import page_of
from rulesets.ruleset import of_expressions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from reporter.log.query import QueryResult
    from reporter.render.table import Table
    from reporter.report import Report
    from tests.reporter.html.conftest import MadePage

RULES = (
    *("ttft:p(95)<400ms", "itl:mean<1s", "qps>0.1", "error<50%", "good(ttft<60ms,tpot<1s):fraction>1%"),
    *("ttft{class:chat}:p(50)<1s", "output_tokens:max<100"),
)
GPUS = ("0", "1")


def observed(a_run: Callable[..., Any], slower_ms: int = 0) -> Path:
    """Forty requests of two classes, whose server, GPUs and host were observed."""
    run = a_run(kind="closed")
    for source in ("server", "nvml", "host"):
        run.session(EventType.SENSOR_STARTED, 0, source=source, target="http://h/metrics", interval_s=0.1)
    run.begins(1)
    for number in range(40):
        at_ms = 1 + 25 * number
        run.answers(
            *(at_ms + 10 + slower_ms + number + 5 * chunk for chunk in range(4)),
            at_ms=at_ms,
            usage=(10, 4),
            issue={"about": {"tags": {"class": ("chat", "code")[number % 2]}}},
        )
    run.fails("http_500", at_ms=900, failed=950)
    for step in range(12):
        counted = {
            "completed_requests_total": 4.0 * step,
            "ttft_sum_s": 0.1 * step,
            "ttft_requests_total": step,
        }
        gauges = {"running_requests": 2.0, "waiting_requests": step % 3, "kv_cache_usage_ratio": 0.25}
        moment = {0: {"moment": "first"}, 11: {"moment": "last"}}.get(step, {})
        labels = {"page": "0", "server": "vllm"}
        at_ms = 100 * step
        run.session(
            EventType.SENSOR_READING,
            at_ms,
            source="server",
            labels=labels,
            readings={**gauges, **counted},
            **moment,
        )
        run.session(EventType.SENSOR_READING, at_ms, source="host", readings={"cpu_pct": 10.0 * (step % 5)})
        for gpu in GPUS:
            power = {"power_w": 100.0 + step, "utilization_pct": 50.0}
            run.session(EventType.SENSOR_READING, at_ms, source="nvml", labels={"gpu": gpu}, readings=power)
    return run.stops(1050).ends(1100).write()  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def run(a_run: Callable[..., Any]) -> Path:
    """A run that was observed."""
    return observed(a_run)


@pytest.fixture(scope="module")
def made(run: Path) -> tuple[Report, RunContents]:
    """Its report by rules, and what its page shows in addition."""
    with opened_report(run, of_expressions(RULES)) as (report, evidence):
        return report, run_contents(report, evidence)


def tables(page: Any) -> Iterator[Table]:
    """All tables of a page."""
    for section in page.sections:
        if isinstance(section, Tables):
            yield from section.tables


@pytest.mark.slow
def test_every_section_with_figures_has_its_query(
    run: Path, made: tuple[Report, RunContents], ask: Callable[..., QueryResult]
) -> None:
    """Every table, and the prose of the client and of the energy; each query answers."""
    page = page_of(*made)
    lacking = [(table.caption, table.columns) for table in tables(page) if not table.sql]
    assert lacking == []
    prose = {section.anchor: section.queries for section in page.sections if isinstance(section, Prose)}
    assert {"client", "energy"} <= prose.keys()
    queries = [table.sql for table in tables(page)] + [sql for of in prose.values() for _, sql in of]
    assert [sql for sql in queries if not ask(run, sql).rows] == []


def test_overhead_server_and_energy_are_in_their_queries(
    run: Path, made: tuple[Report, RunContents], ask: Callable[..., QueryResult]
) -> None:
    """The figures of the report that the page words."""
    report, _ = made
    (_, overhead), (_, readings) = statements.overhead(report)
    assert ask(run, overhead).rows == [(pytest.approx(report.own_ttft_share),)]
    assert ask(run, readings).rows
    assert report.server_side is not None
    answer = ask(run, statements.figures("server_side"))
    both = dict(zip(answer.columns, answer.rows[0], strict=True))
    assert both["server_completed"] == next(
        row.server for row in report.server_side.compared if row.quantity == "completed requests"
    )
    assert report.energy is not None
    answer = ask(run, statements.figures("energy"))
    assert dict(zip(answer.columns, answer.rows[0], strict=True))["total_joules"] == pytest.approx(
        report.energy.total_joules
    )


def test_telemetry_is_on_the_time_axis_of_the_requests(
    run: Path, made: tuple[Report, RunContents], ask: Callable[..., QueryResult]
) -> None:
    """Of the server, of each GPU and of the host, as far as the run went; the page has their sections."""
    report, contents = made
    plots = {plot.name: plot for plot in contents.plots}
    names = {
        "server-requests-over-time",
        "server-times-over-time",
        "gpu-power-over-time",
        "host-cpu-over-time",
    }
    assert names <= plots.keys()
    requests = plots["rate-over-time"].series[0].x
    for name in names:
        points = sum(len(series.x) for series in plots[name].series)
        assert len(ask(run, plots[name].sql).rows) == points
        assert plots[name].x == plots["rate-over-time"].x
        for series in plots[name].series:
            assert min(requests) <= min(series.x) <= max(series.x) <= max(requests) + 1
    assert {series.name for series in plots["gpu-power-over-time"].series} == {"power, GPU 0", "power, GPU 1"}
    assert set(plots["server-requests-over-time"].series[0].y) == {2.0}
    anchors = [section.anchor for section in page_of(report, contents).sections]
    assert {"server", "energy"} <= set(anchors)


@pytest.mark.slow
def test_a_comparison_has_the_distributions_of_its_runs(
    run: Path, a_run: Callable[..., Any], ask: Callable[..., QueryResult]
) -> None:
    """The distributions of both runs are in one plot; the query has the figures of the table."""
    other = observed(a_run, slower_ms=40)
    comparison = compare_runs(CompareSettings(runs=[run, other]))
    plots = plots_of_comparison(comparison)
    drawn = {plot.name: plot for plot in plots if isinstance(plot, Plot)}
    assert {
        "ttft-cdf",
        "ttft-percentiles",
        "tpot-cdf",
        "itl-cdf",
        "latency-cdf",
    } <= drawn.keys()
    assert {series.group for series in drawn["ttft-cdf"].series} == {run.name, other.name}
    page = comparison_page(comparison, plots)
    (section,) = [section for section in page.sections if isinstance(section, Plots)]
    assert ("CDF", "Percentiles") in [group.choices for group in section.groups]
    rows = dict(ask(run, metric_statements.figures(row.metric for row in comparison.rows)).rows)
    figures = {row.metric: row.figures[0].value for row in comparison.rows if row.figures[0] is not None}
    assert {name: rows[name] for name in figures} == pytest.approx(figures, rel=1e-6)


def test_the_figures_of_a_series_are_in_its_query(run: Path, made: tuple[Report, RunContents]) -> None:
    """A row for each run."""
    report, _ = made
    answer = query_series({"a": run, "b": run}, statements.of_series())
    rows = {row[0]: dict(zip(answer.columns, row, strict=True)) for row in answer.rows}
    assert rows.keys() == {"a", "b"}
    assert report.ttft_ms is not None
    assert (rows["a"]["requests_per_s"], rows["b"]["ttft_p99_ms"]) == pytest.approx(
        (report.throughput.qps, report.ttft_ms.p99)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hostile_page", "accuracy_page"])
def test_every_query_of_a_page_answers(request: pytest.FixtureRequest, name: str) -> None:
    """As a reader copies them, with hostile names of tags in them as well."""
    page: MadePage = request.getfixturevalue(name)
    shown = [unescape(sql) for sql in re.findall(r'aria-label="SQL">(.*?)</pre>', page.html, re.DOTALL)]
    distinct = list(dict.fromkeys(shown))
    assert len(distinct) > 20
    assert [answer.columns for answer in queries(page.run, distinct) if not answer.columns] == []


def test_parts_of_a_benchmark_are_in_their_query(
    accuracy_page: MadePage, ask: Callable[..., QueryResult]
) -> None:
    """The mean and the number of the answers of each subject."""
    (score,) = accuracy_page.report.accuracy
    answer = ask(accuracy_page.run, statements.groups())
    rows = {row[4]: row[5:] for row in answer.rows if row[3] == "subject"}
    assert rows == {
        value: (pytest.approx(part.value), part.issued) for value, part in score.groups["subject"].items()
    }
