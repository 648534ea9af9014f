"""GuideLLM's report, benchmarks.json: a run for each benchmark.

vllm-project/guidellm 0.8.1, benchmark/schemas and schemas/base/info.py. `requests` has the records of the
measured time by status; `--sample-requests` leaves some of them out, and then the figures stand alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.imports.loads.load_results import LoadFormat, LoadResults, RecordedRequest
from loadgen.plugins.imports.loads.objects import finite, moment, read_object, whole, without_none
from loadgen.plugins.imports.results.fields import file_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.imports.results.fields import Fields

_METRICS: Final = {
    "time_to_first_token_ms": ("ttft_ms", 1.0),
    "time_to_first_output_token_ms": ("ttfo_ms", 1.0),
    # Their TPOT has the TTFT in it; this is the mean time between tokens of a request.
    "inter_token_latency_ms": ("tpot_ms", 1.0),
    "request_latency": ("latency_ms", 1e3),
    "prompt_token_count": ("input_tokens", 1.0),
    "output_token_count": ("output_tokens", 1.0),
}
_RATES: Final = {
    "requests_per_second": "qps",
    "output_tokens_per_second": "output_tps",
    "tokens_per_second": "total_tps",
}
_NAMES: Final = {"mean": "mean", "median": "p50", "std_dev": "std", "min": "min", "max": "max"}
_STATUSES: Final = ("successful", "errored", "incomplete")
_CUT: Final = "the benchmark ended before the response did"


def read(path: Path) -> Sequence[LoadResults]:
    """Read the benchmarks of a report."""
    report = read_object(file_in(path, "benchmarks.json", "a folder of GuideLLM's results"))
    version = report.inside("metadata").optional_text("guidellm_version")
    runs = [_run(benchmark, _model(report), version) for benchmark in report.list("benchmarks")]
    if not runs:
        raise report.error("benchmarks", "is empty")
    return runs


def _model(report: Fields) -> str | None:
    """The requested model, in the place of each version."""
    config = report.inside("config")
    for holder in (report.inside("args"), config, config.inside("spec")):
        backend = holder.values.get("backend")
        for model in (
            holder.values.get("model"),
            backend.get("model") if isinstance(backend, dict) else None,
        ):
            if isinstance(model, str) and model:
                return model
    return None


def _run(benchmark: Fields, model: str | None, version: str | None) -> LoadResults:
    duration_s = benchmark.optional_number("duration")
    began = benchmark.optional_number("start_time")
    requests = list(_requests(benchmark.inside("requests"), began))
    figures = _figures(benchmark)
    ended = (figures.get("completed") or 0) + (figures.get("failed") or 0) + (figures.get("cancelled") or 0)
    whole_run = bool(requests) and len(requests) == (ended or len(requests))
    requests.sort(key=lambda request: request.start_s or 0.0)
    note = f"Its report has {len(requests):,} records of {ended:,} requests: only its own figures stand."
    return LoadResults(
        requests=requests if whole_run else [],
        figures={} if whole_run else figures,
        duration_s=duration_s or None,
        model=model,
        load=_load(benchmark),
        started=moment(began),
        facts=without_none({"guidellm_version": version}),
        notes=[] if whole_run else [note],
    )


def _requests(records: Fields, began: float | None) -> Iterator[RecordedRequest]:
    for status in _STATUSES:
        if records.values.get(status) is None:
            continue
        for record in records.list(status):
            info = record.inside("info")
            if (timings := info.members("timings")) is None:
                raise record.error("info.timings", "is missing: reports of GuideLLM 0.4 and later have it")
            if (start := timings.optional_number("request_start")) is None:
                continue  # It never left the queue.
            error = info.optional_text("error") or ("no message" if status == "errored" else _CUT)
            yield _request(record, timings, start, began, None if status == "successful" else error)


def _request(
    record: Fields, timings: Fields, start: float, began: float | None, error: str | None
) -> RecordedRequest:
    def since(name: str) -> float | None:
        time_s = timings.optional_number(name)
        if time_s is None:
            return None
        if time_s < start:
            raise timings.wrong(name, "a time at or after request_start", time_s)
        return time_s - start

    first_s, last_s = since("first_token_iteration"), since("last_token_iteration")
    inputs = record.inside("input_metrics")
    return RecordedRequest(
        start_s=max(0.0, start - (start if began is None else began)),
        error=error,
        first_token_s=first_s,
        last_token_s=last_s,
        chunks=whole(timings.values.get("token_iterations")),
        end_s=since("request_end") or last_s or first_s or 0.0,
        input_tokens=whole(_total(inputs)),
        output_tokens=whole(_total(record.inside("output_metrics"))),
        cached_tokens=whole(inputs.values.get("cached_tokens")),
        output=record.optional_text("output"),
    )


def _total(usage: Fields) -> object:
    """All tokens; text tokens in reports that do not write the total."""
    total = usage.values.get("total_tokens")
    return usage.values.get("text_tokens") if total is None else total


def _figures(benchmark: Fields) -> dict[str, Any]:
    metrics = benchmark.members("metrics")
    if metrics is None:
        raise benchmark.error("metrics", "is missing")
    figures: dict[str, Any] = {}
    for name, (ours, factor) in _METRICS.items():
        summary = metrics.inside(name).inside("successful")
        if (summary.count("count") or 0) > 0:
            figures[ours] = _summary(summary, factor)
    for name, ours in _RATES.items():
        figures[ours] = metrics.inside(name).inside("successful").optional_number("mean")
    totals = metrics.inside("request_totals")
    counts = zip(("completed", "failed", "cancelled"), map(totals.count, _STATUSES), strict=True)
    return without_none(figures | dict(counts))


def _summary(summary: Fields, factor: float) -> dict[str, float]:
    percentiles = summary.inside("percentiles").values
    named = {ours: finite(summary.values.get(name)) for name, ours in _NAMES.items()}
    named |= {name: finite(percentiles.get(name)) for name in ("p90", "p95", "p99", "p999")}
    scaled = {name: value * factor for name, value in named.items() if value is not None}
    return {"count": float(summary.count("count") or 0), **scaled}


def _load(benchmark: Fields) -> Mapping[str, Any]:
    strategy = benchmark.inside("config").inside("strategy")
    kind, values = strategy.optional_text("type_"), strategy.values
    loads: Mapping[str, Mapping[str, Any]] = {
        "synchronous": {"kind": "closed", "concurrency": 1},
        "concurrent": {"kind": "closed", "concurrency": whole(values.get("streams"))},
        "throughput": {"kind": "offline", "max_concurrency": whole(values.get("max_concurrency"))},
        "constant": {"kind": "constant", "rate": finite(values.get("rate"))},
        "poisson": {"kind": "poisson", "rate": finite(values.get("rate"))},
        "trace": {"kind": "trace"},
    }
    return without_none(dict(loads.get(kind or "", {})))


FORMAT: Final = LoadFormat(
    "guidellm",
    "GuideLLM: the report benchmarks.json, or its folder",
    "vllm-project/guidellm 0.8.1, guidellm/benchmark/schemas",
    read,
    {
        "TTFT": "request begun in the client, connection set-up included → first token",
    },
    {
        "TPOT": "its ITL, weighted by tokens; the TPOT of GuideLLM includes TTFT",
        "percentiles": "nearest rank",
        "throughput": "mean over time of the rate, weighted by time",
        "std": "of the population",
    },
)
