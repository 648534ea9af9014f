"""vLLM's and SGLang's serving benchmarks, with equal keys in result files.

`vllm bench serve --save-result` (vllm-project/vllm, vllm/benchmarks/serve.py) and
`sglang.bench_serving --output-file` (sgl-project/sglang 0.5.23, benchmark/serving.py). With `--save-detailed`
or `--output-details` a file has lists with an entry per request, failed ones too, in the order of issue.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.imports.loads.load_results import LoadFormat, LoadResults, RecordedRequest
from loadgen.plugins.imports.loads.objects import column, finite, read_objects, times, whole, without_none
from loadgen.plugins.imports.results.fields import file_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.imports.results.fields import Fields

_METRICS: Final = {
    "ttft": "ttft_ms",
    "tpot": "tpot_ms",
    "itl": "itl_ms",
    "e2el": "latency_ms",
    "e2e_latency": "latency_ms",
}
_STATISTICS: Final = {"mean": "mean", "median": "p50", "std": "std"}
_PERCENTILE: Final = re.compile(r"p(\d+(?:\.\d+)?)_(\w+)_ms")
_RATES: Final = {
    "request_throughput": "qps",
    "output_throughput": "output_tps",
    "total_token_throughput": "total_tps",
    "total_throughput": "total_tps",
}
_FACTS: Final = ("date", "backend", "label", "tag", "dataset_name", "num_prompts", "tokenizer_id")


def read(path: Path) -> Sequence[LoadResults]:
    """Read the runs of a result file."""
    return [_run(record) for record in read_objects(file_of(path, "the result file, such as results.json"))]


def _run(record: Fields) -> LoadResults:
    duration_s = record.number("duration")
    if duration_s <= 0:
        raise record.wrong("duration", "more than 0", duration_s)
    requests = list(_requests(record))
    server = record.values.get("server_info")
    model = server.get("model_path") if isinstance(server, dict) else None
    return LoadResults(
        requests=requests,
        figures={} if requests else _figures(record),
        duration_s=duration_s,
        model=record.optional_text("model_id") or (model if isinstance(model, str) else None),
        load=_load(record),
        started=_started(record, duration_s),
        facts=without_none({name: record.values.get(name) for name in _FACTS}),
        notes=[] if requests else ["Record requests with --save-detailed (SGLang: --output-details)."],
    )


def _requests(record: Fields) -> Iterator[RecordedRequest]:
    ttfts = column(record, "ttfts")
    if ttfts is None:
        return
    size = len(ttfts)
    gaps = column(record, "itls", size)
    if gaps is None:
        raise record.error("itls", "is missing, and ttfts is there")
    starts = column(record, "start_times", size) or [None] * size
    lists = [column(record, name, size) or [None] * size for name in ("input_lens", "output_lens")]
    others = [
        column(record, name, size) or [None] * size for name in ("errors", "generated_texts", "cached_tokens")
    ]
    began = min((start for start in map(finite, starts) if start is not None), default=0.0)
    for number, (ttft, between, start, inputs, outputs, error, text, cached) in enumerate(
        zip(ttfts, gaps, starts, *lists, *others, strict=True)
    ):
        (first_s,) = times(record, f"ttfts[{number}]", [ttft])
        gaps_s = times(record, f"itls[{number}]", between)
        start_s = finite(start)
        # A failure without a message has neither a token nor a time.
        failed = bool(error) or not (first_s or whole(outputs))
        yield RecordedRequest(
            start_s=None if start_s is None else start_s - began,
            error=(str(error) or "no message") if failed else None,
            first_token_s=first_s or None,
            gaps_s=gaps_s,
            end_s=first_s + sum(gaps_s),
            input_tokens=whole(inputs),
            output_tokens=None if failed else whole(outputs),
            cached_tokens=whole(cached),
            output=text if isinstance(text, str) else None,
        )


def _figures(record: Fields) -> dict[str, Any]:
    completed = record.count("completed")
    summaries: dict[str, dict[str, float]] = {}
    for key in record.values:
        value = finite(record.values[key])
        if value is None:
            continue
        if (match := _PERCENTILE.fullmatch(key)) and match[2] in _METRICS:
            summaries.setdefault(_METRICS[match[2]], {})[f"p{match[1].replace('.', '')}"] = value
        elif (parts := key.removesuffix("_ms").split("_", 1))[0] in _STATISTICS and parts[-1] in _METRICS:
            summaries.setdefault(_METRICS[parts[1]], {})[_STATISTICS[parts[0]]] = value
    # A metric whose mean is 0 was not measured: the endpoint did not stream.
    figures: dict[str, Any] = {
        name: summary | {"count": completed} for name, summary in summaries.items() if summary.get("mean")
    }
    figures |= {ours: record.optional_number(name) for name, ours in _RATES.items() if name in record.values}
    for name in ("input_tokens", "output_tokens"):
        total = record.optional_number(f"total_{name}")
        if total is not None and completed:
            figures[name] = {"count": completed, "mean": total / completed}
    prompts = record.count("num_prompts")
    failed = record.count("failed")
    if failed is None and prompts is not None and completed is not None:
        failed = prompts - completed
    return without_none({**figures, "completed": completed, "failed": failed})


def _load(record: Fields) -> Mapping[str, Any]:
    rate, limit = record.values.get("request_rate"), whole(record.values.get("max_concurrency"))
    if rate == "trace":
        return {"kind": "trace"}
    number = finite(rate)
    if number is None:
        return {"kind": "closed", "concurrency": limit} if limit else {"kind": "offline"}
    burstiness = finite(record.values.get("burstiness")) or 1.0
    arrivals = {"kind": "poisson"} if burstiness == 1 else {"kind": "gamma", "burstiness": burstiness}
    return without_none({**arrivals, "rate": number, "max_concurrency": limit})


def _started(record: Fields, duration_s: float) -> datetime | None:
    """The start: `date` is local time, at the end of the run."""
    date = record.values.get("date")
    try:
        ended = datetime.strptime(str(date), "%Y%m%d-%H%M%S").astimezone()
        return datetime.fromtimestamp(ended.timestamp() - duration_s, ended.tzinfo)
    except (ValueError, OverflowError, OSError):
        return None


_OF_REQUESTS: Final = {
    "TTFT": "request begun, connection set-up included → first chunk with `choices`, also without a token",
    "latency": "request begun → last chunk; the file has no ends of responses",
    "output tokens": "usage, else the text counted by the tokenizer",
}
_OF_FIGURES: Final = {
    "TPOT": "(latency - TTFT) ÷ (n - 1), n counts every token of usage",
    "throughput": "totals ÷ the time from the first request to the end of the last",
    "std": "of the population",
}

VLLM: Final = LoadFormat(
    "vllm-bench",
    "vLLM: the result file of `vllm bench serve --save-result`, with or without --save-detailed",
    "vllm-project/vllm at def9ce85, vllm/benchmarks/serve.py",
    read,
    _OF_REQUESTS,
    _OF_FIGURES | {"latency": "request begun → last chunk"},
)
SGLANG: Final = LoadFormat(
    "sglang-bench",
    "SGLang: the file of `sglang.bench_serving --output-file`, with or without --output-details",
    "sgl-project/sglang 0.5.23, python/sglang/benchmark/serving.py",
    read,
    _OF_REQUESTS
    | {
        "TTFT": "request begun, connection set-up included → first chunk with text",
        "ITL": "each gap between chunks; with the backend `sglang` divided by the tokens of the chunk",
        "output tokens": "usage, else the length that was asked for",
    },
    _OF_FIGURES | {"latency": "request begun → last event, also one without a token"},
)
