"""The built-in rulesets other than MLPerf Inference: their facts, and that they can be used."""

from __future__ import annotations

import json
from functools import cache

import pytest

from loadgen.sessions.settings.concerns import fields_of
from loadgen.sessions.settings.perf import PerfSettings
from rulesets import catalog, linting, loading
from rulesets.demands import Confidence
from rulesets.evaluation import evaluate
from rulesets.report_evidence import ReportEvidence
from rulesets.ruleset import Ruleset
from rulesets.statistics import order_statistics

ESTIMATE = Confidence("early_stopping", 0.99, "estimate")


@cache
def book(name: str) -> loading.Book:
    """Read a ruleset."""
    return loading.read(name)


def bounds(name: str, model: str, scenario: str) -> dict[str, float]:
    """The bounds of a ruleset by target."""
    return {target.id: target.value for target in book(name).rulesets[model, scenario].targets}


def test_what_there_is() -> None:
    """Rounds of MLPerf, of endpoints and of the edge, a sweep, and two starters, old versions before new."""
    assert list(catalog.names()) == [
        "agentperf-like@2026.11",
        "agentx-like@2026.11",
        "batch@1",
        "chat@1",
        "golden-acceptance@2026.08",
        "inferencemax-like@2026.08",
        "mlperf-agentic-like@2026.10",
        "mlperf-edge@v0.1",
        "mlperf-endpoints@v1.0",
        *(f"mlperf-inference@{version}" for version in ("v5.0", "v5.1", "v6.0", "v6.1")),
        "mlperf-inference-endpoints@v6.1",
    ]


@pytest.mark.parametrize("name", catalog.names())
def test_names_and_versions_are_those_inside(name: str) -> None:
    """A ruleset is found by the name and version that it has, and all of it is free of warnings."""
    held = book(name)
    assert f"{held.name}@{held.version}" == name
    for ruleset in held.rulesets.values():
        assert list(linting.warnings(ruleset)) == []
        assert len({target.id for target in ruleset.targets}) == len(ruleset.targets)


@pytest.mark.parametrize("name", catalog.names())
def test_every_rule_has_its_row_and_is_kept(name: str) -> None:
    """A run that showed nothing gets one row a rule, none of them twice, and a log keeps the rules whole."""
    nothing = ReportEvidence({"run": {}, "validity": {"valid": True, "reasons": []}, "counts": {"issued": 0}})
    for ruleset in book(name).rulesets.values():
        verdict = evaluate(ruleset, nothing)
        assert len({row.id for row in verdict.rows}) == len(verdict.rows)
        assert {row.id for row in verdict.rows} >= {target.id for target in ruleset.targets}
        assert verdict.status != "PASS"
        assert Ruleset.of_dict(json.loads(json.dumps(ruleset.to_dict()))) == ruleset


def test_only_rules_of_others_are_locked() -> None:
    """What MLPerf and AgentX rule may only be tightened; others are to be changed."""
    assert {name for name in catalog.names() if book(name).locked} == {
        name for name in catalog.names() if name.startswith(("mlperf-", "agentx-"))
    }


def test_runs_of_endpoints_have_the_bounds_of_the_round() -> None:
    """Every bound is that of mlperf-inference v6.1, but of the estimate, and once."""
    twin = book("mlperf-inference@v6.1").rulesets
    for (model, scenario), held in book("mlperf-inference-endpoints@v6.1").rulesets.items():
        theirs = {target.id: target for target in twin[model, scenario].targets}
        bounded = [target for target in held.targets if target.severity == "fail"]
        for target in bounded:
            assert target.value == theirs[target.id].value
            if target.metric in {"ttft", "tpot", "latency"}:
                assert target.confidence == ESTIMATE
                assert target.op == ("<=" if target.metric == "latency" else "<")
        assert {target.id for target in bounded} == {
            name for name, target in theirs.items() if not name.endswith("-p99") and target.severity == "fail"
        }
        assert held.generation == twin[model, scenario].generation
        assert held.dataset == twin[model, scenario].dataset


@pytest.mark.parametrize(
    ("model", "scenario", "shown"),
    [
        ("qwen3.6-27b", "single_stream", {"latency-mean", "latency-estimate"}),
        ("llama3.1-8b-edge", "single_stream", {"latency-estimate"}),
        ("llama3.1-8b", "offline", {"tps", "rps"}),
        ("llama3.1-8b", "interactive", {"tps", "rps"}),
        ("llama3.1-8b", "server", {"tps"}),
        ("qwen3-vl-235b-a22b", "server", {"rps"}),
    ],
)
def test_results_of_endpoints_runs_are_shown(model: str, scenario: str, shown: set[str]) -> None:
    """What the checker reports of them (constants.py:1582): a mean of SingleStream, samples a second."""
    held = book("mlperf-inference-endpoints@v6.1").rulesets[model, scenario]
    assert {target.id for target in held.targets if target.severity == "info"} == shown


def test_runs_of_endpoints_are_of_some_models() -> None:
    """Those that the checker accepts, but the one that makes videos; and each is audited for caching."""
    held = book("mlperf-inference-endpoints@v6.1")
    assert {entry.name for entry in held.entries} == {
        "qwen3-vl-235b-a22b",
        "qwen3.6-27b",
        "llama3.1-8b",
        "llama3.1-8b-edge",
        "gpt-oss-120b",
        "deepseek-r1",
    }
    for (_, scenario), ruleset in held.rulesets.items():
        audits = {audit.name: dict(audit.parameters) for audit in ruleset.audits}
        assert audits["output_caching"] == {"threshold": 0.2 if scenario == "single_stream" else 0.1}
        assert "seed_match" in audits
        assert ruleset.definitions.latency_origin == "issued"
        assert ruleset.seeds == {"sample_index": 2747215439041700203, "schedule": 16159082839903944936}


ENDPOINTS = "mlperf-endpoints@v1.0"
GATES = {
    "llama3.1-8b": (
        13368,
        {"ROUGE1": 38.391408, "ROUGE2": 15.748425, "ROUGEL": 24.250743, "ROUGELSUM": 35.43507},
        {"GEN_LEN": 7350879.6, "GEN_LEN.max": 8984408.4},
    ),
    "gpt-oss-120b": (6396, {"exact_match": 82.2987}, {}),
    "deepseek-r1": (4388, {"exact_match": 80.544618}, {}),
}
AGENTIC = {
    "kimi-k3": (58.32, 425, 520, 93.5),
    "qwen3.6-35b-a3b": (55.86, 344, 422, 69),
    "deepseek-v4.1-flash": (52.36, 793, 970, 96.4),
}


@pytest.mark.parametrize("model", GATES)
@pytest.mark.parametrize(("scenario", "seconds"), [("ultra_low", 600), ("other", 1200), ("offline", 1200)])
def test_points_of_endpoints(model: str, scenario: str, seconds: int) -> None:
    """Durations, samples, streaming, and gates that five runs must meet each by itself."""
    samples, gates, lengths = GATES[model]
    held = book(ENDPOINTS).rulesets[model, scenario]
    validity = held.validity
    assert (validity.min_duration_s, validity.min_samples) == (seconds, samples)
    assert (validity.dataset_multiple, validity.streaming) == (True, "required")
    scores = {
        t.id.removeprefix("accuracy."): (t.value, t.on_missing)
        for t in held.targets
        if t.metric.startswith("accuracy.")
    }
    assert scores == {
        name: (pytest.approx(bound, abs=5e-7), "skip") for name, bound in {**gates, **lengths}.items()
    }
    assert held.sweep is not None
    runs = [parameters for name, parameters in held.sweep.checks if name == "accuracy_runs"]
    assert runs == [{"metric": f"accuracy.{name}", "runs": 5, "combine": "each"} for name in gates]
    assert {audit.name for audit in held.audits} == {"salt", "output_caching", "seed_match", "config_locked"}


@pytest.mark.parametrize("model", AGENTIC)
@pytest.mark.parametrize(("scenario", "seconds"), [("agentic_ultra_low", 600), ("agentic", 2400)])
def test_agentic_points_of_endpoints(model: str, scenario: str, seconds: int) -> None:
    """Accuracy inline at every point, the band of lengths, and SWE-bench as the mean of four runs."""
    inline, shortest, longest, swe_bench = AGENTIC[model]
    held = book(ENDPOINTS).rulesets[model, scenario]
    targets = {target.id: target for target in held.targets}
    assert (targets["accuracy.inline"].value, targets["accuracy.inline"].on_missing) == (inline, "fail")
    assert (targets["accuracy.swe_bench"].value, targets["accuracy.swe_bench"].severity) == (
        swe_bench,
        "info",
    )
    assert {"min": shortest, "max": longest} in [dict(audit.parameters) for audit in held.audits]
    assert (held.dataset.perf_samples, held.validity.min_duration_s) == (613, seconds)
    assert held.sweep is not None
    assert (
        "accuracy_runs",
        {"metric": "accuracy.swe_bench", "runs": 4, "combine": "mean"},
    ) in held.sweep.checks


@pytest.mark.parametrize(
    ("name", "model", "pattern", "concurrency", "scenario"),
    [
        (ENDPOINTS, "meta-llama/Llama-3.1-8B-Instruct", "closed", 32, "ultra_low"),
        (ENDPOINTS, "openai/gpt-oss-120b", "closed", 33, "other"),
        (ENDPOINTS, "deepseek-ai/DeepSeek-R1", "offline", None, "offline"),
        (ENDPOINTS, "Kimi-K3", "closed", 1, "agentic_ultra_low"),
        (ENDPOINTS, "Kimi-K3", "closed", 64, "agentic"),
        (ENDPOINTS, "llama3_1-8b", "closed", 8, "ultra_low"),
        (ENDPOINTS, "qwen3_6-35b-a3b", "closed", 33, "agentic"),
        (ENDPOINTS, "deepseek-v4_1-flash", "closed", 33, "agentic"),
        ("mlperf-inference", "llama3_1-8b", "offline", None, "offline"),
        ("mlperf-inference-endpoints", "llama3_1-8b-edge", "closed", 1, "single_stream"),
        ("mlperf-inference", "mistral", "closed", 1, "single_stream"),
        ("mlperf-inference", "mistral", "closed", 8, "multi_stream"),
        ("mlperf-inference@v6.0", "qwen/qwen3-vl-235b-a22b-instruct", "poisson", None, "server"),
    ],
)
def test_a_run_finds_its_scenario(
    name: str, model: str, pattern: str, concurrency: int | None, scenario: str
) -> None:
    """The model is found by what it is served as, and the scenario by the load and how much is in flight."""
    assert loading.load(name, model=model, pattern=pattern, concurrency=concurrency).scenario == scenario


def test_the_sweep_of_endpoints() -> None:
    """Points, regions, the order of Offline, seeds and steady state are those of the rules."""
    held = book(ENDPOINTS).rulesets["llama3.1-8b", "other"]
    assert held.sweep is not None
    assert (held.sweep.points["min"], held.sweep.points["max"]) == (8, 32)
    assert held.sweep.points["regions"] == "mlperf_endpoints"
    assert [required["region"] for required in held.sweep.points["require"]] == [
        "ultra_low",
        "low",
        "medium",
        "high",
    ]
    checks = dict(held.sweep.checks)
    assert checks["offline_tps_at_least"] == {"factor": 0.98, "of": "c_max", "severity": "warn"}
    assert checks["offline_concurrency_at_least"] == {"of": "c_max", "severity": "warn"}
    assert checks["accuracy_per_region"] == {"exactly": 1}
    assert held.validity.warn == ("min_duration_s",)
    assert checks["tps_per_user_consistency"] == 0.01
    assert held.seeds == {
        "schedule": 10487924139932647040,
        "sample_index": 586478644936801402,
        "model": 9315206023656308754,
    }
    assert (held.steady_state.required, held.steady_state.min_blocks) == (True, 4)
    assert held.definitions.percentile_method == "lower"
    assert held.definitions.tpot_denominator == "tokens_after_first_chunk"


@pytest.mark.parametrize(
    "words",
    ["117 and 17", "with replacement", "question B8", "c_min_override", "aime25 30", "56 for 50"],
)
def test_open_ends_of_endpoints_are_noted(words: str) -> None:
    """What the rules contradict themselves on, and leave open, is in the notes."""
    assert any(words in note for note in book(ENDPOINTS).rulesets["llama3.1-8b", "other"].notes)


def test_the_edge() -> None:
    """Both scores at 0.97 of their references, seeds of 42, no shortest duration, and no turn dropped."""
    held = book("mlperf-edge@v0.1").rulesets["qwen3.6-27b", "single_stream"]
    bounds_by_metric = bounds("mlperf-edge@v0.1", "qwen3.6-27b", "single_stream")
    assert bounds_by_metric["accuracy.bfcl_overall_accuracy"] == pytest.approx(83.6431)
    assert bounds_by_metric["accuracy.bfcl_normalized_accuracy"] == pytest.approx(85.3212)
    assert (bounds_by_metric["dropped"], bounds_by_metric["cancelled"]) == (0, 0)
    assert held.seeds == {"sample_index": 42, "schedule": 42}
    assert (held.dataset.perf_samples, held.validity.min_duration_s) == (995, None)


@pytest.mark.parametrize(
    ("model", "bound"),
    [
        ("*", 0.90),
        ("dsr1", 0.91),
        ("dsv4", 0.91),
        ("glm5", 0.94),
        ("glm5.1", 0.93),
        ("gptoss", 0.91),
        ("kimik2.5", 0.90),
        ("minimaxm2.5", 0.92),
        ("qwen3.5", 0.94),
    ],
)
@pytest.mark.parametrize(
    ("scenario", "lengths"), [("8k1k", (8192, 1024)), ("1k1k", (1024, 1024)), ("1k8k", (1024, 8192))]
)
def test_the_sweep_of_inferencemax(model: str, bound: float, scenario: str, lengths: tuple[int, int]) -> None:
    """Lengths, concurrencies, requests a place, and the gates of each model."""
    held = book("inferencemax-like").rulesets[model, scenario]
    bounds_by_metric = bounds("inferencemax-like", model, scenario)
    assert (
        bounds_by_metric["accuracy.gsm8k"],
        bounds_by_metric["accuracy.gpqa"],
        bounds_by_metric["accuracy.swebench_lite"],
    ) == (
        bound,
        0.3,
        0.5,
    )
    assert held.load is not None
    assert (held.load.others["isl"], held.load.others["osl"]) == lengths
    assert (held.load.others["range_ratio"], held.load.others["ignore_eos"]) == (0.8, True)
    assert dict(held.load.concurrency) == {"from": 4, "to": 512, "factor": 2}
    validity = held.validity
    assert (validity.min_samples_per_concurrency, validity.warmup_per_concurrency) == (10, 2)
    assert validity.max_error_rate == 0.05
    assert held.sweep is not None
    assert held.sweep.pareto["x"] == {"metric": "interactivity", "stat": "median"}
    assert held.sweep.pareto["y"] == {"metric": "tps_per_gpu", "tokens": "input_plus_output"}


@pytest.mark.parametrize(
    ("model", "tier", "seconds"),
    [
        ("deepseek-v4-pro", 20, 10),
        ("deepseek-v4-pro", 180, 3),
        ("gpt-oss-120b", 100, 5),
        ("gpt-oss-120b", 2000, 1),
        ("*", 60, 5),
        ("*", 500, 2),
    ],
)
def test_the_tiers_of_agentperf(model: str, tier: int, seconds: int) -> None:
    """The speed that three requests in four have, and the TTFT of 95 in a hundred; ten minutes, salted."""
    held = book("agentperf-like").rulesets[model, f"tier-{tier}"]
    speed, ttft = held.targets
    assert (speed.metric, speed.stat, speed.op, speed.value) == ("tps_per_user", "p75", ">=", tier)
    assert (ttft.metric, ttft.stat, ttft.op, ttft.value, ttft.unit) == ("ttft", "p95", "<=", seconds, "s")
    validity = held.validity
    assert (validity.min_duration_s, validity.streaming) == (600, "required")
    assert (validity.min_sessions, validity.min_sessions_per_concurrency) == (30, 3)
    assert [audit.name for audit in held.audits] == ["salt"]


@pytest.mark.parametrize(
    ("model", "inline", "lengths", "settings"),
    [
        ("moonshotai/Kimi-K3", 58.32, (425, 520), {"temperature": 1, "top_p": 1}),
        ("Qwen/Qwen3.6-35B-A3B", 55.86, (344, 422), {"top_k": 20, "top_p": 0.95, "presence_penalty": 1.5}),
    ],
)
def test_agentic_inference(
    model: str, inline: float, lengths: tuple[int, int], settings: dict[str, float]
) -> None:
    """Salts, whole passes over 613 trajectories, the window without the tail, the score and the lengths."""
    held = loading.load("mlperf-agentic-like", model=model, pattern="closed", concurrency=64)
    assert held.definitions.throughput_window == "first_user_done"
    assert dict(held.options.set) == {"salt": True, "salt_at": "system"}
    assert set(held.options.free or ()) <= fields_of(PerfSettings).keys()
    assert (held.dataset.perf_samples, held.validity.dataset_multiple) == (613, True)
    assert settings.items() <= dict(held.generation.settings).items()
    assert (held.generation.settings["max_new_tokens"], held.generation.locked) == (8192, True)
    (bound,) = [target.value for target in held.targets if target.id == "accuracy.inline"]
    assert bound == inline
    audits = {audit.name: dict(audit.parameters) for audit in held.audits}
    assert audits["osl_range"] == {"min": lengths[0], "max": lengths[1]}


AGENTX = {
    "agentx": {
        "start_window": "0.25..0.75",
        "cache_pressure": 10,
        "warmup_drain": 1800,
        "tree_idle_cap": 300,
        "max_error_rate": 0.1,
        "duration": 3600,
        "seed": 42,
    },
    "agentx-mvp": {"start_window": "0..1", "duration": 1800},
}


@pytest.mark.parametrize(("scenario", "failed"), [("agentx", 0.1), ("agentx-mvp", None)])
def test_agentx_locks_every_option(scenario: str, failed: float | None) -> None:
    """Those of the original have a value, those that change no request are free, all others the default."""
    held = book("agentx-like").rulesets["*", scenario]
    both = {"salt": True, "salt_at": "user", "ignore_eos": True, "idle_cap": 10}
    assert held.locked
    assert dict(held.options.set) == both | AGENTX[scenario]
    free = set(held.options.free or ())
    assert {"model", "concurrency", "trace"} <= free <= fields_of(PerfSettings).keys()
    validity = held.validity
    assert (validity.max_error_rate, validity.min_duration_s, validity.streaming) == (failed, 900, "required")
    assert (validity.min_coverage, validity.max_context_overflow_rate) == (0.95, 0.01)


BROKEN = {
    "start_window": "0..0.5",
    "cache_pressure": 0,
    "idle_cap": 60,
    "tree_idle_cap": None,
    "salt_at": "prompt",
    "max_error_rate": None,
    "trace_speed": 2,
    "sessions": 5,
}


@pytest.mark.parametrize("name", [None, *BROKEN])
def test_agentx_names_the_option_that_is_not_as_prescribed(name: str | None) -> None:
    """Each changed invariant makes the run invalid, by the row of its option; free ones may be chosen."""
    held = book("agentx-like").rulesets["*", "agentx"]
    chosen = dict(held.options.set) | {"model": "m", "concurrency": 32, "trace": "traces"}
    if name is not None:
        chosen[name] = BROKEN[name]
    run = {"options": chosen, "changed_options": sorted(chosen)}
    verdict = evaluate(held, ReportEvidence({"run": run, "validity": {"valid": True, "reasons": []}}))
    rows = [row for row in verdict.rows if row.id.startswith("options.") and row.status != "PASS"]
    wanted = None if name is None else f"options.{name if name in held.options.set else 'others'}"
    assert [(row.id, row.status) for row in rows] == ([] if name is None else [(wanted, "INVALID")])
    assert name is None or f"--{name.replace('_', '-')}" in rows[0].reason


@pytest.mark.parametrize(("name", "scenario"), [("chat", "chat"), ("batch", "batch")])
def test_starters_are_for_any_model(name: str, scenario: str) -> None:
    """Whatever is served, under whatever load, a starter has its one scenario for it."""
    held = loading.load(name, model="my/own-model", pattern="poisson")
    assert (held.model, held.scenario, held.load, held.locked) == ("*", scenario, None, False)


def test_the_comments_of_chat_are_true() -> None:
    """59 requests do for p95 with 95 % confidence, and of 200 four may be slow."""
    held = loading.load("chat")
    assert held.validity.min_samples == 200
    assert order_statistics.fewest(0.95, 0.95) == 59
    rank = order_statistics.upper_rank(200, 0.95, 0.95)
    assert rank is not None
    assert 200 - 1 - rank == 4
