"""Every kind of rule, with a run that must pass it and a run that must not."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rulesets.demands import (
    AuditDemand,
    Baseline,
    DatasetDemand,
    GenerationDemand,
    LoadDemand,
    OptionsDemand,
    SteadyStateDemand,
    Sweep,
    ValidityDemand,
)
from rulesets.evaluation import evaluate, kinds, rules_of
from rulesets.evidence import Accuracy, Good
from rulesets.expression import parse
from rulesets.loading import read
from rulesets.ruleset import Ruleset

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rulesets.evidence import Evidence

    MakeRun = Callable[..., Evidence]

SLOW = [1000.0 + 37 * i % 50 for i in range(1000)]
WORSE = {
    "samples": {"ttft": SLOW, "latency": SLOW, "tpot": SLOW, "output_tokens": [value * 10 for value in SLOW]}
    | {name: [value / 100 for value in SLOW] for name in ("generation_tps", "prompt_tps")},
    "rates": {"qps": 1.0, "output_tps": 100.0, "total_tps": 400.0, "hit_rate": 0.09},
}
"""A tenth as fast."""


@dataclass(frozen=True)
class Case:
    """A ruleset of one rule, and two runs that it distinguishes."""

    ruleset: Ruleset
    failing: Mapping[str, Any]
    passing: Mapping[str, Any] = field(default_factory=dict)
    status: str = "INVALID"
    audits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    failing_audits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def rules(expression: str = "", **parts: Any) -> Ruleset:
    """A ruleset of one short form, or of other parts."""
    return Ruleset("r", "1", (parse(expression),) if expression else (), **parts)


def slow(expression: str) -> Case:
    """A target that a server misses which is a tenth as fast."""
    return Case(rules(expression), WORSE, status="FAIL")


def audit(
    name: str, failing: Mapping[str, Any], parameters: Mapping[str, Any] | None = None, **parts: Any
) -> Case:
    """An audit that a run does not pass."""
    return Case(rules(audits=(AuditDemand(name, parameters or {}),), **parts), failing, status="FAIL")  # type: ignore[arg-type]  # a name of the table


AGENTS = {"load": {"kind": "closed", "concurrency": 10}}

CASES: Mapping[str, Case] = {
    "latency.figure": slow("ttft:p(99)<200ms"),
    "latency.effective": slow("ttft:p(99)<200ms@ucl95"),
    "latency.order_stat": slow("ttft:p(99)<200ms@ucl95-order_stat"),
    "latency.bootstrap": slow("ttft:mean<200ms@ucl95-bootstrap"),
    "latency.batch_means": slow("ttft:mean<200ms@ucl95"),
    "latency.early_stopping.test": slow("ttft:p(99)<200ms@es99"),
    "latency.early_stopping.estimate": slow("ttft:p(99)<200ms@es99-estimate"),
    "length.figure": slow("osl:max<=2000"),
    "length.effective": slow("osl:p(90)<=2000@ucl95"),
    "length.order_stat": slow("osl:p(90)<=2000@ucl95-order_stat"),
    "length.bootstrap": slow("osl:mean<=2000@ucl95-bootstrap"),
    "length.batch_means": slow("osl:mean<=2000@ucl95"),
    "length.early_stopping.test": slow("osl:p(90)<=2000@es99"),
    "length.early_stopping.estimate": slow("osl:p(90)<=2000@es99-estimate"),
    "speed.figure": slow("generation_tps:mean>20"),
    "speed.effective": slow("generation_tps:p(10)>20@lcl95"),
    "speed.order_stat": slow("generation_tps:p(10)>20@lcl95-order_stat"),
    "speed.bootstrap": slow("prompt_tps:mean>20@lcl95-bootstrap"),
    "speed.batch_means": slow("prompt_tps:mean>20@lcl95"),
    "interactivity.figure": slow("tps_per_user:p(90)>20"),
    "interactivity.effective": slow("tps_per_user:p(90)>20@lcl95"),
    "interactivity.order_stat": slow("tps_per_user:p(90)>20@lcl95-order_stat"),
    "interactivity.bootstrap": slow("tps_per_user:mean>20@lcl95-bootstrap"),
    "interactivity.batch_means": slow("tps_per_user:mean>20@lcl95"),
    "throughput.figure": slow("tps_per_gpu>=900"),
    "throughput.batch_means": slow("qps>=9@lcl95"),
    "throughput.bootstrap": slow("tps>=900@lcl95-bootstrap"),
    "share.figure": slow("hit_rate>=0.8"),
    "share.batch_means": slow("hit_rate>=0.8@lcl95"),
    "share.bootstrap": slow("hit_rate>=80%@lcl95-bootstrap"),
    "error.figure": Case(rules("error<1%"), {"counts": {"completed": 900, "failed": 100}}, status="FAIL"),
    "error.wilson": Case(
        rules("error<1%@ucl95"), {"counts": {"completed": 900, "failed": 100}}, status="FAIL"
    ),
    "good.figure": Case(
        rules("good(ttft<500ms,tpot<50ms):rate>=9"), {"good": Good(500, 1000, 100.0)}, status="FAIL"
    ),
    "good.wilson": Case(
        rules("good(ttft<500ms):fraction>=0.95@lcl95"), {"good": Good(500, 1000, 100.0)}, status="FAIL"
    ),
    "count.figure": Case(rules("failed==0"), {"counts": {"completed": 999, "failed": 1}}, status="FAIL"),
    "accuracy.figure": Case(
        rules("accuracy.gsm8k>=0.9"), {"scores": {"gsm8k": Accuracy(0.85, 1000)}}, status="FAIL"
    ),
    "accuracy.normal": Case(
        rules("accuracy.gsm8k>=0.9@lcl95"), {"scores": {"gsm8k": Accuracy(0.85, 1000, 0.01)}}, status="FAIL"
    ),
    "accuracy.wilson": Case(
        rules("accuracy.gsm8k>=0.9@lcl95-wilson"), {"scores": {"gsm8k": Accuracy(0.85, 1000)}}, status="FAIL"
    ),
    "delta.none": slow("tps:delta>-3%"),
    "delta.mann_whitney": slow("tps:delta>-3%@mw0.05"),
    "baseline.mann_whitney": Case(rules(baseline=Baseline(metrics={"tps": "higher"})), WORSE, status="FAIL"),
    "baseline.bootstrap": Case(
        rules(baseline=Baseline(test="bootstrap", metrics={"ttft.p95": "lower"})), WORSE, status="FAIL"
    ),
    "baseline.tost": Case(
        rules(baseline=Baseline(test="tost", metrics={"ttft.mean": "lower"})), WORSE, status="FAIL"
    ),
    "validity.max_error_rate": Case(
        rules(validity=ValidityDemand(max_error_rate=0.01)), {"counts": {"completed": 900, "failed": 100}}
    ),
    "validity.min_samples": Case(
        rules(validity=ValidityDemand(min_samples=1000)), {"counts": {"completed": 999}}
    ),
    "validity.min_duration_s": Case(
        rules(validity=ValidityDemand(min_duration_s=100)), {"window": {"issuing_s": 99.0}}
    ),
    "validity.dataset_multiple": Case(
        rules(validity=ValidityDemand(dataset_multiple=True)), {"counts": {"issued": 1001}}
    ),
    "validity.min_passes": Case(rules(validity=ValidityDemand(min_passes=10)), {"counts": {"issued": 999}}),
    "validity.streaming": Case(
        rules(validity=ValidityDemand(streaming="required")), {"facts": {"stream": False}}
    ),
    "validity.min_samples_per_concurrency": Case(
        rules(validity=ValidityDemand(min_samples_per_concurrency=10)),
        {"facts": {"load": {"kind": "closed", "concurrency": 101}}},
    ),
    "validity.warmup_per_concurrency": Case(
        rules(validity=ValidityDemand(warmup_per_concurrency=2)), {"counts": {"warmup": 15}}
    ),
    "validity.min_sessions": Case(
        rules(validity=ValidityDemand(min_sessions=30)),
        {"sessions": {"count": 40, "endings": {"completed": 29, "duration": 11}}},
        {"sessions": {"count": 40, "endings": {"completed": 30, "duration": 10}}},
    ),
    "validity.min_sessions_per_concurrency": Case(
        rules(validity=ValidityDemand(min_sessions_per_concurrency=3)),
        {"facts": AGENTS, "sessions": {"count": 40, "endings": {"completed": 29}}},
        {"facts": AGENTS, "sessions": {"count": 40, "endings": {"completed": 30}}},
    ),
    "validity.min_coverage": Case(
        rules(validity=ValidityDemand(min_coverage=0.95)),
        {"sessions": {"count": 9, "ttft_coverage": 0.96, "itl_coverage": 0.94}},
        {"sessions": {"count": 9, "ttft_coverage": 0.95, "itl_coverage": 0.96}},
    ),
    "validity.max_context_overflow_rate": Case(
        rules(validity=ValidityDemand(max_context_overflow_rate=0.01)),
        {"sessions": {"count": 40, "endings": {"completed": 29, "context_overflow": 11}}},
        {"sessions": {"count": 40, "endings": {"completed": 30, "context_overflow": 10}}},
    ),
    "load.pattern": Case(
        rules(load=LoadDemand("concurrency")), {"facts": {"load": {"kind": "poisson", "rate": 5.0}}}
    ),
    "load.rate": Case(
        rules(load=LoadDemand("poisson", rate=5.0)),
        {"facts": {"load": {"kind": "poisson", "rate": 6.0}}},
        {"facts": {"load": {"kind": "poisson", "rate": 5.0}}},
    ),
    "load.concurrency": Case(
        rules(load=LoadDemand("concurrency", concurrency={"from": 4, "to": 512, "factor": 2})),
        {"facts": {"load": {"kind": "closed", "concurrency": 24}}},
    ),
    "dataset.name": Case(
        rules(dataset=DatasetDemand(name="Questions")),
        {"facts": {"dataset": {"name": "others.jsonl"}}},
        status="FAIL",
    ),
    "dataset.perf_samples": Case(
        rules(dataset=DatasetDemand(perf_samples=100)), {"facts": {"dataset": {"rows": 99}}}
    ),
    "dataset.acc_samples": Case(
        rules("accuracy.gsm8k>=0", dataset=DatasetDemand(acc_samples=1000)),
        {"scores": {"gsm8k": Accuracy(1.0, 999)}},
    ),
    "dataset.sha256": Case(
        rules(dataset=DatasetDemand(sha256="AB12")), {"facts": {"dataset": {"rows": 100, "sha256": "cd34"}}}
    ),
    "generation.setting": Case(
        rules(
            generation=GenerationDemand(
                {"max_new_tokens": {"performance": 128, "accuracy": 1024}}, locked=True
            )
        ),
        {"facts": {"generation": {"max_tokens": 64}}},
    ),
    "seeds.sample_index": Case(rules(seeds={"sample_index": 7}), {"facts": {"seed": 8}}),
    "seeds.schedule": Case(
        rules(seeds={"schedule": 7}),
        {"facts": {"load": {"kind": "poisson", "rate": 1}, "schedule_seed": 8}},
        {"facts": {"load": {"kind": "poisson", "rate": 1}, "seed": 1, "schedule_seed": 7}},
    ),
    "seeds.model": Case(rules(seeds={"model": 3}), {"facts": {"generation": {"max_tokens": 128}}}),
    "power": Case(
        rules(power={"source": "wall", "required": True}),
        {},
        {"facts": {"power": {"source": "wall", "watts": 5200.0}}},
        status="FAIL",
    ),
    "steady_state.required": Case(
        rules(steady_state=SteadyStateDemand(required=True)),
        {"steady": {"found": False, "reason": "it drifts"}},
    ),
    "steady_state.min_blocks": Case(
        rules(steady_state=SteadyStateDemand(min_blocks=5)), {"steady": {"found": True, "blocks": 4}}
    ),
    "steady_state.max_drift": Case(
        rules(steady_state=SteadyStateDemand(max_drift=0.05)),
        {"samples": {"latency": [100.0 + i / 10 for i in range(1000)]}},
    ),
    "audit.output_caching": Case(
        rules(audits=(AuditDemand("output_caching", {"threshold": 0.1}),)),
        {},
        status="FAIL",
        audits={"output_caching": {"passed": True, "ref_qps": 10.0, "audit_qps": 10.9}},
        failing_audits={"output_caching": {"passed": True, "ref_qps": 10.0, "audit_qps": 11.1}},
    ),
    "audit.osl_range": audit("osl_range", WORSE, {"min": 1150.38, "max": 1406.02}),
    "audit.token_count": audit("token_count", {"tokens": {"usage_output": 102_000}}, {"tolerance": 0.01}),
    "audit.perf_mode_accuracy": Case(
        rules(audits=(AuditDemand("perf_mode_accuracy", {"metric": "gpqa", "min": 60.698}),)),
        {},
        status="FAIL",
        audits={"perf_mode_accuracy": {"value": 61.0, "n": 990}},
        failing_audits={"perf_mode_accuracy": {"value": 60.0, "n": 990}},
    ),
    "options.set": Case(
        rules(options=OptionsDemand({"warmup": 10})),
        {"facts": {"options": {"warmup": "0"}}},
        {"facts": {"options": {"warmup": "10"}}},
    ),
    "options.others": Case(
        rules(options=OptionsDemand({"warmup": "10"}, ("model",))),
        {"facts": {"options": {}, "changed_options": ["model", "salt", "warmup"]}},
        {"facts": {"options": {}, "changed_options": ["model", "warmup"]}},
    ),
    "audit.seed_match": audit("seed_match", {"facts": {"seed": 8}}, seeds={"sample_index": 7}),
    "audit.config_locked": audit(
        "config_locked",
        {"facts": {"generation": {"temperature": 1}}},
        generation=GenerationDemand({"temperature": 0.0}),
    ),
    "audit.salt": audit("salt", {"facts": {"salt": False}}),
}


def test_every_kind_of_rule_has_a_case() -> None:
    """A kind of rule that is new must come with a run that passes it and a run that does not."""
    assert set(CASES) == set(kinds())
    assert len(set(kinds())) == len(kinds())


@pytest.mark.parametrize("kind", kinds())
def test_a_run_that_must_pass_does(kind: str, make_run: MakeRun) -> None:
    """Its row says with which figure and how it was found, and has nothing to complain of."""
    case, baseline = CASES[kind], [make_run() for _ in range(5)]
    run = make_run(**case.passing)
    verdict = evaluate(case.ruleset, run, others=baseline[:4], baseline=baseline, audits=case.audits)
    row = dict(zip((rule.kind for rule in rules_of(case.ruleset)), verdict.rows, strict=True))[kind]
    assert (row.status, row.reason, row.remedy) == ("PASS", "", "")
    assert row.method or row.observed is not None
    assert row.margin is None or row.margin >= 0


@pytest.mark.parametrize("kind", kinds())
def test_a_run_that_must_not_pass_does_not(kind: str, make_run: MakeRun) -> None:
    """Its row says why, and the whole says the same wherever the rule counts."""
    case, baseline = CASES[kind], [make_run() for _ in range(5)]
    runs = [make_run(**case.failing) for _ in range(5)]
    verdict = evaluate(
        case.ruleset, runs[0], others=runs[1:], baseline=baseline, audits=case.failing_audits or case.audits
    )
    row = dict(zip((rule.kind for rule in rules_of(case.ruleset)), verdict.rows, strict=True))[kind]
    assert row.status == case.status
    assert row.reason
    assert row.margin is None or row.margin <= 0
    assert verdict.status in ({row.status, "INVALID"} if row.severity == "fail" else {"PASS"})


@pytest.mark.parametrize("kind", ["load.others", "seeds.qsl", "sweep"])
def test_what_one_run_cannot_meet_is_skipped_with_a_reason(kind: str, make_run: MakeRun) -> None:
    """It is a row all the same, and a verdict of nothing else does not pass."""
    ruleset = {
        "load.others": rules("qps>0", load=LoadDemand("concurrency", others={"isl": 8192})),
        "seeds.qsl": rules("qps>0", seeds={"qsl": 1}),
        "sweep": rules("qps>0", sweep=Sweep(points={"min": 8}, checks=(("config_identical", True),))),
    }[kind]
    verdict = evaluate(ruleset, make_run())
    pairs = zip(rules_of(ruleset), verdict.rows, strict=True)
    skipped = [row for rule, row in pairs if rule.kind == kind]
    assert len(skipped) == 1
    assert all(row.status == "SKIP" and row.reason for row in skipped)
    assert verdict.status == "PASS"
    only = Ruleset("r", "1", (), seeds={"qsl": 1})
    assert evaluate(only, make_run()).status == "INCONCLUSIVE"


def test_every_rule_has_exactly_one_row(make_run: MakeRun) -> None:
    """With all kinds at once, in any run, there is one row a rule, and all of it is JSON."""
    parts: dict[str, Any] = {}
    targets = {}
    for case in CASES.values():
        targets |= {target.id: target for target in case.ruleset.targets}
        for name in ("load", "baseline", "power", "sweep"):
            parts[name] = getattr(case.ruleset, name) or parts.get(name)
    everything = Ruleset(
        "r",
        "1",
        tuple(targets.values()),
        validity=ValidityDemand(0.5, 1, 1.0, dataset_multiple=True, min_passes=1, streaming="required"),
        dataset=DatasetDemand("a", 1, 1, "b"),
        generation=GenerationDemand({"temperature": 0, "reasoning_effort": {"accuracy": "high"}}),
        seeds={"sample_index": 1, "schedule": 2, "model": 3, "qsl": 4},
        audits=tuple(audit for case in CASES.values() for audit in case.ruleset.audits),
        steady_state=SteadyStateDemand(required=True, min_blocks=5, max_drift=0.1),
        **{name: value for name, value in parts.items() if value},
    )
    nothing = {"samples": dict.fromkeys(("ttft", "tpot", "latency", "output_tokens"), ())}
    for run in (make_run(), make_run(**WORSE), make_run(**nothing, counts={"issued": 0, "completed": 0})):
        verdict = evaluate(everything, run)
        assert [row.id for row in verdict.rows] == [rule.id for rule in rules_of(everything)]
        assert len({row.id for row in verdict.rows}) == len(verdict.rows)
        assert all((row.reason == "") == (row.status == "PASS") for row in verdict.rows)
        stored = verdict.to_dict()
        assert json.loads(json.dumps(stored, allow_nan=False)) == stored


def test_every_built_in_ruleset_can_be_judged(make_run: MakeRun) -> None:
    """For each of its models and scenarios: one row a rule, with unique ids, and all of it JSON."""
    for path in sorted((Path(__file__).parents[3] / "rulesets" / "builtin").glob("*.yaml")):
        for ruleset in read(path).rulesets.values():
            verdict = evaluate(ruleset, make_run(definitions=ruleset.definitions))
            assert [row.id for row in verdict.rows] == [rule.id for rule in rules_of(ruleset)]
            assert len({row.id for row in verdict.rows}) == len(verdict.rows)
            json.dumps(verdict.to_dict(), allow_nan=False)


def test_passes_over_conversations_count_sessions(make_run: MakeRun) -> None:
    """A row of the dataset is a session there, however many requests it takes."""
    demand = rules(validity=ValidityDemand(dataset_multiple=True, min_passes=2))
    whole = make_run(sessions={"count": 200}, counts={"issued": 1234})
    assert [row.status for row in evaluate(demand, whole).rows] == ["PASS", "PASS"]
    half = evaluate(demand, make_run(sessions={"count": 150}, counts={"issued": 200})).rows
    assert [row.status for row in half] == ["INVALID", "INVALID"]
    assert (half[0].reason, half[0].remedy) == (
        "150 sessions are not whole passes over 100 rows",
        "ask whole passes: --sessions 200",
    )
