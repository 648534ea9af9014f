"""What a run costs: by the tokens that were counted, in all, a request, and a correct answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jsonschema
import orjson
import pytest

from recorder import EventType
from reporter import MetricsReporter
from reporter.costs import Price, PriceTable, cost_sql
from reporter.log.query import query
from reporter.render.console import render
from reporter.render.cost_lines import dollars
from reporter.render.json import render as as_json
from reporter.render.markdown import render as as_markdown
from reporter.render.named_verdict import NamedVerdict
from reporter.report_schema import report_schema
from rulesets.verdict import Verdict
from tests.reporter.accuracy.conftest import Benchmark
from tests.reporter.conftest import Run

if TYPE_CHECKING:
    from pathlib import Path

    from reporter.values.cost import Cost

SMALL = Price("small*", 1, 0.5, 10, 20, "2026-01-01", "me")
TABLE = PriceTable("prices.yaml", (SMALL,))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A run of the model that has a price."""
    started = Run(tmp_path).begins()
    started.settings["model"] = "small-8b"
    return started


def cost_of(run: Run | Benchmark, table: PriceTable = TABLE) -> Cost:
    """What it costs."""
    cost = run.report(prices=table).cost
    assert cost is not None
    return cost


def test_every_kind_of_token_has_its_price(run: Run) -> None:
    """What was cached is not paid twice, nor is reasoning."""
    run.answers(5, 7, usage=(1000, 100), cached_tokens=400, reasoning_tokens=60).ends()
    cost = cost_of(run)
    assert cost.total == pytest.approx((600 * 1 + 400 * 0.5 + 40 * 10 + 60 * 20) / 1e6)
    assert (cost.measured, cost.per_request, cost.priced, cost.unknown) == (cost.total, cost.total, 1, 0)
    assert (cost.tasks, cost.notes, cost.judge) == ([], [], None)


def test_the_whole_run_is_paid_for(run: Run) -> None:
    """Warm-up and failures are in the total, and in no mean."""
    run.answers(5, 7, usage=(1000, 100), issue={"phase": "warmup"})
    run.answers(5, 7, usage=(2000, 100), at_ms=1).answers(5, 7, usage=(4000, 100), at_ms=2)
    run.answers(5, usage=(8000, 100), at_ms=3, kind=EventType.ERROR, error="reset").fails(at_ms=4).ends()
    cost = cost_of(run)
    assert (cost.total, cost.measured, cost.per_request) == pytest.approx((0.019, 0.008, 0.004))
    assert (cost.priced, cost.unknown, cost.notes) == (2, 0, [])


def test_requests_without_token_counts_have_no_known_cost(run: Run) -> None:
    """A note says so, and the cost is not 0."""
    run.answers(5, 7).ends()
    cost = cost_of(run)
    assert (cost.total, cost.measured, cost.per_request, cost.priced, cost.unknown) == (*[None] * 3, 0, 1)
    assert cost.notes[0].startswith("1 completed request without token counts")


def test_a_model_without_a_price(run: Run) -> None:
    """A note names the model and the models with a price."""
    run.settings["model"] = "large"
    run.answers(5, 7, usage=(1000, 0)).ends()
    cost = cost_of(run)
    assert (cost.price, cost.total, cost.per_request) == (None, None, None)
    assert cost.notes == ["prices.yaml has no price for the model large; prices: small*"]


def test_no_prices_no_cost(run: Run) -> None:
    """The key is there, and empty."""
    assert run.answers(5, 7).ends().report().cost is None


def scored(run: Run, *values: Any) -> Benchmark:
    """A run of two benchmarks, of which only the first is scored with these values."""
    benchmark = Benchmark(run).asks("gsm8k", 3)
    for question in range(3):
        benchmark.answers(question, tokens=100)
    return benchmark.scored(*values)


@pytest.mark.slow
def test_a_correct_answer(run: Run) -> None:
    """Wrong ones are paid for with it."""
    report = scored(run, 1, 0, 1).report(prices=TABLE)
    assert report.cost is not None
    (task,) = report.cost.tasks
    total = 3 * (10 * 1 + 100 * 10) / 1e6
    assert (task.task, task.scorer, task.correct) == ("gsm8k", "official", 2)
    assert (task.total, task.per_correct) == pytest.approx((total, total / 2))
    of_run, of_tasks = (query(run.folder, sql).rows for _, sql in cost_sql(report))
    assert of_run == [(*(pytest.approx(total),) * 2, 3, pytest.approx(total / 3), 0, 0)]
    assert of_tasks == [("gsm8k", "official", pytest.approx(total), 2, pytest.approx(total / 2))]


@pytest.mark.slow
@pytest.mark.parametrize(("values", "correct"), [((0, 0, 0), 0), ((1, 1, "judge_pending"), None), ((), None)])
def test_no_correct_answer(run: Run, values: tuple[Any, ...], correct: int | None) -> None:
    """Without a correct answer, or with an unknown number of them, there is no cost per correct answer."""
    benchmark = scored(run, *values)
    if not values:
        benchmark.passes.clear()
    (task,) = cost_of(benchmark).tasks
    assert (task.correct, task.per_correct) == (correct, None)
    assert task.total is not None


@pytest.mark.slow
def test_judges_have_their_own_price(run: Run) -> None:
    """They are not part of the run's total."""
    folder = scored(run, 1, 0, 1).write()
    with MetricsReporter(folder) as reporter:
        reporter.create_report(prices=TABLE)
        reporter.log.execute(
            "INSERT INTO judge_calls (sample_uuid, model, status, input_tokens, output_tokens) "
            "VALUES ('a', 'small-judge', 'completed', 1000, 10), ('b', 'small-judge', 'failed', NULL, NULL)"
        )
        report = reporter.create_report(prices=TABLE)
        assert report.cost is not None
        assert report.cost.judge == pytest.approx(0.0011)
        *_, (name, sql) = cost_sql(report)
        assert name == "Judges"
        assert reporter.log.execute(sql).fetchall() == [("small-judge", pytest.approx(0.0011))]
        reporter.log.execute(
            "INSERT INTO judge_calls (sample_uuid, model, status) VALUES ('c', 'large-judge', 'completed')"
        )
        cost = reporter.create_report(prices=TABLE).cost
        assert cost is not None
        assert cost.judge is None
        assert cost.notes == ["prices.yaml has no price for the judge large-judge"]


@pytest.mark.slow
def test_where_it_is_shown(run: Run) -> None:
    """In the console, in Markdown, and in report.json, by its schema, with what a request costs."""
    report = scored(run, 1, 0, 1).report(prices=TABLE)
    page = " ".join(render(report).split())
    assert "Cost $0.003030 in all, $0.001010 per request (3 requests)" in page
    assert "gsm8k: $0.003030, $0.001515 per correct answer (2 correct)" in page
    assert "input 1, cached 0.5, output 10, reasoning 20 (me, 2026-01-01)" in page
    assert "$0.003030 in all" in render(report, summary_only=True)
    judged = NamedVerdict.of(replace(report, verdict=Verdict("PASS", "", "")))
    assert "**Cost**" in as_markdown([judged])
    printed = orjson.loads(as_json(report))
    jsonschema.validate(printed, report_schema(), cls=jsonschema.Draft202012Validator)
    assert printed["cost"]["tasks"][0]["per_correct"] == 0.001515


def test_small_sums_are_not_shown_as_zero() -> None:
    """What one request costs is far below a cent."""
    assert [dollars(sum_) for sum_ in (None, 0, 0.000013256, 12.3456, 1234.5)] == [
        "-",
        "$0",
        "$0.00001326",
        "$12.35",
        "$1,234",
    ]
