"""Verdicts: rulesets evaluated on reports."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rulesets import (
    METRICS,
    ReportEvidence,
    Ruleset,
    Target,
    ValidityDemand,
    Verdict,
    VerdictRow,
    evaluate,
    exit_code,
    of_expressions,
    parse,
    unparse,
)
from rulesets.condition import Condition
from rulesets.definitions import Definitions
from rulesets.evaluators.rule_row import figure_text
from tests.for_each import for_each

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    MakeReport = Callable[..., Mapping[str, Any]]

GRAVITY = {"PASS": 0, "INCONCLUSIVE": 1, "FAIL": 2, "INVALID": 3}


def one_row(expression: str, report: Mapping[str, Any]) -> VerdictRow:
    """Judge a report by one short form."""
    (row,) = evaluate(of_expressions([expression]), ReportEvidence(report)).rows
    return row


@st.composite
def targets(draw: st.DrawFn, kinds: tuple[str, ...] = ("latency", "throughput", "error", "count")) -> Target:
    """Draw a target whose bound lies where reports have their figures."""
    metric = draw(st.sampled_from([name for name, quantity in METRICS.items() if quantity.kind in kinds]))
    quantity = METRICS[metric]
    unit, factor = draw(st.sampled_from(sorted(quantity.scale.units.items())))
    op = draw(st.sampled_from(quantity.ops))
    bound = draw(st.floats(min_value=0.01, max_value=min(0.99 * quantity.scale.greatest, 500)))
    value = bound / float(factor)
    held = ["p50", "p90", "p95", "p99", "p99.9"] if quantity.percentiles else []
    target = Target.of(
        metric=metric,
        stat=draw(st.sampled_from([*quantity.stats, *held])),
        op=op,
        value=round(value) if op in {"==", "!="} else value,
        unit=unit,
        severity=draw(st.sampled_from(["fail", "warn", "info"])),
    )
    return replace(target, id=unparse(target))


figures = st.fixed_dictionaries(
    {
        "latency_ms": st.none() | st.floats(min_value=0.001, max_value=500),
        "rate": st.none() | st.floats(min_value=0, max_value=500),
        "completed": st.integers(0, 100),
        "failed": st.integers(0, 100),
        "cancelled": st.integers(0, 5),
    }
)
"""Draws what `make_report` takes."""


# What a row says…


def test_a_target_that_is_met_passes(make_report: MakeReport) -> None:
    """The row holds figure, bound, unit, samples and the share by which it is met."""
    row = one_row("ttft:p(99)<398ms", make_report(latency_ms=100.0))
    assert row == VerdictRow(
        id="ttft:p(99)<398ms",
        target="ttft:p(99)<398ms",
        observed=199.0,
        bound=398.0,
        unit="ms",
        n=99,
        status="PASS",
        severity="fail",
        margin=0.5,
        reason="",
        group="target",
        method="p99 (linear interpolation)",
    )


def test_a_target_that_is_missed_fails(make_report: MakeReport) -> None:
    """The margin is negative and the reason says both figures in the unit of the rule."""
    row = one_row("ttft:p(99)<0.1s", make_report(latency_ms=100.0))
    assert (row.status, row.observed, row.bound, row.unit) == ("FAIL", 0.199, 0.1, "s")
    assert row.margin == pytest.approx(-0.99)
    assert row.reason == "ttft:p(99) = 0.199 s; required: < 0.1 s"


@given(st.floats(0, 1e9), st.floats(-2e-2, 2e-2), st.sampled_from([1e-9, 1e-6, 1e-3, 1]))
def test_a_figure_in_words_is_on_its_side_of_the_bound(bound: float, distance: float, scale: float) -> None:
    """However near a figure is, the text reads as met or missed as the figure is."""
    bound = float(f"{bound:.10g}")
    figure = bound * (1 + distance * scale)
    shown = float(figure_text(figure, bound).replace(",", ""))
    assert (shown > bound, shown < bound) == (figure > bound, figure < bound) or math.isclose(
        figure, bound, rel_tol=1e-9, abs_tol=1e-9
    )


def test_a_verdict_as_text(make_report: MakeReport) -> None:
    """Its status, and why it did not pass."""
    report = ReportEvidence(make_report(latency_ms=100.0))
    assert str(evaluate(of_expressions(["ttft:p(99)<398ms"]), report)) == "PASS"
    missed = "FAIL\nFAIL: ttft:p(99) = 0.199 s; required: < 0.1 s"
    assert str(evaluate(of_expressions(["ttft:p(99)<398ms", "ttft:p(99)<0.1s"]), report)) == missed
    near = evaluate(of_expressions(["ttft:p(99)<198.999ms"]), report)
    assert str(near) == "FAIL\nFAIL: ttft:p(99) = 199.000 ms; required: < 198.999 ms"


@pytest.mark.parametrize(
    ("expression", "observed", "n"),
    [
        ("latency:mean<1s", 0.11, 99),
        ("latency:min<1s", 0.05, 99),
        ("latency:max<1s", 0.2, 99),
        ("latency:p(50)<1s", 0.1, 99),
        ("latency:p(90)<1s", 0.19, 99),
        ("latency:p(95)<1s", 0.195, 99),
        ("latency:p(99)<1s", 0.199, 99),
        ("latency:p(99.9)<1s", 0.1999, 99),
        ("qps>1", 10.0, 99),
        ("output_tps>1", 10.0, 99),
        ("total_tps>1", 10.0, 99),
        ("error<2%", 1.0, 100),
        ("error<0.02", 0.01, 100),
        ("issued>=100", 101, 101),
        ("completed>=99", 99, 101),
        ("failed<=1", 1, 101),
        ("cancelled==0", 0, 101),
    ],
)
def test_every_statistic_is_read_from_its_place(
    expression: str, observed: float, n: int, make_report: MakeReport
) -> None:
    """Each statistic and kind of metric finds its own figure; a request in flight has not ended."""
    row = one_row(expression, make_report(in_flight=1))
    assert row.status == "PASS"
    assert row.observed == pytest.approx(observed)
    assert row.n == n


@for_each("metric", METRICS)
def test_a_metric_without_samples_fails(metric: str, make_report: MakeReport) -> None:
    """Nothing passes because nothing was measured; the row says so, and what to do."""
    quantity = METRICS[metric]
    loosest = {"<": 0.9, "<=": 0.9, ">": 0.0, ">=": 0.0}
    op = next(op for op in loosest if op in quantity.ops)
    target = Target.of(
        metric=metric,
        stat=quantity.stats[0],
        op=op,
        value=loosest[op],
        unit=next(iter(quantity.scale.units)),
        conditions=[Condition("ttft", "<", 1.0, "s")] if metric == "good" else [],
    )
    report = make_report(latency_ms=None, rate=None, completed=0, failed=0, duration_s=None)
    verdict = evaluate(Ruleset("r", "1", (target,)), ReportEvidence(report))
    assert verdict.status == "FAIL"
    assert verdict.rows[0].observed is None
    assert verdict.rows[0].margin is None
    assert "the run has no samples of " + metric in verdict.rows[0].reason
    assert verdict.rows[0].remedy


@pytest.mark.parametrize(("on_missing", "status"), [("skip", "SKIP"), ("inconclusive", "INCONCLUSIVE")])
def test_a_target_may_say_what_no_samples_mean(on_missing: str, status: str, make_report: MakeReport) -> None:
    """It does not fail then; and alone it shows nothing."""
    target = Target.of(metric="connect", stat="max", op="<", value=1, unit="s", on_missing=on_missing)
    verdict = evaluate(Ruleset("r", "1", (target,)), ReportEvidence(make_report(latency_ms=None)))
    assert (verdict.rows[0].status, verdict.status) == (status, "INCONCLUSIVE")


def test_a_figure_that_is_not_a_number_fails(make_report: MakeReport) -> None:
    """NaN and infinity are not figures."""
    for broken in (math.nan, math.inf):
        assert one_row("qps>=0", make_report(rate=broken)).status == "FAIL"


def test_a_report_without_a_metric_fails_it(make_report: MakeReport) -> None:
    """A key that the report does not have is a metric without samples."""
    report = {
        key: value for key, value in make_report().items() if key not in {"ttft_ms", "throughput", "counts"}
    }
    verdict = evaluate(
        of_expressions(["ttft:max<1m", "qps>=0", "error<99%", "failed<=5"]), ReportEvidence(report)
    )
    assert [row.status for row in verdict.rows] == ["FAIL"] * 4


def test_a_part_of_the_requests_has_no_figures(make_report: MakeReport) -> None:
    """A target for some of the requests is not judged by all of them, and needs the log."""
    row = one_row("ttft{region:high}:max<1m", make_report())
    assert (row.status, row.target) == ("INCONCLUSIVE", "ttft{region:high}:max<1m")
    assert "region:high" in row.reason
    assert row.remedy == "evaluate the run's folder, which has its log"


def test_a_bound_of_zero_has_no_margin(make_report: MakeReport) -> None:
    """A share of nothing is not computed."""
    assert one_row("failed==0", make_report(failed=1)).margin is None
    assert one_row("error<=0%", make_report(failed=0)).status == "PASS"


def test_a_figure_on_the_bound_has_no_margin_either_way(make_report: MakeReport) -> None:
    """On the bound the margin is a plain zero, and the operator decides."""
    on = make_report(rate=10.0)
    assert [one_row(f"qps{op}10", on).status for op in (">=", ">")] == ["PASS", "FAIL"]
    assert [str(one_row(f"qps{op}10", on).margin) for op in (">=", ">")] == ["0.0", "0.0"]


def test_the_error_rate_counts_every_request_that_ended(make_report: MakeReport) -> None:
    """What was cancelled has ended without failing; what is in flight has not ended."""
    row = one_row("error<2%", make_report(completed=90, failed=1, cancelled=9, in_flight=50))
    assert (row.observed, row.n) == (1.0, 100)


# What the whole says…


@pytest.mark.parametrize(
    ("expressions", "status", "code"),
    [
        (["qps>=10", "ttft:p(50)<=100ms"], "PASS", 0),
        (["qps>=10", "ttft:p(50)<100ms"], "FAIL", 1),
        (["qps>=10", "ttft:p(50)<100ms!warn", "qps>99!info"], "PASS", 0),
        (["qps>99", "ttft:p(50)<100ms!warn"], "FAIL", 1),
    ],
)
def test_only_a_row_that_counts_fails_the_whole(
    expressions: list[str], status: str, code: int, make_report: MakeReport
) -> None:
    """Rows of severity warn and info fail alone."""
    verdict = evaluate(of_expressions(expressions), ReportEvidence(make_report()))
    assert (verdict.status, exit_code(verdict)) == (status, code)


def test_an_invalid_run_is_neither_passed_nor_failed(make_report: MakeReport) -> None:
    """What makes the report invalid outranks every row, and is in the verdict."""
    for expression in ("qps>1", "qps>99"):
        report = make_report(reasons=["the client was the limit"])
        verdict = evaluate(of_expressions([expression]), ReportEvidence(report))
        assert (verdict.status, exit_code(verdict)) == ("INVALID", 4)
        assert verdict.reasons == ("the client was the limit",)


def test_a_report_that_does_not_say_that_it_is_valid_is_not(make_report: MakeReport) -> None:
    """Silence about validity is not validity."""
    report = {key: value for key, value in make_report().items() if key != "validity"}
    verdict = evaluate(of_expressions(["qps>1"]), ReportEvidence(report))
    assert verdict.status == "INVALID"
    assert verdict.reasons == ("the report does not say that the run is valid",)


@pytest.mark.parametrize(
    ("validity", "figures", "reason"),
    [
        (
            ValidityDemand(max_error_rate=0.01),
            {"completed": 98, "failed": 2},
            "the error rate = 0.0200; required: <= 0.01",
        ),
        (
            ValidityDemand(min_samples=100),
            {"completed": 99},
            "the number of completed requests = 99; required: >= 100",
        ),
        (ValidityDemand(min_duration_s=60), {"duration_s": 59.5}, "the window = 59.5 s; required: >= 60 s"),
        (
            ValidityDemand(min_duration_s=60),
            {"duration_s": None},
            "the run has no samples of the window: not measured, so counted as failed",
        ),
        (
            ValidityDemand(max_error_rate=0.5),
            {"completed": 0, "failed": 0, "in_flight": 9},
            "the run has no samples of the error rate: not measured, so counted as failed",
        ),
    ],
)
def test_a_validity_rule_that_is_not_met_makes_the_run_invalid(
    validity: ValidityDemand, figures: dict[str, Any], reason: str, make_report: MakeReport
) -> None:
    """It outranks a missed target, and its row says what was short."""
    ruleset = replace(of_expressions(["qps>99"]), validity=validity)
    verdict = evaluate(ruleset, ReportEvidence(make_report(**figures)))
    assert (verdict.status, exit_code(verdict)) == ("INVALID", 4)
    assert (verdict.rows[0].status, verdict.rows[0].reason) == ("INVALID", reason)


def test_validity_rules_that_are_met_are_rows_too(make_report: MakeReport) -> None:
    """They stand before the targets under their own ids."""
    validity = ValidityDemand(max_error_rate=0.01, min_samples=99, min_duration_s=60)
    verdict = evaluate(replace(of_expressions(["qps>1"]), validity=validity), ReportEvidence(make_report()))
    assert verdict.status == "PASS"
    assert [(row.id, row.target, row.observed, row.margin) for row in verdict.rows[:3]] == [
        ("validity.max_error_rate", "max_error_rate: 0.01", 0.01, 0.0),
        ("validity.min_samples", "min_samples: 99", 99, 0.0),
        ("validity.min_duration_s", "min_duration_s: 60", 60.0, 0.0),
    ]


def test_a_verdict_is_json(make_report: MakeReport) -> None:
    """The dictionary of a verdict is what JSON makes of it."""
    ruleset = Ruleset("r", "1", (parse("error<0.5%!warn"),), ValidityDemand(min_samples=1), ("SLO 7",))
    plain = evaluate(ruleset, ReportEvidence(make_report())).to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain == {
        "status": "PASS",
        "ruleset": "r",
        "version": "1",
        "model": "",
        "scenario": "",
        "locked": False,
        "overrides": [],
        "source": ["SLO 7"],
        "definitions": {**Definitions().to_dict(), "token_categories": ["reasoning", "content", "tool_call"]},
        "notes": [],
        "reasons": [],
        "accepted": [],
        "rows": [
            {
                "id": "validity.min_samples",
                "target": "min_samples: 1",
                "observed": 99,
                "bound": 1,
                "unit": "",
                "n": 100,
                "status": "PASS",
                "severity": "fail",
                "margin": 98.0,
                "reason": "",
                "group": "validity",
                "method": "the number of completed requests",
                "limit": None,
                "remedy": "",
                "source": "",
            },
            {
                "id": "error:rate<0.5%!warn",
                "target": "error:rate<0.5%!warn",
                "observed": 1.0,
                "bound": 0.5,
                "unit": "%",
                "n": 100,
                "status": "FAIL",
                "severity": "warn",
                "margin": -1.0,
                "reason": "error:rate = 1 %; required: < 0.5 %",
                "group": "target",
                "method": "1 of 100 failed",
                "limit": None,
                "remedy": "",
                "source": "",
            },
        ],
    }


# What holds for any run…


def gravity(verdict: Verdict) -> int:
    """Rank a verdict from good to bad."""
    return GRAVITY[verdict.status]


@given(target=targets(), figures=figures, share=st.floats(min_value=0, max_value=1))
def test_tightening_a_target_never_turns_fail_into_pass(
    target: Target, figures: dict[str, Any], share: float, make_report: MakeReport
) -> None:
    """A stricter bound passes at most what the looser one passed."""
    tighter = {"<": share, "<=": share, ">": 1 + share, ">=": 1 + share}.get(target.op, 1.0)
    report = make_report(**figures)
    loose = evaluate(Ruleset("r", "1", (target,)), ReportEvidence(report))
    tight = evaluate(
        Ruleset("r", "1", (replace(target, value=target.value * tighter),)), ReportEvidence(report)
    )
    assert GRAVITY[tight.rows[0].status] >= GRAVITY[loose.rows[0].status]
    assert gravity(tight) >= gravity(loose)


@given(
    target=targets(("latency", "throughput", "error")),
    figures=figures,
    factor=st.floats(min_value=1, max_value=100),
    mended=st.floats(min_value=0, max_value=1),
)
def test_a_better_server_never_fails_what_a_worse_one_passed(
    target: Target, figures: dict[str, Any], factor: float, mended: float, make_report: MakeReport
) -> None:
    """Shorter latencies, higher rates and fewer failures cost no target its pass."""
    repaired = int(figures["failed"] * mended)
    better = figures | {
        "latency_ms": figures["latency_ms"] and figures["latency_ms"] / factor,
        "rate": figures["rate"] and figures["rate"] * factor,
        "failed": figures["failed"] - repaired,
        "completed": figures["completed"] + repaired,
    }
    # All statistics of one value are the same number, which those of `make_report` are not.
    assume(1 not in {figures["completed"], better["completed"]})
    ruleset = Ruleset("r", "1", (target,))
    before, after = (evaluate(ruleset, ReportEvidence(make_report(**values))) for values in (figures, better))
    assert GRAVITY[after.rows[0].status] <= GRAVITY[before.rows[0].status]


@given(data=st.data(), rules=st.lists(targets(), min_size=1, max_size=6), figures=figures)
def test_the_order_of_rules_does_not_matter(
    data: st.DataObject, rules: list[Target], figures: dict[str, Any], make_report: MakeReport
) -> None:
    """A permuted ruleset has the same status and the same rows, permuted."""
    report = make_report(**figures)
    permuted = data.draw(st.permutations(rules))
    straight, mixed = (
        evaluate(Ruleset("r", "1", tuple(order)), ReportEvidence(report)) for order in (rules, permuted)
    )
    assert mixed.status == straight.status
    assert sorted(mixed.rows, key=repr) == sorted(straight.rows, key=repr)
    assert [row.id for row in mixed.rows] == [target.id for target in permuted]


@given(rules=st.lists(targets(), min_size=1, max_size=6), figures=figures)
def test_the_whole_follows_from_its_rows(
    rules: list[Target], figures: dict[str, Any], make_report: MakeReport
) -> None:
    """A valid run fails exactly when a row that counts does, and every row that misses says why."""
    verdict = evaluate(Ruleset("r", "1", tuple(rules)), ReportEvidence(make_report(**figures)))
    counting = [row.status for row in verdict.rows if row.severity == "fail"]
    assert (verdict.status == "FAIL") == ("FAIL" in counting)
    assert all((row.reason == "") == (row.status == "PASS") for row in verdict.rows)
    assert all(row.margin is None or (row.margin >= 0) or row.status == "FAIL" for row in verdict.rows)
    json.dumps(verdict.to_dict(), allow_nan=False)
