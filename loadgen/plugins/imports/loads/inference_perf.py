"""inference-perf's folder of reports: one run with records of requests, else a run for each stage.

kubernetes-sigs/inference-perf 0.7.0, reportgen/base.py. `per_request_lifecycle_metrics.json` has the records
of all stages, with times of a monotonic clock; config.yaml has the model and the load.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.imports.loads.load_results import LoadFormat, LoadResults, RecordedRequest
from loadgen.plugins.imports.loads.objects import finite, read_object, whole, without_none
from loadgen.plugins.imports.results.fields import Fields, file_in, objects, read_json, require_there, text_of
from workloads.errors import MalformedError
from workloads.yaml_values import NotYAMLError, parse_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_RECORDS: Final = "per_request_lifecycle_metrics.json"
_SUMMARY: Final = "summary_lifecycle_metrics.json"
_STAGE: Final = "stage_*_lifecycle_metrics.json"
_METRICS: Final = {
    "time_to_first_token": "ttft_ms",
    "time_per_output_token": "tpot_ms",
    "inter_token_latency": "itl_ms",
    "request_latency": "latency_ms",
}
_RATES: Final = {
    "requests_per_sec": "qps",
    "output_tokens_per_sec": "output_tps",
    "total_tokens_per_sec": "total_tps",
}
_NAMES: Final = {
    "mean": "mean",
    "median": "p50",
    "min": "min",
    "max": "max",
    "p90": "p90",
    "p95": "p95",
    "p99": "p99",
    "p99.9": "p999",
}
_NOTE: Final = "report.request_lifecycle.per_request of inference-perf writes the records of requests."


def read(path: Path) -> Sequence[LoadResults]:
    """Read the folder, or one of its files."""
    require_there(path)
    folder, chosen = (path, None) if path.is_dir() else (path.parent, path)
    records = folder / _RECORDS if chosen is None else chosen
    config = _config(folder)
    stages = config.inside("load").values.get("stages")
    loads = [_load(config, stage) for stage in stages] if isinstance(stages, list) else []
    if records.name == _RECORDS and (chosen is not None or records.is_file()):
        return [_recorded(records, config, loads)]
    files = [chosen] if chosen is not None else sorted(folder.glob(_STAGE), key=_number)
    files = files or [file_in(folder, _SUMMARY, "a folder of inference-perf's reports")]
    return [_summarized(file, config, loads) for file in files]


def _config(folder: Path) -> Fields:
    """The run's configuration; empty where the folder has none."""
    path = folder / "config.yaml"
    try:
        values = parse_yaml(text_of(path)) if path.is_file() else {}
    except NotYAMLError as error:
        raise MalformedError(f"{path} is not YAML: {error}") from error
    return Fields(path, "", values if isinstance(values, dict) else {})


def _number(stage: Path) -> int:
    word = stage.name.split("_")[1]
    return int(word) if word.isdecimal() else 0


def _load(config: Fields, stage: object) -> Mapping[str, Any]:
    kind = config.inside("load").optional_text("type")
    values = stage if isinstance(stage, dict) else {}
    if kind == "concurrent":
        return without_none({"kind": "closed", "concurrency": whole(values.get("concurrency_level"))})
    if kind in {"constant", "poisson"}:
        return without_none({"kind": kind, "rate": finite(values.get("rate"))})
    return {"kind": "trace"} if kind else {}


def _recorded(path: Path, config: Fields, loads: Sequence[Mapping[str, Any]]) -> LoadResults:
    values = read_json(path)
    if not isinstance(values, list):
        raise Fields(path, "", {}).wrong("the file", "a list of requests", values)
    records = list(objects(path, "requests", values))
    if not records:
        raise MalformedError(f"{path}: has no requests")
    records.sort(key=lambda record: record.number("start_time"))
    began = records[0].number("start_time")
    requests = [_request(record, began) for record in records]
    note = f"Its records are of {len(loads)} stages, and do not say which stage each request is of."
    return LoadResults(
        requests=requests,
        duration_s=max((request.start_s or 0.0) + request.end_s for request in requests) or None,
        model=_model(config),
        load=loads[0] if len(loads) == 1 else {},
        notes=[note] if len(loads) > 1 else [],
    )


def _model(config: Fields) -> str | None:
    return config.inside("server").optional_text("model_name")


def _request(record: Fields, began: float) -> RecordedRequest:
    start, end = record.number("start_time"), record.number("end_time")
    if end < start:
        raise record.wrong("end_time", "a time at or after start_time", end)
    info = record.inside("info")
    answer = info.inside("response_metrics")
    usage = answer.inside("server_usage")
    stamps = [time_s - start for time_s in _stamps(answer, start, end)]
    error = record.members("error")
    return RecordedRequest(
        start_s=start - began,
        error=None if error is None else _failure(error),
        first_token_s=stamps[0] if stamps else None,
        gaps_s=[after - before for before, after in pairwise(stamps)] if stamps else None,
        end_s=end - start,
        input_tokens=_first(
            usage, "prompt_tokens", info.inside("request_metrics").inside("text"), "input_tokens"
        ),
        output_tokens=_first(usage, "completion_tokens", answer, "output_tokens"),
        cached_tokens=whole(usage.inside("prompt_tokens_details").values.get("cached_tokens")),
        reasoning_tokens=whole(usage.inside("completion_tokens_details").values.get("reasoning_tokens")),
    )


def _failure(error: Fields) -> str:
    kind, text = error.optional_text("error_type"), error.optional_text("error_msg")
    return text or kind or "no message"


def _first(usage: Fields, name: str, counted: Fields, other: str) -> int | None:
    """The server's count, else the client's own."""
    count = whole(usage.values.get(name))
    return whole(counted.values.get(other)) if count is None else count


def _stamps(answer: Fields, start: float, end: float) -> Iterator[float]:
    """The time of each chunk with tokens: the tokens of a chunk have one time."""
    times = answer.values.get("output_token_times") or []
    if not isinstance(times, list):
        raise answer.wrong("output_token_times", "a list of times", times)
    before = start
    for number, value in enumerate(times):
        time_s = finite(value)
        if time_s is None or not before <= time_s <= end:
            raise answer.wrong(f"output_token_times[{number}]", "a time between its neighbours", value)
        if number == 0 or time_s > before:
            yield time_s
        before = time_s


def _summarized(path: Path, config: Fields, loads: Sequence[Mapping[str, Any]]) -> LoadResults:
    report = read_object(path)
    successes, failures = report.members("successes"), report.members("failures")
    if successes is None or failures is None:
        raise report.error("successes" if successes is None else "failures", "is missing")
    completed = successes.count("count") or 0
    latency, throughput = successes.inside("latency"), successes.inside("throughput")
    figures: dict[str, Any] = {
        ours: _statistics(latency.inside(name), completed, 1e3)
        for name, ours in _METRICS.items()
        if latency.members(name)
    }
    if lengths := successes.members("output_len"):
        figures["output_tokens"] = _statistics(lengths, completed, 1.0)
    figures |= {ours: throughput.optional_number(name) for name, ours in _RATES.items()}
    stage = _number(path) if path.name.startswith("stage_") else None
    load = loads[stage] if stage is not None and stage < len(loads) else loads[0] if len(loads) == 1 else {}
    return LoadResults(
        figures=without_none(figures | {"completed": completed, "failed": failures.count("count")}),
        duration_s=report.optional_number("benchmark_time_seconds") or None,
        model=_model(config),
        load=load,
        facts=without_none({"stage": stage}),
        notes=[_NOTE],
    )


def _statistics(summary: Fields, count: int, factor: float) -> dict[str, float]:
    named = {ours: finite(summary.values.get(name)) for name, ours in _NAMES.items()}
    return {
        "count": float(count),
        **{name: value * factor for name, value in named.items() if value is not None},
    }


FORMAT: Final = LoadFormat(
    "inference-perf",
    "inference-perf: its folder of reports, or one of the files",
    "kubernetes-sigs/inference-perf 0.7.0, inference_perf/reportgen/base.py",
    read,
    {
        "TTFT": "request begun in the client, connection set-up included → first chunk with a token",
        "output tokens": "usage, else the text counted by the tokenizer",
    },
    {
        "ITL": "a gap for each token; the tokens of one chunk have gaps of 0",
        "throughput": "totals ÷ the time from the first request to the end of the last",
    },
)
