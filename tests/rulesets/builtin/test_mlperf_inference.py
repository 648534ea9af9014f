"""MLPerf Inference, every model and scenario of four rounds, field by field against a table of facts.

The table (mlperf_inference.csv) has a row for each: figures as the sources print them, an accuracy as
`metric reference factor least greatest`, and `-` or nothing where there is none.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rulesets import catalog, loading
from rulesets.demands import Confidence
from tests.for_each import for_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rulesets.ruleset import Ruleset
    from rulesets.target import Target

FACTS = Path(__file__).parent / "mlperf_inference.csv"
SEEDS = {
    "v6.1": (2085463073848966840, 2747215439041700203, 16159082839903944936),
    "v6.0": (2465351861681999779, 14276810075590677512, 3936089224930324775),
    "v5.1": (1780908523862526354, 14771362308971278857, 18209322760996052031),
    "v5.0": (6023615788873153749, 15036839855038426416, 9933818062894767841),
}
"""qsl_rng_seed, sample_index_rng_seed, schedule_rng_seed."""

TESTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "TEST01": ("perf_mode_accuracy", {"metric": "ACCURACY", "min": 96.953571}),
    "TEST06": ("token_count", {"tolerance": 0.01}),
    "TEST07": ("perf_mode_accuracy", {"metric": "gpqa", "min": 60.698}),
    "TEST09": ("osl_range", {"min": 1150.38, "max": 1406.02}),
}
RAG = {"min": 246.43, "max": 301.19}
"""TEST09 of e2e-rag-qna."""

CONFLICTS = [
    ("v6.1", "llama3.1-8b", "42.9865/20.1235/29.9881"),
    ("v6.1", "llama3.1-8b-edge", "result_90.00_percentile_latency_ns"),
    ("v6.1", "deepseek-r1", "81.9132"),
    ("v6.1", "deepseek-r1", "both Server and Offline"),
    ("v6.1", "qwen3-vl-235b-a22b", "both Server and Offline"),
    ("v5.0", "gptj-99", "TEST06"),
    ("v5.0", "gptj-99.9", "TEST06"),
    ("v5.0", "llama3.1-405b", "TEST06"),
    ("v6.1", "gpt-oss-120b", "TPOT 20 ms"),
    ("v6.1", "gpt-oss-120b", "10240"),
    ("v6.1", "gpt-oss-120b", "placeholder"),
    ("v6.1", "qwen3-vl-235b-a22b", "8000 performance samples"),
    ("v6.1", "qwen3-vl-235b-a22b", "examples/08"),
    ("v6.1", "qwen3.6-27b", "0.97"),
    ("v6.1", "qwen3.6-27b", "accuracy-only"),
    ("v6.1", "e2e-rag-qna", "about 35"),
    ("v6.1", "e2e-rag-qna", "211.92 to 259.02"),
    ("v6.0", "mixtral-8x7b", "145.9"),
    ("v5.1", "mixtral-8x7b", "145.9"),
    ("v5.0", "mixtral-8x7b", "145.9"),
]
"""What the sources disagree on, and what of it must be in the notes."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A row of the table."""

    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        """What a column says."""
        return self.cells[column]

    def number(self, column: str) -> float | None:
        """A column as a number; None where it is empty."""
        return float(self.cells[column]) if self.cells[column] else None

    @property
    def name(self) -> str:
        """Round, model and scenario."""
        return f"{self['round']}/{self['model']}/{self['scenario']}"


def facts() -> list[Fact]:
    """Read the table."""
    with FACTS.open(newline="") as file:
        return [Fact(row) for row in csv.DictReader(file)]


ALL = facts()
records = for_each("fact", ALL)


@cache
def book(version: str) -> loading.Book:
    """Read a round."""
    return loading.read(f"mlperf-inference@{version}")


def rules(fact: Fact) -> Ruleset:
    """The rules that a row is about."""
    return book(fact["round"]).rulesets[fact["model"], fact["scenario"]]


def by_id(ruleset: Ruleset) -> dict[str, Target]:
    """The targets of rules."""
    return {target.id: target for target in ruleset.targets}


def gates(fact: Fact) -> Iterator[tuple[str, str, float]]:
    """The accuracy gates of a row, as id, operator and bound."""
    for gate in fact["accuracy"].split(" | "):
        metric, _, _, least, greatest = gate.split()
        if least != "-":
            yield f"accuracy.{metric}", ">=", float(least)
        if greatest != "-":
            yield f"accuracy.{metric}.max", "<=", float(greatest)


def test_the_rounds_hold_these_records_and_no_others() -> None:
    """There is a row for every model and scenario of the four rounds, in addition to those of any model."""
    held = {
        f"{version}/{model}/{scenario}"
        for version in SEEDS
        for model, scenario in book(version).rulesets
        if model != "*"
    }
    assert held == {fact.name for fact in ALL}
    assert len(ALL) == 83


@records
def test_latencies(fact: Fact) -> None:
    """LoadGen fails on what is above a bound; the checker asks TTFT and TPOT to be below it.

    mlcommons/inference@b66003e1: loadgen/results.cc (GetEarlyStopping, PerfConstraintsMet) counts what is >
    target; checks/performance_check.py:494 has `ttft < limits`, and :318 `latency > target_latency`.
    """
    bounds = {"ttft": "ttft_ms", "tpot": "tpot_ms", "latency": "e2e_ms"}
    strict = {"ttft-p99", "tpot-p99"}
    expected = {
        f"{metric}{form}": (
            metric,
            f"p{fact['percentile']}",
            "<" if f"{metric}{form}" in strict else "<=",
            fact.number(column),
            "ms",
        )
        for metric, column in bounds.items()
        if fact.number(column) is not None
        for form in ("", "-p99")
    }
    held = {target.id: target for target in rules(fact).targets if target.id in expected}
    assert {
        name: (target.metric, target.stat, target.op, target.value, target.unit)
        for name, target in held.items()
    } == expected
    for name, target in held.items():
        test = None if name.endswith("-p99") else Confidence("early_stopping", 0.99, "test")
        assert target.confidence == test
        assert target.severity == "fail"
    bounded = [t for t in rules(fact).targets if t.severity == "fail" and not t.id.startswith("accuracy.")]
    assert len(bounded) == len(expected)


@records
def test_early_stopping(fact: Fact) -> None:
    """Its confidence is that of the record, in the form of the scenario, where it is on and nowhere else."""
    sure = [target.confidence for target in rules(fact).targets if target.confidence]
    assert {confidence.level for confidence in sure} == (
        {float(fact["early_stopping"])} if fact["early_stopping"] else set()
    )
    form = {"single_stream": {"estimate"}, "offline": set()}.get(fact["scenario"], {"test"})
    assert {confidence.form for confidence in sure} == form


@records
def test_results(fact: Fact) -> None:
    """What a round reports as its result is shown: tokens or samples a second, or the p90 of latency."""
    shown = {target.metric for target in rules(fact).targets if target.severity == "info"}
    result = fact["result"].split()[0]
    assert {"tokens_per_second": "output_tps", "samples_per_second": "qps", "p90": "latency"}[result] in shown
    if fact["scenario"] == "single_stream":
        estimate = by_id(rules(fact))["latency-estimate"]
        assert (estimate.metric, estimate.stat) == ("latency", f"p{fact['percentile']}")
    if "result_90.00_percentile_latency_ns" in fact["result"]:
        assert by_id(rules(fact))["latency-p90"].confidence is None


@records
def test_accuracies(fact: Fact) -> None:
    """Each gate has its bounds, to the sixth digit that the table has; and no other is there."""
    held = {
        (target.id, target.op): target.value
        for target in rules(fact).targets
        if target.id.startswith("accuracy.")
    }
    assert held == {(gate, op): pytest.approx(bound, rel=1e-12, abs=5e-7) for gate, op, bound in gates(fact)}


def test_accuracies_are_shares_of_their_references() -> None:
    """The table's own bounds are reference times factor, so that a slip in either is seen."""
    for fact in ALL:
        for gate in fact["accuracy"].split(" | "):
            _, reference, factor, least, _ = gate.split()
            if factor != "-":
                assert float(reference) * float(factor) == pytest.approx(float(least), abs=5e-7)


@records
def test_validity(fact: Fact) -> None:
    """Duration, whole passes, of Offline the samples, and of TTFT and TPOT that answers are streamed."""
    held = rules(fact).validity
    assert (held.min_duration_s or 0) == fact.number("min_duration_s")
    assert held.dataset_multiple is (fact["whole_passes"] == "yes")
    assert held.min_samples == fact.number("offline_samples")
    assert held.streaming == ("required" if fact["ttft_ms"] else "any")


@records
def test_load(fact: Fact) -> None:
    """Arrivals are those of the scenario, with the nominal number of queries."""
    load = rules(fact).load
    assert load is not None
    assert load.pattern == fact["arrival"]
    assert load.others == {"nominal_queries": int(fact["nominal_queries"])}
    assert dict(load.concurrency) == ({"min": 1, "max": 1} if fact["scenario"] == "single_stream" else {})


@records
def test_dataset(fact: Fact) -> None:
    """The dataset has its name and its rows, of performance and of accuracy runs."""
    held = rules(fact).dataset
    assert held.name == fact["dataset"]
    assert (held.perf_samples, held.acc_samples) == (fact.number("perf_samples"), fact.number("acc_samples"))


@records
def test_generation(fact: Fact) -> None:
    """Lengths of answers and sampling are those of the record; what it leaves open is greedy, or not said."""
    held = dict(rules(fact).generation.settings)
    lengths = held.pop("max_new_tokens", {"performance": None, "accuracy": None})
    assert lengths == {
        "performance": fact.number("max_new_perf"),
        "accuracy": fact.number("max_new_acc"),
    }
    assert held.pop("min_new_tokens", None) == fact.number("min_new")
    sampling: dict[str, Any] = dict(setting.split("=") for setting in fact["sampling"].split())
    effort = sampling.pop("reasoning_effort", None)
    if effort is not None:
        performance, accuracy = effort.split("/")
        assert held.pop("reasoning_effort") == {"performance": performance, "accuracy": accuracy}
    greedy = {"temperature": 0.0} if fact["model"].startswith(("llama", "mixtral")) else {}
    assert held == ({name: float(value) for name, value in sampling.items()} or greedy)


@records
def test_audits(fact: Fact) -> None:
    """Each test that the round demands of a model has its audit, and the seeds are audited too."""
    expected: dict[str, Mapping[str, Any]] = {"seed_match": {}}
    for test in fact["tests"].split():
        name, parameters = TESTS[test]
        expected[name] = {**(RAG if fact["model"] == "e2e-rag-qna" else parameters), "test": test}
    assert {audit.name: dict(audit.parameters) for audit in rules(fact).audits} == expected


@records
def test_suites_and_names(fact: Fact) -> None:
    """The suites of a scenario are noted; a model is found as it is served, and as the checker calls it."""
    assert f"suites: {fact['suites']}" in rules(fact).notes
    entry = next(entry for entry in book(fact["round"]).entries if entry.name == fact["model"])
    of_the_checker = fact["model"].replace("llama3.1", "llama3_1")
    differs = [of_the_checker] if of_the_checker != fact["model"] else []
    assert list(entry.aliases) == [fact["serves"], *differs]


@for_each("version", SEEDS)
def test_rounds(version: str) -> None:
    """Seeds are exact to the last digit, beyond 2^53; definitions are LoadGen's; and a round is locked."""
    assert book(version).locked
    qsl, sample_index, schedule = SEEDS[version]
    for held in book(version).rulesets.values():
        assert held.seeds == {"qsl": qsl, "sample_index": sample_index, "schedule": schedule}
        assert held.definitions.to_dict() == {
            "percentile_method": "loadgen_floor",
            "latency_origin": "scheduled",
            "tpot_denominator": "n_minus_1",
            "tpot_end": "complete",
            "tpot_n1": "error",
            "token_source": None,
            "tokenizer": None,
            "token_categories": ("reasoning", "content", "tool_call"),
            "throughput_window": "last_issued_done",
            "failed_requests": "count_as_violation",
        }


@for_each("version", SEEDS)
def test_the_scenarios_of_any_model(version: str) -> None:
    """SingleStream shows the estimate of p90, MultiStream that of p99 over 662 queries of eight samples."""
    single, multi = (book(version).rulesets["*", name] for name in ("single_stream", "multi_stream"))
    estimate = Confidence("early_stopping", 0.99, "estimate")
    for held, stat, queries, at_once in ((single, "p90", 1024, 1), (multi, "p99", 662, 8)):
        (target,) = held.targets
        assert (target.metric, target.stat, target.severity) == ("latency", stat, "info")
        assert target.confidence == estimate
        assert held.validity.min_duration_s == 600
        assert held.load is not None
        assert (held.load.pattern, held.load.others["nominal_queries"]) == ("closed_loop", queries)
        assert dict(held.load.concurrency) == {"min": at_once, "max": at_once}
    assert multi.validity.min_samples == 662 * 8


@for_each(("version", "model", "words"), CONFLICTS)
def test_conflicts_are_noted(version: str, model: str, words: str) -> None:
    """What the sources disagree on is in the notes of every scenario of the model."""
    scenarios = [held for (name, _), held in book(version).rulesets.items() if name == model]
    assert scenarios
    assert all(any(words in note for note in held.notes) for held in scenarios)


@for_each("version", SEEDS)
def test_the_conflict_at_a_bound_is_noted(version: str) -> None:
    """LoadGen and the checker differ on what lies at a bound, and each ruleset says which it follows."""
    assert all(
        any("exactly at its bound" in note for note in held.notes) for held in book(version).rulesets.values()
    )


def test_a_bound_in_conflict_has_a_note() -> None:
    """Interactive TPOT of gpt-oss-120b is 15 ms as checked, and its target says that the policy prints 20."""
    for version in ("v6.0", "v6.1"):
        targets = by_id(book(version).rulesets["gpt-oss-120b", "interactive"])
        for name in ("tpot", "tpot-p99"):
            assert targets[name].value == 15
            assert "20 ms" in targets[name].note


@for_each("name", catalog.names())
def test_every_number_has_a_source(name: str) -> None:
    """Each target of a ruleset with a source names one, a repository and a commit or a section of rules."""
    held = loading.read(name)
    for ruleset in held.rulesets.values():
        assert ruleset.source
        if "starter" not in ruleset.source[0]:
            assert all("/" in target.source for target in ruleset.targets), ruleset.scenario
