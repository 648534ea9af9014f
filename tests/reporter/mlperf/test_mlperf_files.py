"""The files of mlcommons/endpoints: every key that a submission checker reads, with the figure of the log."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.plugins.mlperf.accuracy_results import accuracy_results
from loadgen.plugins.mlperf.checked_fields import CONFIG, KEYS, SUMMARY, UNKNOWN, missing_keys, value_of
from loadgen.plugins.mlperf.config_yaml import config
from loadgen.plugins.mlperf.point_yaml import concurrency, described_point
from loadgen.plugins.mlperf.result_summary import result_summary
from reporter.log.settings import settings as settings_of
from reporter.measured.log_evidence import LogEvidence
from reporter.reporter import MetricsReporter
from rulesets.definitions import Definitions
from rulesets.evidence import Accuracy
from tests import golden

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Run

    Files = dict[str, dict[str, Any]]

GOLDEN = Path(__file__).parent / "golden"
DOCS = Path(__file__).parents[3] / "docs" / "mlperf.md"
SEED, SCHEDULE_SEED = 2747215439041700203, 16159082839903944936
LOADGEN = Definitions(
    percentile_method="loadgen_floor",
    latency_origin="scheduled",
    tpot_end="complete",
    tpot_n1="error",
    throughput_window="last_issued_done",
    failed_requests="count_as_violation",
)
ENDPOINTS = Definitions(percentile_method="lower", latency_origin="issued")
SETTINGS = {
    "url": "http://127.0.0.1:8000/v1",
    "model": "org/a-model",
    "requests": 700,
    "duration_s": None,
    "order": "shuffle",
    "seed": SEED,
    "schedule_seed": SCHEDULE_SEED,
    "stream": True,
    "max_tokens": 128,
    "temperature": 0.0,
    "extra_body": {"top_p": 1.0, "seed": 3},
    "dataset": {"name": "questions.jsonl", "sha256": "00", "rows": 350},
}

STANDS_AT = {
    "endpoints_version": (CONFIG, "version"),
    "effective_scenario": (CONFIG, "type"),
    "streaming": (CONFIG, "model_params.streaming"),
    "load_pattern": (CONFIG, "settings.load_pattern.type"),
    "min_duration_ms": (CONFIG, "settings.runtime.min_duration_ms"),
    "max_duration_ms": (CONFIG, "settings.runtime.max_duration_ms"),
    "effective_sample_index_rng_seed": (CONFIG, "settings.runtime.dataloader_random_seed"),
    "effective_schedule_rng_seed": (CONFIG, "settings.runtime.scheduler_random_seed"),
    "target_qps": (CONFIG, "settings.load_pattern.target_qps"),
    "min_sample_count": (CONFIG, "settings.runtime.n_samples_to_issue"),
    "result.total": (SUMMARY, "n_samples_completed"),
    "result.failed": (SUMMARY, "n_samples_failed"),
    "test_datetime": (SUMMARY, "test_started_at"),
    "generated_query_count": (SUMMARY, "n_samples_issued"),
}
"""What the checker of v6.1 looks for under another name than its own."""

READ = (
    *STANDS_AT,
    *("n_samples_issued", "n_samples_from_dataset", "mode", "effective_target_duration_ms", "duration_ns"),
    *("effective_sample_concatenate_permutation", "effective_samples_per_query", "qps", "tps"),
    "result_scheduled_samples_per_sec",
    *(f"output_sequence_lengths.{figure}" for figure in ("min", "max", "avg")),
    *(f"{metric}.{figure}" for metric in ("latency", "ttft", "tpot") for figure in ("min", "max", "avg")),
    *(
        f"{metric}.early_stopping_percentiles.{percentile}"
        for metric in ("latency", "ttft", "tpot")
        for percentile in ("50.0", "90.0", "95.0", "99.0", "99.9")
    ),
    *UNKNOWN,
)
"""All that it reads of a performance run."""


def written(run: Run, **settings: Any) -> Path:
    """The folder of a run."""
    run.settings = {**SETTINGS, "load": run.settings["load"], **settings}
    run.environment = {"version": "9.9"}
    return run.write()


def files(folder: Path, definitions: Definitions) -> Files:
    """What a run is exported as."""
    with MetricsReporter(folder) as reporter:
        report, log = reporter.create_report_and_log(definitions=definitions)
        evidence = LogEvidence(log, report)
        payload = settings_of(folder)
        return {
            CONFIG: config(report, payload),
            SUMMARY: result_summary(log, report, evidence, payload),
            "point.yaml": described_point(log, report, payload),
        }


@pytest.fixture(scope="module")
def long_run(a_run: Callable[..., Run]) -> tuple[Path, list[dict[str, float]]]:
    """700 requests at 100 a second, issued 1 ms late, and the truth of each."""
    random, truth = Random(6), []  # noqa: S311 (no secret)
    run = a_run(kind="poisson", rate=100.0)
    for number in range(700):
        due, tokens = number * 10.0, random.randint(2, 40)
        first = due + 1 + random.randint(20, 400)
        last = first + (tokens - 1) * random.randint(5, 20)
        about = {"at_ms": due + 1, "complete": last + 3, "usage": (7, tokens), "issue": {"scheduled": due}}
        run.answers(first, last, **about)
        truth.append({"due": due, "issued": due + 1, "first": first, "done": last + 3, "tokens": tokens})
    return written(run.stops(7000).ends(60_000)), truth


@pytest.fixture(scope="module")
def short_run(a_run: Callable[..., Run]) -> Files:
    """What ten requests are exported as that a caller interrupted, by a version that knew one seed."""
    run, reasons = a_run(kind="poisson", rate=1.0), ["stop", "length", "length", "abort", None]
    for number, reason in enumerate(reasons * 2):
        run.answers(number + 2, number + 5, at_ms=number, usage=(1, 4), finish_reason=reason)
    run.stops(10).ends(20, reason="interrupted")
    return files(written(run, schedule_seed=None, seed=7), LOADGEN)


def estimate(values: list[float], percentile: str) -> float:
    """The t-th largest, t being the largest number of values over a bound that 99 % confidence allows."""
    n, p = len(values), float(percentile) / 100
    chance, over, term = 0.0, -1, p**n
    while chance + term < 0.01:
        chance, over = chance + term, over + 1
        term *= (n - over) / (over + 1) * (1 - p) / p
    return sorted(values)[n - over] if over > 0 else math.nan


def test_all_that_is_read_is_known_to_us() -> None:
    """Each has a place in our files, or a reason why it has none; and the page has it with its meaning."""
    ours = {(key.file, key.name) for key in KEYS}
    assert {STANDS_AT.get(name, (SUMMARY, name)) for name in READ if name not in UNKNOWN} == ours
    read_as = {place: f"`{name}`" for name, place in STANDS_AT.items()}
    shown = [key for key in KEYS if key.path[-1] not in {"50.0", "90.0", "95.0", "99.9"}]
    rows = "".join(
        f"| `{key.name}` | {read_as.get((key.file, key.name), '')} | {key.lacks} |\n" for key in shown
    )
    table = f"\n| member | the checker's name | absent where |\n|---|---|---|\n{rows}\n"
    golden.check_part(DOCS, "<!-- read -->\n", "<!-- /read -->", table)


def test_every_figure_is_that_of_the_log(long_run: tuple[Path, list[dict[str, float]]]) -> None:
    """LoadGen's: latency and TTFT from the schedule in ns, TPOT to the end, rates to the last one issued."""
    folder, truth = long_run
    result = files(folder, LOADGEN)
    assert missing_keys(result) == {}
    times = {
        "latency": [record["done"] - record["due"] for record in truth],
        "ttft": [record["first"] - record["due"] for record in truth],
        "tpot": [(record["done"] - record["first"]) / (record["tokens"] - 1) for record in truth],
    }
    tokens = [record["tokens"] for record in truth]
    window_s = (truth[-1]["done"] - truth[0]["due"]) / 1e3
    wanted: dict[str, Any] = {
        "endpoints_version": "llm-loadgen 9.9",
        "effective_scenario": "online",
        "streaming": "on",
        "load_pattern": "poisson",
        "min_duration_ms": 7000,
        "max_duration_ms": 0,
        "effective_sample_index_rng_seed": SEED,
        "effective_schedule_rng_seed": SCHEDULE_SEED,
        "target_qps": 100.0,
        "min_sample_count": 700,
        "result.total": 700,
        "result.failed": 0,
        "generated_query_count": 700,
        "n_samples_issued": 700,
        "n_samples_from_dataset": 350,
        "mode": "PerformanceOnly",
        "effective_sample_concatenate_permutation": True,
        "effective_samples_per_query": 1,
        "duration_ns": round((max(record["done"] for record in truth) - truth[0]["due"]) * 1e6),
        "qps": 699 / window_s,
        "tps": sum(tokens) / window_s,
        "result_scheduled_samples_per_sec": 100.0,
        "output_sequence_lengths.min": min(tokens),
        "output_sequence_lengths.max": max(tokens),
        "output_sequence_lengths.avg": sum(tokens) / 700,
    }
    for metric, values in times.items():
        wanted |= {f"{metric}.min": min(values) * 1e6, f"{metric}.max": max(values) * 1e6}
        wanted[f"{metric}.avg"] = sum(values) / 700 * 1e6
        for percentile in ("50.0", "90.0", "95.0", "99.0"):
            name = f"{metric}.early_stopping_percentiles.{percentile}"
            wanted[name] = estimate(values, percentile) * 1e6
    for name, figure in wanted.items():
        is_close = isinstance(figure, float)
        assert value(result, name) == (pytest.approx(figure, rel=1e-12) if is_close else figure), name
    assert value(result, "latency.early_stopping_percentiles.99.9") is None
    percentiles = result[SUMMARY]["ttft"]["percentiles"]
    assert percentiles["99.0"] == sorted(times["ttft"])[math.floor(700 * 0.99)] * 1e6


def value(expected: Files, name: str) -> Any:
    """What stands where the checker looks for it: the longest member that a level has comes first."""
    file, path = STANDS_AT.get(name, (SUMMARY, name))
    key = next(key for key in KEYS if (key.file, key.name) == (file, path))
    return value_of(expected[file], key.path)


def test_failures_are_in_the_estimates(a_run: Callable[..., Run]) -> None:
    """They are worse than every figure: with one among 64 the estimate of p90 is not one that could pass."""
    run = a_run(kind="poisson", rate=1.0).fails(at_ms=0, failed=9)
    for number in range(1, 64):
        run.answers(number * 10 + 1, number * 11 + 5, at_ms=number * 10, usage=(1, 4))
    result = files(written(run.stops(700).ends(900)), LOADGEN)[SUMMARY]
    assert (result["n_samples_completed"], result["n_samples_failed"]) == (63, 1)
    assert result["latency"]["early_stopping_percentiles"]["90.0"] is None
    assert result["latency"]["early_stopping_percentiles"]["80.0"] is not None
    assert result["latency"]["max"] == 68e6
    assert result["latency"]["total"] == sum(number + 5 for number in range(1, 64)) * 1e6


def test_too_few_give_no_estimate(short_run: Files) -> None:
    """Below 11 requests there is not even one of the median; what a submission stands on is named."""
    assert set(short_run[SUMMARY]["ttft"]["early_stopping_percentiles"].values()) == {None}
    reasons = {name: why for (_, why), names in missing_keys(short_run).items() for name in names}
    assert "fewer than 662" in reasons["ttft.early_stopping_percentiles.99.0"]
    assert "fewer than 64" in reasons["latency.early_stopping_percentiles.90.0"]


def test_what_an_old_and_interrupted_run_says(short_run: Files) -> None:
    """It is not complete, has one seed for everything, and each reason for an end is counted."""
    summary, runtime = short_run[SUMMARY], short_run[CONFIG]["settings"]["runtime"]
    assert (summary["state"], summary["complete"]) == ("interrupted", False)
    assert (runtime["dataloader_random_seed"], runtime["scheduler_random_seed"]) == (7, 7)
    assert Counter(summary["finish_reason_counts"]) == Counter({"stop": 2, "length": 4, "other": 4})


def test_a_run_of_nothing_has_no_figure(a_run: Callable[..., Run]) -> None:
    """Nothing is 0 that was not measured."""
    result = files(written(a_run(kind="poisson", rate=1.0).fails().stops(10).ends(20)), LOADGEN)
    summary = result[SUMMARY]
    assert (summary["qps"], summary["tps"], summary["duration_ns"]) == (None, None, None)
    assert summary["ttft"]["early_stopping_percentiles"]["50.0"] is None
    lacks = {name for names in missing_keys(result).values() for name in names}
    assert {"qps", "tps", "latency.avg", "output_sequence_lengths.avg"} <= lacks


def test_loads_in_their_words(a_run: Callable[..., Run]) -> None:
    """An offline run lasts until all is answered, every other one for as long as it issued."""
    report = a_run().answers(10, 30, complete=35, usage=(1, 3)).stops(500).ends(600).report()
    for load, scenario, words, lasted_ms in (
        ({"kind": "offline"}, "offline", {"type": "max_throughput"}, 35),
        ({"kind": "gamma", "rate": 2.0}, "online", {"type": "gamma", "target_qps": 2.0}, 500),
    ):
        payload = config(report, {"load": load})
        assert (payload["type"], payload["settings"]["load_pattern"]) == (scenario, words)
        assert payload["settings"]["runtime"]["min_duration_ms"] == lasted_ms
    assert concurrency(report, {"load": {"kind": "offline"}}) == 1
    assert concurrency(report, {"load": {"kind": "gamma"}}) is None


def test_endpoints_own_figures(long_run: tuple[Path, list[dict[str, float]]]) -> None:
    """From the issue on, and rates over the whole run: they agree with totals and duration."""
    folder, truth = long_run
    result = files(folder, ENDPOINTS)[SUMMARY]
    seconds = result["duration_ns"] / 1e9
    assert result["qps"] == pytest.approx(700 / seconds)
    assert result["tps"] == pytest.approx(result["output_sequence_lengths"]["total"] / seconds)
    assert result["latency"]["max"] == max(record["done"] - record["issued"] for record in truth) * 1e6
    assert result["legacy_loadgen_window_duration_ns"] is None


def test_scores_of_one_dataset_are_one_entry() -> None:
    """Checkers add up the samples of entries: ROUGE-1 and ROUGE-2 are of the same ones."""
    several = accuracy_results({"ROUGE1": Accuracy(38.9, 10), "ROUGE2": Accuracy(15.9, 10)}, "q")
    (entry,) = several["accuracy_scores"]
    assert (entry["score"], entry["total_samples"]) == ({"ROUGE1": 38.9, "ROUGE2": 15.9}, 10)
    assert "average_accuracy" not in several
    assert accuracy_results({"exact_match": Accuracy(83.0, 4)}, None)["average_accuracy"] == 83.0


def test_each_benchmark_has_its_own_entry() -> None:
    """gpt-oss-120b: 240 + 990 + 3165 samples are the 4395 that checkers ask for."""
    asked = {"aime25": (240, 8), "gpqa": (990, 5), "livecodebench": (3165, 3)}
    scores = {name: Accuracy(0.8, n, repeats=each, task=name) for name, (n, each) in asked.items()}
    results = accuracy_results(scores, "aime25, gpqa, livecodebench")
    entries = {entry["dataset_name"]: entry for entry in results["accuracy_scores"]}
    assert {name: entry["score"] for name, entry in entries.items()} == dict.fromkeys(asked, 0.8)
    assert [entry["unit_samples"] for entry in entries.values()] == [30, 198, 1055]
    assert sum(entry["total_samples"] for entry in entries.values()) == 4395
    assert results["average_accuracy"] == pytest.approx(0.8)


def test_an_entry_says_how_often_its_questions_were_asked() -> None:
    """How many units, this many times, are the samples that checkers add up."""
    (entry,) = accuracy_results({"gsm8k": Accuracy(0.5, 12, repeats=4)}, "q")["accuracy_scores"]
    assert (entry["unit_samples"], entry["num_repeats"], entry["total_samples"]) == (3, 4, 12)


def test_files_look_as_they_did(a_run: Callable[..., Run]) -> None:
    """After a warm-up, which the point declares. `make golden` writes them again."""
    run = a_run(kind="closed", concurrency=2)
    for start in (-90, -70, -50):
        run.answers(start + 5, at_ms=start, issue={"phase": "warmup"})
    run.answers(10, 30, complete=35, usage=(4, 3))
    run.answers(60, 90, at_ms=40, complete=92, usage=(5, 4), finish_reason="length").stops(100).ends(120)
    for name, content in files(written(run, requests=2), LOADGEN).items():
        path = GOLDEN / f"{Path(name).stem}.json"
        golden.check(
            path, orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
        )
