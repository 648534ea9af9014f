"""`loadgen export --vllm-json`: a run as a result file of `vllm bench serve` and SGLang's bench_serving."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.plugins.exports.exported import Exported, opened, report_of, require_writable, writing
from reporter.log.database import figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from loadgen.sessions.settings.export import ExportSettings
    from reporter.log.database import OpenLog
    from reporter.report import Report, Summary

TABLES: Final = ("outputs",)
"""What has to be loaded of a log first, if texts are wanted."""

_BACKENDS: Final[Mapping[str, str]] = {"chat": "openai-chat", "completions": "openai"}
_STATISTICS: Final[Mapping[str, str]] = {
    "ttft": "ttft_ms",
    "tpot": "tpot_ms",
    "itl": "itl_ms",
    "e2el": "latency_ms",
    "e2e_latency": "latency_ms",  # SGLang
}
_PERCENTILES: Final[Mapping[str, str]] = {"p90": "p90", "p95": "p95", "p99": "p99", "p99.9": "p999"}
_LISTS: Final[Mapping[str, str]] = {
    "input_lens": "coalesce(input_tokens, 0)",
    "output_lens": "if(status = 'completed', coalesce(output_tokens, 0), 0)",
    "ttfts": "if(status = 'completed', coalesce(ttft_ms, 0) / 1e3, 0)",
    "itls": "if(status = 'completed', list_transform(chunk_gaps_us[2:], lambda gap: gap / 1e6), [])",
    "latencies": "if(status = 'completed', latency_ms / 1e3, 0)",
    "start_times": "coalesce(sent_ns, issued_ns) / 1e9",
    "queue_times": "coalesce(held_ms, 0) / 1e3",
    "errors": "if(status = 'completed', '', coalesce(error_message, error, status))",
}
_TEXTS: Final = "coalesce(output, '')"
_LIST: Final = """
    SELECT {value} FROM (
        SELECT samples.*, requests.chunk_gaps_us FROM samples JOIN requests USING (sample_uuid)
        WHERE samples.measured AND samples.status <> 'abandoned'
    ) {more} ORDER BY issued_ns, sample_uuid"""

_AT_ONCE: Final = 1024


def write_result(settings: ExportSettings, file: Path) -> Exported:
    """Write the file."""
    require_writable("--vllm-json", file, force=settings.force)
    report = report_of(settings)
    with opened(settings) as log, writing(file) as unfinished:
        log.load(TABLES if settings.texts else ())
        unfinished.writelines(render(log, report, texts=settings.texts))
    return Exported("file", str(file), report.counts.issued)


def render(log: OpenLog, report: Report, *, texts: bool) -> Iterator[bytes]:
    """The file, piece by piece: one JSON object in one line, valid as JSON lines as well."""
    result = {**_setup(report), **_results(report, figures(log, "vllm_peaks")), **statistics_of(report)}
    yield orjson.dumps(result)[:-1]
    queries = {name: _LIST.format(value=value, more="") for name, value in _LISTS.items()}
    if texts:
        queries["generated_texts"] = _LIST.format(value=_TEXTS, more="LEFT JOIN outputs USING (sample_uuid)")
    for name, query in queries.items():
        yield f',"{name}":['.encode()
        rows, comma = log.execute(query), b""
        while values := rows.fetchmany(_AT_ONCE):
            yield comma + orjson.dumps([_json(value) for (value,) in values])[1:-1]
            comma = b","
        yield b"]"
    yield b"}\n"


def _setup(report: Report) -> dict[str, Any]:
    run, load = report.run, report.run.load
    backend = _BACKENDS.get(run.protocol or "", run.protocol)
    started = datetime.fromisoformat(run.started_at)
    return {
        "date": started.strftime("%Y%m%d-%H%M%S"),
        "endpoint_type": backend,
        "backend": backend,
        "label": backend,
        "model_id": run.model,
        "tokenizer_id": (run.definitions or {}).get("tokenizer") or run.model,
        "num_prompts": report.counts.issued - report.counts.abandoned,
        "dataset_name": (run.dataset or {}).get("name"),
        "request_rate": load.get("rate") or "inf",
        "burstiness": load.get("burstiness") or 1.0,
        "max_concurrency": load.get("concurrency") or load.get("max_concurrency"),
    }


def _results(report: Report, peaks: Mapping[str, Any]) -> dict[str, Any]:
    """Counts and rates: totals over the duration, as vLLM divides."""
    seconds, tokens = report.window.duration_s or math.nan, report.tokens
    completed, total_input, total_output = report.counts.completed, tokens.input or 0, tokens.output or 0
    latency = report.latency_ms
    busy_s = latency.mean * latency.count / 1e3 if latency else 0.0
    return {
        "duration": report.window.duration_s,
        "completed": completed,
        "failed": report.counts.issued - report.counts.abandoned - completed,
        "total_input_tokens": total_input,
        "total_output_tokens": total_output,
        "request_throughput": _finite(completed / seconds),
        "request_goodput": None,
        "input_throughput": _finite(total_input / seconds),
        "output_throughput": _finite(total_output / seconds),
        "total_token_throughput": _finite((total_input + total_output) / seconds),
        "total_throughput": _finite((total_input + total_output) / seconds),
        "concurrency": _finite(busy_s / seconds),
        "max_output_tokens_per_s": float(peaks["chunks_per_s"] or 0),
        "max_concurrent_requests": peaks["in_flight"] or 0,
        "rtfx": 0.0,
    }


def statistics_of(report: Report) -> dict[str, float]:
    """The statistics of vLLM's metrics, in ms."""
    statistics: dict[str, float] = {}
    for name, column in _STATISTICS.items():
        summary: Summary | None = getattr(report, column)
        if summary is None:
            continue
        statistics[f"mean_{name}_ms"] = summary.mean
        statistics[f"median_{name}_ms"] = summary.p50
        # numpy's std is of the population.
        statistics[f"std_{name}_ms"] = (summary.std or 0.0) * math.sqrt((summary.count - 1) / summary.count)
        for word, percentile in _PERCENTILES.items():
            statistics[f"{word}_{name}_ms"] = getattr(summary, percentile)
    return statistics


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _json(value: Any) -> Any:
    return value.encode(errors="replace").decode() if isinstance(value, str) else value
