"""Small result files of load generators, as their programs write them."""

from __future__ import annotations

import json
from statistics import fmean, median, pstdev
from typing import TYPE_CHECKING, Any

from tests.plugins.imports.harness_files import write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

COUNT = 40
"""Requests of a run, the last of which failed."""

TTFTS = [0.020 + 0.001 * number for number in range(COUNT - 1)]
GAPS = [0.004, 0.006, 0.005]
START = 1_795_941_912.0
"""The start of the runs, in seconds since the epoch."""


def _summary(seconds: list[float]) -> dict[str, float]:
    return {"mean": fmean(seconds) * 1e3, "median": median(seconds) * 1e3, "std": pstdev(seconds) * 1e3}


def vllm(folder: Path, *, detailed: bool = True, starts: bool = True, **changes: Any) -> Path:
    """`vllm bench serve --save-result`: JSON in one line."""
    tokens = len(GAPS) + 1
    result: dict[str, Any] = {
        "date": "20260901-120010",
        "endpoint_type": "openai-chat",
        "backend": "openai-chat",
        "label": None,
        "model_id": "org/demo",
        "tokenizer_id": "org/demo",
        "num_prompts": COUNT,
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": 4,
        "duration": 10.0,
        "completed": COUNT - 1,
        "failed": 1,
        "total_input_tokens": 10 * (COUNT - 1),
        "total_output_tokens": tokens * (COUNT - 1),
        "request_throughput": (COUNT - 1) / 10,
        "request_goodput": None,
        "output_throughput": tokens * (COUNT - 1) / 10,
        "total_token_throughput": (tokens + 10) * (COUNT - 1) / 10,
        **{f"{name}_ttft_ms": value for name, value in _summary(TTFTS).items()},
        "p99_ttft_ms": 57.62,
        "p99.9_ttft_ms": 57.962,
        **{f"{name}_tpot_ms": value for name, value in _summary([sum(GAPS) / 3] * 3).items()},
        "p99_tpot_ms": 5.0,
    }
    if detailed:
        result |= {
            "input_lens": [10] * COUNT,
            "output_lens": [*[tokens] * (COUNT - 1), 0],
            "ttfts": [*TTFTS, 0.0],
            "itls": [*[GAPS] * (COUNT - 1), []],
            "generated_texts": [*["a b c d"] * (COUNT - 1), ""],
            "errors": [*[""] * (COUNT - 1), "Service Unavailable"],
        }
    if detailed and starts:
        result["start_times"] = [5000 + 0.25 * number for number in range(COUNT)]
    path = folder / "vllm.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result | changes), encoding="utf-8")
    return path


def sglang(folder: Path) -> Path:
    """`sglang.bench_serving --output-file`: a line per run, without start times; NaN for an absent figure."""
    whole = json.loads(vllm(folder).read_text(encoding="utf-8"))
    absent = ("date", "model_id", "failed", "num_prompts", "start_times", "total_token_throughput")
    line = {name: value for name, value in whole.items() if name not in absent}
    line |= {"server_info": {"model_path": "org/demo"}, "total_throughput": 54.6, "mean_e2e_latency_ms": 54.0}
    line |= {"request_rate": 8.0, "max_concurrency": None, "accept_length": float("nan")}
    other = {name: value for name, value in line.items() if not isinstance(value, list)} | {
        "request_rate": 16.0
    }
    path = folder / "sglang.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in (line, other)), encoding="utf-8")
    return path


def _guidellm_request(number: int, status: str) -> dict[str, Any]:
    start = START + 0.25 * number
    first, last = start + 0.020, start + 0.035
    timings = {
        "targeted_start": start - 0.001,
        "queued": start - 0.002,
        "request_start": start,
        "first_token_iteration": first if status == "completed" else None,
        "first_output_token_iteration": first if status == "completed" else None,
        "last_token_iteration": last if status == "completed" else None,
        "token_iterations": 4 if status == "completed" else 0,
        "request_end": last + 0.001,
    }
    error = None if status == "completed" else "503"
    return {
        "type_": "generative_request_stats",
        "request_id": f"r{number}",
        "output": "a b c d" if status == "completed" else None,
        "info": {"request_id": f"r{number}", "status": status, "timings": timings, "error": error},
        "input_metrics": {"text_tokens": 10, "cached_tokens": 2, "total_tokens": 10},
        "output_metrics": {"text_tokens": 4, "total_tokens": 4},
    }


def _guidellm_metric(mean: float, count: int) -> dict[str, Any]:
    percentiles = dict.fromkeys(("p50", "p90", "p95", "p99", "p999"), mean)
    summary = {"mean": mean, "median": mean, "std_dev": 0.0, "min": mean, "max": mean, "count": count}
    return {"successful": {**summary, "percentiles": percentiles}, "errored": {}, "incomplete": {}}


def guidellm(folder: Path, *, recorded: int = COUNT) -> Path:
    """benchmarks.json with one benchmark, of which `recorded` requests are recorded."""
    successful = [_guidellm_request(number, "completed") for number in range(min(recorded, COUNT - 1))]
    benchmark = {
        "type_": "generative_benchmark",
        "config": {"strategy": {"type_": "concurrent", "streams": 4}},
        "start_time": START,
        "duration": 10.0,
        "requests": {
            "successful": successful,
            "errored": [_guidellm_request(COUNT - 1, "errored")],
            "incomplete": [],
            "total": None,
        },
        "metrics": {
            "request_totals": {"successful": COUNT - 1, "errored": 1, "incomplete": 0, "total": COUNT},
            "time_to_first_token_ms": _guidellm_metric(20.0, COUNT - 1),
            "inter_token_latency_ms": _guidellm_metric(5.0, 3 * (COUNT - 1)),
            "time_per_output_token_ms": _guidellm_metric(8.75, 4 * (COUNT - 1)),
            "request_latency": _guidellm_metric(0.036, COUNT - 1),
            "requests_per_second": _guidellm_metric(3.9, COUNT - 1),
            "output_tokens_per_second": _guidellm_metric(15.6, COUNT - 1),
        },
    }
    report = {
        "metadata": {"version": 2, "guidellm_version": "0.8.1"},
        "config": {"spec": {"backend": {"kind": "openai_http", "model": "org/demo"}}},
        "benchmarks": [benchmark],
    }
    path = folder / "benchmarks.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report), encoding="utf-8")
    return path


def _aiperf_record(number: int) -> dict[str, Any]:
    start_ns = round((START + 0.25 * number) * 1e9)
    failed = number == COUNT - 1
    metrics = {
        "request_latency": {"value": 35.0, "unit": "ms"},
        "time_to_first_token": {"value": 20.0, "unit": "ms"},
        "inter_chunk_latency": {"value": [gap * 1e3 for gap in GAPS], "unit": "ms"},
        "input_sequence_length": {"value": 10, "unit": "tokens"},
        "output_sequence_length": {"value": 4, "unit": "tokens"},
    }
    record: dict[str, Any] = {
        "metadata": {
            "session_num": number,
            "request_start_ns": start_ns,
            "request_end_ns": start_ns + 36_000_000,
            "benchmark_phase": "profiling",
            "was_cancelled": False,
        },
        "metrics": {} if failed else metrics,
    }
    if failed:
        record["error"] = {"code": 503, "type": "Service Unavailable", "message": "no capacity"}
    return record


def aiperf(folder: Path, *, records: bool = True) -> Path:
    """The folder of AIPerf's artifacts."""
    summary = {
        "unit": "ms",
        "avg": 20.0,
        **dict.fromkeys(("p50", "p90", "p95", "p99"), 20.0),
        "min": 20.0,
        "max": 20.0,
        "std": 0.0,
        "count": COUNT - 1,
    }
    figures = {
        "schema_version": "1.1",
        "aiperf_version": "0.13.0",
        "request_throughput": {"unit": "requests/sec", "avg": 3.9},
        "output_token_throughput": {"unit": "tokens/sec", "avg": 15.6},
        "request_count": {"unit": "requests", "avg": float(COUNT - 1)},
        "error_request_count": {"unit": "requests", "avg": 1.0},
        "benchmark_duration": {"unit": "sec", "avg": 10.0},
        "time_to_first_token": summary,
        "inter_token_latency": {**summary, "avg": 5.0},
        "start_time": "2026-11-29T08:46:18.992232",
        "input_config": {
            "models": {"items": [{"name": "org/demo"}]},
            "phases": [{"name": "profiling", "type": "concurrency", "requests": COUNT, "concurrency": 4}],
        },
    }
    write_json(folder / "profile_export_aiperf.json", figures)
    if records:
        lines = [_aiperf_record(number) for number in range(COUNT)]
        lines[0]["metadata"]["benchmark_phase"] = "profiling"
        warmup = _aiperf_record(0)
        warmup["metadata"]["benchmark_phase"] = "warmup"
        text = "".join(f"{json.dumps(each)}\n" for each in (warmup, *lines))
        (folder / "profile_export.jsonl").write_text(text, encoding="utf-8")
    return folder


def inference_perf(folder: Path, *, records: bool = True) -> Path:
    """The folder of inference-perf's reports, with times of a monotonic clock."""

    def record(number: int) -> dict[str, Any]:
        start, failed = 5000 + 0.25 * number, number == COUNT - 1
        stamps = [start + 0.020 + sum(GAPS[:gap]) for gap in range(len(GAPS) + 1)]
        answer = {
            "output_tokens": 5,
            "server_usage": {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14},
            "output_token_times": stamps,
        }
        info = {
            "request_metrics": {"text": {"input_tokens": 11}},
            "response_metrics": None if failed else answer,
        }
        error = {"error_type": "HTTPError", "error_msg": "Service Unavailable"}
        return {
            "start_time": start,
            "end_time": stamps[-1],
            "info": info,
            "error": error if failed else None,
        }

    folder.mkdir(parents=True, exist_ok=True)
    statistics = {**dict.fromkeys(("mean", "median", "min", "max", "p90", "p99"), 0.020), "p99.9": 0.020}
    latency = {"time_to_first_token": statistics, "time_per_output_token": {**statistics, "mean": 0.005}}
    rates = {"requests_per_sec": 3.9, "output_tokens_per_sec": 15.6, "total_tokens_per_sec": 54.6}
    stage = {
        "benchmark_time_seconds": 10.0,
        "successes": {
            "count": COUNT - 1,
            "latency": latency,
            "throughput": rates,
            "output_len": {"mean": 4.0},
        },
        "failures": {"count": 1},
    }
    write_json(folder / "stage_0_lifecycle_metrics.json", stage)
    load = "load:\n  type: concurrent\n  stages:\n  - {concurrency_level: 4, num_requests: 40}\n"
    (folder / "config.yaml").write_text(f"server:\n  model_name: org/demo\n{load}")
    if records:
        path = folder / "per_request_lifecycle_metrics.json"
        path.write_text(json.dumps([record(number) for number in range(COUNT)]), encoding="utf-8")
    return folder


WRITERS: Mapping[str, Callable[[Path], Path]] = {
    "aiperf": aiperf,
    "guidellm": guidellm,
    "inference-perf": inference_perf,
    "sglang-bench": sglang,
    "vllm-bench": vllm,
}
"""By the format; each returns what `loadgen import` is given."""
