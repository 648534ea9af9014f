"""The table of what can be demanded."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import pytest

from reporter.report import Report, RequestCounts, ThroughputFigures
from reporter.values.session_figures import Sessions
from rulesets import METRICS, Target, TargetError, parse, unparse
from rulesets.condition import Condition
from rulesets.expression import described
from rulesets.metric_table import quantity_of
from rulesets.quantity import EVERYTHING, spell
from rulesets.request_metrics import REQUEST_METRICS
from rulesets.section_metrics import SECTION_FIGURES
from rulesets.session_metrics import JOB_RATES, SESSION_ERROR, SESSION_METRICS
from tests.for_each import for_each


def test_every_metric_has_a_place_in_the_report() -> None:
    """A target can name nothing that a report does not hold, but what is computed of what it holds."""
    summaries = {metric.name for metric in REQUEST_METRICS} & {
        field.name.removesuffix("_ms") for field in fields(Report)
    }
    summaries |= {metric.name for metric in SESSION_METRICS}
    held = {
        **dict.fromkeys(("latency", "length", "speed"), summaries),
        "interactivity": {"tps_per_user"},
        "throughput": {*(field.name for field in fields(ThroughputFigures)), "tps_per_gpu"}
        | {*JOB_RATES} & {field.name for field in fields(Sessions)}
        | {*SECTION_FIGURES},
        "count": {field.name for field in fields(RequestCounts)},
        "share": {"hit_rate"},
        "error": {"error", SESSION_ERROR},
        "good": {"good"},
    }
    assert [name for name, quantity in METRICS.items() if name not in held[quantity.kind]] == []


@pytest.mark.parametrize(
    ("alias", "metric"),
    [
        ("e2e", "latency"),
        ("tps", "output_tps"),
        ("rps", "qps"),
        ("ttft", "ttft"),
        ("osl", "output_tokens"),
        ("isl", "input_tokens"),
        ("interactivity", "tps_per_user"),
    ],
)
def test_a_metric_goes_by_its_aliases(alias: str, metric: str) -> None:
    """An alias becomes the name that the report uses."""
    quantity = METRICS[metric]
    target = Target.of(
        metric=alias, stat=quantity.stats[0], op=quantity.ops[0], value=1, unit=quantity.units[0]
    )
    assert target.metric == metric


@pytest.mark.parametrize(
    ("written", "stat"),
    [
        ("avg", "mean"),
        ("mean", "mean"),
        ("med", "p50"),
        ("p50", "p50"),
        ("p(50)", "p50"),
        ("p(99.0)", "p99"),
        ("p99.9", "p99.9"),
        ("p( 99.90 )", "p99.9"),
        ("p999", "p99.9"),
        ("median", "p50"),
        ("p97.25", "p97.25"),
        ("p(0.1)", "p0.1"),
        ("max", "max"),
    ],
)
def test_a_statistic_has_several_spellings(written: str, stat: str) -> None:
    """Every spelling becomes one name."""
    target = Target.of(metric="ttft", stat=written, op="<", value=1, unit="s")
    assert target.stat == stat
    assert target.percentile == (Fraction(stat[1:]) / 100 if stat.startswith("p") else None)


@pytest.mark.parametrize(
    ("metric", "value", "unit", "bound"),
    [
        ("ttft", 250, "us", 0.25),
        ("ttft", 500, "ms", 500.0),
        ("ttft", 0.1, "s", 100.0),
        ("ttft", 1.1, "m", 66_000.0),
        ("ttft", 16.1, "s", 16_100.0),
        ("error", 0.7, "%", 0.007),
        ("error", 0.07, None, 0.07),
        ("error", 7, "%", 0.07),
    ],
)
def test_the_bound_is_exact_in_the_unit_of_the_report(
    metric: str, value: float, unit: str | None, bound: float
) -> None:
    """Converting a unit costs no digit: 0.7 % is 0.007 and not its neighbour."""
    target = Target.of(metric=metric, stat=METRICS[metric].stats[0], op="<", value=value, unit=unit)
    assert target.bound == bound
    assert target.in_unit(bound) == value


ONE_SIDED = [
    name
    for name, quantity in METRICS.items()
    if quantity.kind not in {"count", "length"} and name not in SECTION_FIGURES
]


@for_each("metric", ONE_SIDED)
def test_no_target_can_fail_a_server_for_being_faster(metric: str) -> None:
    """A metric with a better side is bounded on the other side only, and so is its change."""
    quantity = METRICS[metric]
    wrong = (
        ("<", "<=")
        if quantity.kind in {"throughput", "share", "speed", "interactivity", "good"}
        else (">", ">=")
    )
    for op in wrong:
        with pytest.raises(TargetError, match="a faster server must never fail") as refused:
            Target.of(metric=metric, stat=quantity.stats[0], op=op, value=0.5, unit="%", delta=True)
        assert refused.value.part == "op"


def test_a_change_is_a_share() -> None:
    """Of whatever metric: 3 % less is -0.03 of it."""
    target = Target.of(metric="tps", op=">", value=-3, unit="%", delta=True)
    assert (target.bound, target.in_unit(-0.03)) == (-0.03, -3.0)


@for_each("metric", [*METRICS, "accuracy.f1"])
def test_what_everything_meets_is_only_shown(metric: str) -> None:
    """With severity info, and a bound that every run meets; error rates and scores have no such bound."""
    quantity = quantity_of(metric)
    if quantity.kind not in EVERYTHING:
        assert quantity.kind in {"error", "accuracy"}
        return
    op, bound = EVERYTHING[quantity.kind]
    fields: dict[str, Any] = {
        "metric": metric,
        "stat": (*quantity.stats, "p90")[-1 if quantity.percentiles else 0],
    }
    fields |= {"conditions": [Condition.parse("ttft<1s")]} if metric == "good" else {}
    fields |= {"unit": "ms"} if quantity.scale.default is None else {}
    shown = Target.of(op=op, value=bound, severity="info", **fields)
    assert shown.is_only_shown
    assert described(shown).endswith(f"{spell(shown.stat)}!info")
    assert parse(unparse(shown)) == replace(shown, id=unparse(shown))
    for other in ({"value": 1.0}, {"severity": "warn"}):
        assert not Target.of(
            **{"op": op, "value": bound, "severity": "info", **fields, **other}
        ).is_only_shown


def test_severity_is_one_of_three() -> None:
    """A severity that does not exist is refused with those that do."""
    with pytest.raises(TargetError, match="unknown severity 'blocker'; choose one of fail, warn or info"):
        Target.of(metric="qps", op=">", value=1, severity="blocker")


def test_a_missing_figure_fails_unless_the_target_says_otherwise() -> None:
    """A target can choose one of three ways."""
    assert Target.of(metric="qps", op=">", value=1).on_missing == "fail"
    assert Target.of(metric="qps", op=">", value=1, on_missing="skip").on_missing == "skip"
    with pytest.raises(TargetError, match="unknown on_missing 'pass'; choose one of fail, skip") as refused:
        Target.of(metric="qps", op=">", value=1, on_missing="pass")
    assert refused.value.part == "on_missing"


@pytest.mark.parametrize(
    ("fields", "part", "message"),
    [
        ({"metric": "tps", "stat": "delta"}, "stat", "add delta: true"),
        ({"metric": "good(ttft<1s)"}, "metric", "metric good, conditions [ttft<1s]"),
    ],
)
def test_what_the_short_form_has_and_a_file_says_otherwise(fields: Any, part: str, message: str) -> None:
    """The message says how to write it."""
    with pytest.raises(TargetError) as refused:
        Target.of(op=">", value=0.5, **fields)
    assert message in str(refused.value)
    assert refused.value.part == part
