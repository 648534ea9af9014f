"""What a run must be, by its report: loads, lengths of time, and what does not apply."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from rulesets.definitions import Definitions
from rulesets.demands import (
    AuditDemand,
    DatasetDemand,
    GenerationDemand,
    LoadDemand,
    SteadyStateDemand,
    Sweep,
    ValidityDemand,
)
from rulesets.errors import RulesetError
from rulesets.evaluation import evaluate
from rulesets.evidence import Rate
from rulesets.expression import parse
from rulesets.report_evidence import ReportEvidence
from rulesets.ruleset import Ruleset
from rulesets.verdict import EXIT_CODES, exit_code, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rulesets.evaluators.rule_row import VerdictRow
    from rulesets.evidence import Evidence

    MakeRun = Callable[..., Evidence]


def first_row(
    run: Evidence, audit_results: Mapping[str, Mapping[str, Any]] | None = None, **parts: Any
) -> VerdictRow:
    """Judge a run by a ruleset without targets; its first row."""
    return evaluate(Ruleset("r", "1", (), **parts), run, audits=audit_results).rows[0]


def test_a_demand_can_be_a_warning(make_run: MakeRun) -> None:
    """A run that breaks it stays valid, and says so."""
    run = make_run(facts={"load": {"kind": "closed", "concurrency": 8}}, window={"issuing_s": 10.0})
    for warn, status, severity in (((), "INVALID", "fail"), (("min_duration_s",), "FAIL", "warn")):
        row = first_row(run, validity=ValidityDemand(min_duration_s=600, warn=warn))
        assert (row.status, row.severity, row.observed) == (status, severity, 10.0)


@pytest.mark.parametrize(
    ("pattern", "load", "reason"),
    [
        ("poisson", {"kind": "poisson", "rate": 1.0}, ""),
        ("poisson", {"kind": "closed", "concurrency": 8}, "the load is closed; required: poisson"),
        (
            "poisson",
            {"kind": "poisson", "profile": "ramp:1..50,5m"},
            "the load is poisson at a rate that varies; required: poisson",
        ),
        ("constant", {"kind": "constant", "rate": 1.0}, ""),
        ("closed_loop", {"kind": "closed", "concurrency": 1}, ""),
        (
            "closed_loop",
            {"kind": "closed", "concurrency": 8},
            "the load is closed with 8 in flight; required: closed_loop with 1 in flight",
        ),
        ("all_at_once", {"kind": "offline"}, ""),
        ("burst", {"kind": "gamma", "burstiness": 0.25}, ""),
        ("burst", {"kind": "poisson", "profile": "bursts:5,100,10s,1s"}, ""),
        ("concurrency", {}, "the load is unknown; required: concurrency"),
    ],
)
def test_the_load_is_the_one_that_is_prescribed(
    pattern: str, load: Mapping[str, Any], reason: str, make_run: MakeRun
) -> None:
    """Another one is another measurement; the remedy is the option."""
    row = first_row(make_run(facts={"load": load}), load=LoadDemand(pattern))  # type: ignore[arg-type]  # a pattern
    assert (row.status, row.reason, row.group) == ("INVALID" if reason else "PASS", reason, "load")
    assert bool(row.remedy) == bool(reason)


@pytest.mark.parametrize(
    ("concurrency", "allowed"),
    [
        ({"min": 33}, "at least 33"),
        ({"min": 1, "max": 4}, "1 to 4"),
        ({"from": 1, "to": 4, "factor": 2}, "one of 1, 2, 4"),
    ],
)
def test_the_concurrency_is_within_its_range(
    concurrency: Mapping[str, int], allowed: str, make_run: MakeRun
) -> None:
    """A range, or the points of a sweep."""
    load = LoadDemand("concurrency", concurrency=concurrency)
    row = evaluate(Ruleset("r", "1", (), load=load), make_run()).rows[1]
    assert (row.status, row.observed) == ("INVALID", 8)
    assert row.reason == f"the concurrency is 8; required: {allowed}"


def test_how_long_a_run_was(make_run: MakeRun) -> None:
    """Issuing counts; of an offline run the window does, and of the steady state its own length."""
    rule = {"validity": ValidityDemand(min_duration_s=600)}
    row = first_row(make_run(window={"duration_s": 700.0, "issuing_s": 500.0}), **rule)
    assert (row.status, row.observed) == ("INVALID", 500.0)
    assert row.reason == "the span of issuing = 500 s; required: >= 600 s"
    assert row.remedy == "run for 600 s: --duration 600"
    counted = first_row(make_run(window={"kind": "requests", "issuing_s": 500.0}), **rule)
    assert counted.remedy == "run for 600 s: --duration 600, without --requests"
    offline = {"facts": {"load": {"kind": "offline"}}, "window": {"duration_s": 700.0, "issuing_s": 0.1}}
    assert first_row(make_run(**offline), **rule).status == "PASS"
    steady = {"window": {"kind": "steady_state", "duration_s": 599.0, "issuing_s": 1200.0}}
    assert first_row(make_run(**steady), **rule).status == "INVALID"


def test_whole_passes_that_last(make_run: MakeRun) -> None:
    """Where passes must be whole, both remedies name requests, and the greater number meets both rules."""
    facts = {"load": {"kind": "poisson", "rate": 100.0}, "dataset": {"rows": 1000}}
    wanted = ValidityDemand(min_duration_s=600, dataset_multiple=True)
    row = first_row(make_run(facts=facts, window={"issuing_s": 500.0}), validity=wanted)
    assert row.remedy == "ask more whole passes, so that it takes 600 s: --requests 61000"


def test_what_a_run_that_was_given_up_cannot_have(make_run: MakeRun) -> None:
    """Its gate is lost already: that it is short does not count too."""
    run = make_run(
        facts={"ended": "gate_lost"},
        window={"issuing_s": 1.0},
        counts={"issued": 7, "completed": 7},
        steady={"found": False},
    )
    ruleset = Ruleset(
        "r",
        "1",
        (parse("ttft:max<1ms"),),
        validity=ValidityDemand(
            0.5, 100, 60.0, dataset_multiple=True, min_passes=1, min_samples_per_concurrency=9
        ),
        steady_state=SteadyStateDemand(required=True, min_blocks=5),
    )
    rows = {row.id: row.status for row in evaluate(ruleset, run).rows}
    assert rows.pop("ttft:max<1ms") == "FAIL"
    assert rows.pop("validity.max_error_rate") == "PASS"
    assert set(rows.values()) == {"SKIP"}


@pytest.mark.parametrize(
    ("parts", "facts", "reason"),
    [
        (
            {"validity": ValidityDemand(streaming="required")},
            {"stream": None},
            "the run does not say whether answers were streamed",
        ),
        (
            {"validity": ValidityDemand(min_samples_per_concurrency=10)},
            {"load": {"kind": "poisson"}},
            "the load is not a closed loop, and has no concurrency",
        ),
        ({"seeds": {"schedule": 1}}, {}, "the load has no schedule that a seed could draw"),
        (
            {"dataset": DatasetDemand(acc_samples=1)},
            {},
            "the run has no score",
        ),
        (
            {"generation": GenerationDemand({"top_p": {"accuracy": 1}})},
            {},
            "the rules say it of accuracy runs only",
        ),
        (
            {"power": {"source": "nvml"}},
            {},
            "the run has no power figure, and a client cannot measure a remote endpoint's power",
        ),
        ({"audits": (AuditDemand("seed_match"),)}, {}, "the rules name no seed"),
        ({"audits": (AuditDemand("config_locked"),)}, {}, "the rules name no settings of requests"),
        (
            {"audits": (AuditDemand("perf_mode_accuracy"),)},
            {},
            "the rules name no score that answers under load must have",
        ),
    ],
)
def test_what_does_not_apply_is_skipped(
    parts: Mapping[str, Any], facts: Mapping[str, Any], reason: str, make_run: MakeRun
) -> None:
    """With the reason, and never as a pass."""
    run = make_run(facts=facts)
    row = first_row(run, **parts)
    assert (row.status, row.reason) == ("SKIP", reason)
    assert evaluate(Ruleset("r", "1", (), **parts), run).status == "INCONCLUSIVE"


@pytest.mark.parametrize(
    ("parts", "run", "status", "remedy"),
    [
        (
            {"audits": (AuditDemand("output_caching"),)},
            {},
            "FAIL",
            "loadgen audit output-caching",
        ),
        (
            {"audits": (AuditDemand("token_count"),)},
            {"tokens": {"recounted_output": None}},
            "FAIL",
            "evaluate with the model's tokenizer: --tokenizer NAME",
        ),
        (
            {"audits": (AuditDemand("osl_range", {"max": 5}),)},
            {"samples": {"output_tokens": ()}},
            "FAIL",
            "have tokens counted: --tokenizer NAME",
        ),
        (
            {"validity": ValidityDemand(min_passes=1)},
            {"facts": {"dataset": None}},
            "INVALID",
            "ask from a file: --prompts FILE",
        ),
        (
            {"validity": ValidityDemand(dataset_multiple=True)},
            {"counts": {"issued": 950}},
            "INVALID",
            "ask whole passes: --requests 1000",
        ),
        (
            {"generation": GenerationDemand({"temperature": 0.5}, locked=True)},
            {},
            "INVALID",
            "ask: --temperature 0.5",
        ),
        (
            {"generation": GenerationDemand({"top_p": 1.0}, locked=True)},
            {},
            "INVALID",
            "ask: --extra-body '{\"top_p\": 1.0}'",
        ),
        (
            {"generation": GenerationDemand({"top_p": 1.0})},
            {},
            "FAIL",
            "ask: --extra-body '{\"top_p\": 1.0}'",
        ),
        (
            {
                "generation": GenerationDemand({"top_p": 1.0, "top_k": 5, "temperature": 0}),
                "seeds": {"model": 9},
            },
            {},
            "FAIL",
            'ask: --extra-body \'{"top_p": 1.0, "top_k": 5, "seed": 9}\'',
        ),
        ({"seeds": {"model": 9}}, {}, "INVALID", "ask: --extra-body '{\"seed\": 9}'"),
        ({"seeds": {"sample_index": 2**63}}, {}, "INVALID", f"use it: --seed {2**63}"),
        (
            {"power": {"required": True}},
            {},
            "FAIL",
            "measure it at the server, and tell the gate: --power SOURCE:WATTS",
        ),
        (
            {"power": {"required": True, "source": "wall"}},
            {"facts": {"power": {"source": "nvml", "watts": 5000.0}}},
            "FAIL",
            "figures of different kinds are never mixed: measure that one, --power wall:WATTS",
        ),
    ],
)
def test_what_is_missing_has_a_remedy(
    parts: Mapping[str, Any], run: Mapping[str, Any], status: str, remedy: str, make_run: MakeRun
) -> None:
    """A missing audit fails, and a run that broke a rule gets the remedy."""
    row = first_row(make_run(**run), **parts)
    assert (row.status, row.remedy) == (status, remedy)


def test_a_report_that_does_not_say_what_was_asked_for(make_run: MakeRun) -> None:
    """An older report has no settings of requests: that shows nothing either way."""
    row = first_row(
        make_run(facts={"generation": None}), generation=GenerationDemand({"temperature": 0}, locked=True)
    )
    assert (row.status, row.remedy) == ("INCONCLUSIVE", "evaluate the run's log, which does")


def test_an_audit_that_did_not_pass_fails(make_run: MakeRun) -> None:
    """Whatever its figures are, and without any."""
    parts = {"audits": (AuditDemand("output_caching"),)}
    for audit_result in (
        {"passed": False, "ref_qps": 10.0, "audit_qps": 10.0, "reason": "90 of 100 answered"},
        {"passed": False, "reason": "90 of 100 answered"},
    ):
        row = first_row(make_run(), {"output_caching": audit_result}, **parts)
        assert (row.status, row.reason) == ("FAIL", "90 of 100 answered")
    assert first_row(make_run(), {"output_caching": {"passed": True}}, **parts).status == "PASS"


def test_a_drift_that_may_be_chance(make_run: MakeRun) -> None:
    """A large swing that is not a trend is neither steady nor shown to drift; five blocks are the fewest."""
    rule = {"steady_state": SteadyStateDemand(max_drift=0.05)}
    swing = [100.0 + 30 * (block % 3) + 3 * block for block in range(10) for _ in range(10)]
    row = first_row(make_run(samples={"latency": swing}), **rule)
    assert (row.status, row.margin is not None and row.margin < 0) == ("INCONCLUSIVE", True)
    assert row.reason.endswith("chance alone may do as much")
    short = first_row(make_run(samples={"latency": [1.0] * 9}), **rule)
    assert short.reason == "0 spans of time are too few to see a drift: 5 are needed"


def test_what_is_left_out_is_reported(make_run: MakeRun) -> None:
    """By id or by group; the rules are then not those that their name stands for."""
    ruleset = Ruleset("r", "1", (parse("ttft:max<1ms"), parse("qps>1")), seeds={"sample_index": 1})
    verdict = evaluate(ruleset, make_run(), skip=("ttft:max<1ms", "validity"))
    assert [row.status for row in verdict.rows] == ["SKIP", "SKIP", "PASS"]
    assert verdict.rows[1].reason == "left out on request (--skip ttft:max<1ms)"
    assert verdict.overrides == ("left out: ttft:max<1ms", "left out: validity")
    assert verdict.status == "PASS"
    with pytest.raises(RulesetError, match="unknown rule 'validty' to leave out; did you mean 'validity'"):
        evaluate(ruleset, make_run(), skip=("validty",))


def test_each_status_of_a_whole(make_run: MakeRun) -> None:
    """Its exit code, and which of them outranks which."""
    passing, failing, unsure, broken = (
        evaluate(
            Ruleset("r", "1", (parse(rule),), validity=ValidityDemand(min_samples=least)), make_run()
        ).rows
        for rule, least in (("qps>1", 1), ("qps>99", 1), ("ttft:p(99.9)<1s@es99", 1), ("qps>1", 1001))
    )
    for rows, status, code in (
        (passing, "PASS", 0),
        (failing, "FAIL", 1),
        (unsure, "INCONCLUSIVE", 5),
        (broken, "INVALID", 4),
        ((*passing, *unsure, *failing, *broken), "INVALID", 4),
        ((*passing, *unsure, *failing), "FAIL", 1),
        ((*passing, *unsure), "INCONCLUSIVE", 5),
        ((), "INCONCLUSIVE", 5),
    ):
        assert (whole(rows), EXIT_CODES[whole(rows)]) == (status, code)
    assert exit_code(evaluate(Ruleset("r", "1", ()), make_run(reasons=["cut off"]))) == 4


def test_what_only_the_log_knows() -> None:
    """A report alone is asked for what it holds, and the rest is inconclusive with the remedy."""
    summary = {"count": 9, "mean": 2.0, "min": 1.0, "p50": 2.0, "p999": 3.0, "max": 3.0}
    report = {
        "run": {"percentile_method": "linear"},
        "validity": {"valid": True},
        "counts": {"issued": 9, "completed": 9},
        "throughput": {"qps": 5.0},
        "ttft_ms": summary,
        "breakdown": {
            "kind": [{"value": "long", "values": 1, "completed": 4, "qps": 2.0, "ttft_ms": summary}]
        },
    }
    answers = {
        "ttft:p(99.9)<4ms": "PASS",
        "ttft:min<2ms": "PASS",
        "qps>4": "PASS",
        "ttft{kind:long}:max<4ms": "PASS",
        "qps{kind:long}>1": "PASS",
        "ttft{kind:short}:max<4ms": "FAIL",
        "ttft{region:x}:max<4ms": "INCONCLUSIVE",
        "ttft:p(42)<4ms": "INCONCLUSIVE",
        "ttft:p(50)<4ms@ucl95": "INCONCLUSIVE",
        "ttft:p(99.9)<4ms@es99": "INCONCLUSIVE",
        "ttft:mean<4ms@ucl95": "INCONCLUSIVE",
        "qps>4@lcl95": "INCONCLUSIVE",
        "good(ttft<1s):count>=1": "INCONCLUSIVE",
        "accuracy.x>0": "FAIL",
        "ttfb:max<1s": "FAIL",
    }
    ruleset = Ruleset("r", "1", tuple(map(parse, answers)))
    rows = evaluate(ruleset, ReportEvidence(report)).rows
    assert dict(zip(answers, (row.status for row in rows), strict=True)) == answers
    assert ReportEvidence(report).rate("qps", ()) == Rate(5.0, 9)


def test_the_rules_of_a_sweep_are_known_where_one_run_is_judged(make_run: MakeRun) -> None:
    """They can be left out by their names, although one run has but one row for all of them."""
    ruleset = Ruleset("r", "1", (parse("qps>0"),), sweep=Sweep(points={"min": 8}))
    verdict = evaluate(ruleset, make_run(), skip=("sweep.points.min",))
    assert [row.id for row in verdict.rows] == ["qps:value>0req/s", "sweep"]
    assert verdict.rows[1].target == "over several runs: points"
    with pytest.raises(RulesetError, match=r"did you mean 'sweep\.points\.min'"):
        evaluate(ruleset, make_run(), skip=("sweep.points.mim",))


@pytest.mark.parametrize(
    ("expression", "observed"), [("tps>=0!info", 1000.0), ("ttft:max<=86400000ms!info", 149.0)]
)
def test_what_is_only_shown_has_no_bound(expression: str, observed: float, make_run: MakeRun) -> None:
    """Its row has the figure, and neither bound nor margin."""
    (row,) = evaluate(Ruleset("r", "1", (parse(expression),)), make_run()).rows
    assert (row.status, row.bound, row.margin) == ("PASS", None, None)
    assert row.target in {"output_tps:value!info", "ttft:max!info"}
    assert row.observed == observed


def test_what_is_only_shown_may_have_no_figure(make_run: MakeRun) -> None:
    """A percentile that falls on failed requests is not a figure."""
    definitions = Definitions(failed_requests="count_as_violation")
    run = make_run(samples={"ttft": [1.0, math.inf]}, definitions=definitions)
    (row,) = evaluate(Ruleset("r", "1", (parse("ttft:max<=1440m!info"),), definitions=definitions), run).rows
    assert row.reason == "ttft:max falls on failed requests, which exceed every bound: there is no figure"
