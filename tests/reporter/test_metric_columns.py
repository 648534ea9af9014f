"""The table of metrics and what computes them agree: a place that lacks a metric is named with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

import pytest

from reporter.measured import log_evidence, rates
from reporter.report import ThroughputFigures
from reporter.values.session_figures import Sessions
from rulesets.definitions import Definitions
from rulesets.metric_table import BY_NAME, TABLE
from rulesets.quantity import Overhead
from rulesets.request_metrics import REQUEST_METRICS
from rulesets.section_metrics import SECTION_FIGURES
from rulesets.session_metrics import JOB_RATES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulesets.quantity import MetricDefinition
    from tests.reporter.conftest import Run

SQL = "reporter/sql/samples.sql"
TABLES = "rulesets/request_metrics.py"


@pytest.fixture(scope="module")
def columns(a_run: Callable[..., Run]) -> Sequence[str]:
    """The columns of the view `samples`."""
    from reporter.log.query import query

    return query(a_run().answers(5, 7, usage=(1, 2)).ends().write(), "FROM samples").columns


def test_every_metric_of_requests_has_its_columns(columns: Sequence[str]) -> None:
    """Its values, and those of their bounds that the table says there are."""
    missing = [
        f"metric {metric.name!r}: {SQL} has no column {column}"
        for metric in REQUEST_METRICS
        if metric.per == "request"
        for column in (metric.column, *map(metric.end_column, metric.ends))
        if column not in columns
    ]
    assert not missing, "\n".join(missing)


def test_every_column_of_a_time_or_a_speed_is_in_the_table(columns: Sequence[str]) -> None:
    """A column that no row names would be computed, and reported nowhere."""
    named = {
        column
        for metric in REQUEST_METRICS
        for column in (metric.column, *map(metric.end_column, metric.ends))
    }
    unnamed = [
        f"column {column} of {SQL}: no metric of {TABLES} has it"
        for column in columns
        if column not in named and (column.endswith("_ms") or "_tps" in column)
    ]
    assert not unnamed, "\n".join(unnamed)


def test_every_metric_of_a_run_is_computed() -> None:
    """Rates and counts are what the evidence of a log and a report have; a rate per GPU is one of them."""
    answered = {
        "throughput": {*rates.RATES, "tps_per_gpu"} & {*ThroughputFigures.__annotations__, "tps_per_gpu"}
        | {*JOB_RATES} & {*Sessions.__annotations__}
        | {*SECTION_FIGURES},
        "count": set(log_evidence.COUNTED),
    }
    missing = [
        f"metric {metric.name!r}: no {metric.quantity.kind} of that name is computed (reporter/measured/)"
        for metric in TABLE
        if metric.name not in answered.get(metric.quantity.kind, {metric.name})
    ]
    assert not missing, "\n".join(missing)


def wrong(metric: MetricDefinition) -> list[str]:
    """What a row lacks or has too much."""
    of_run, shown = metric.per == "run", metric.console
    # The docs of sessions and of runs have their definitions.
    texts = (metric.meaning, *((metric.definition, metric.use) if metric.per in {"request", "gap"} else ()))
    unknown = set(metric.depends_on) - set(Definitions.__dataclass_fields__)
    rules = {
        "has no meaning, definition or use, which the docs print": all(texts),
        "has a `|` in its texts, which ends a cell of a table": not any("|" in text for text in texts),
        "has values of requests, so it is a latency, a length or a speed": (
            metric.quantity.kind in {"latency", "length", "speed"}
        )
        is not of_run,
        f"depends on {unknown}, which no definition is (rulesets/definitions.py)": not unknown,
        f"has the overhead of {metric.overhead!r}": metric.overhead in {None, *get_args(Overhead)},
        "is compared briefly in what it is not compared in": {*metric.compared_briefly} <= {*metric.compared},
        "is in parts or samples, and requests have no value of it": metric.per == "request"
        or not (metric.in_parts or metric.in_samples),
        "is on the console, whose rows have a label and are in ms, or in tok/s in the group `speed`": (
            shown is None
            or (bool(metric.label) and metric.unit == ("tok/s" if shown.group == "speed" else "ms"))
        ),
        "is defined by tokens, and `needs` says neither `stream` nor `tokens`": (
            of_run
            or not re.search(r"\b(token|output|visible|chunk)", metric.definition)
            or bool(metric.needs)
        ),
        "has a twin that is not a metric": shown is None or not shown.twin or shown.twin in BY_NAME,
    }
    return [what for what, holds in rules.items() if not holds]


def test_every_row_is_consistent() -> None:
    """Names are unique, texts are there, and what a row refers to exists."""
    names = [metric.name for metric in TABLE]
    assert sorted(set(names)) == sorted(names)
    faults = [f"metric {metric.name!r} {what}" for metric in TABLE for what in wrong(metric)]
    assert not faults, "\n".join(faults)
