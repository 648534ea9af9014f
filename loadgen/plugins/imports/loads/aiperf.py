"""AIPerf's results: the records of profile_export.jsonl, or the figures of profile_export_aiperf.json.

ai-dynamo/aiperf 0.13.0, common/models/export_models.py, common/models/record_models.py and metrics/types. A
folder has both: requests are from the records, the model and the load from the other file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.imports.loads.load_results import LoadFormat, LoadResults, RecordedRequest
from loadgen.plugins.imports.loads.objects import (
    finite,
    moment,
    read_object,
    read_objects,
    times,
    whole,
    without_none,
)
from loadgen.plugins.imports.results.fields import Fields, require_there
from workloads.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


_RECORDS: Final = "profile_export.jsonl"
_FIGURES: Final = "profile_export_aiperf.json"
_METRICS: Final = {
    "time_to_first_token": "ttft_ms",
    "time_to_first_output_token": "ttfo_ms",
    "inter_token_latency": "tpot_ms",
    "inter_chunk_latency": "itl_ms",
    "request_latency": "latency_ms",
    "input_sequence_length": "input_tokens",
    "output_sequence_length": "output_tokens",
}
_RATES: Final = {
    "request_throughput": "qps",
    "output_token_throughput": "output_tps",
    "total_token_throughput": "total_tps",
}
_NAMES: Final = {"avg": "mean", **{name: name for name in ("p50", "p90", "p95", "p99", "min", "max", "std")}}
_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "sec": 1.0, "s": 1.0}
_NS: Final = 1_000_000_000


def read(path: Path) -> Sequence[LoadResults]:
    """Read a run: the folder, or either of the two files."""
    require_there(path)
    if path.is_dir():
        records, figures = path / _RECORDS, path / _FIGURES
        if not (records.is_file() or figures.is_file()):
            raise SourceError(f"{path} is not a folder of AIPerf's results: no {_FIGURES}")
    elif path.suffix == ".jsonl":
        records, figures = path, path.with_name(_FIGURES)
    else:
        records, figures = path.with_name(_RECORDS) if path.name == _FIGURES else path / _RECORDS, path
    about = read_object(figures) if figures.is_file() else Fields(figures, "", {})
    if not records.is_file():
        note = f"Requests are in {_RECORDS}: AIPerf writes it with --export-level records."
        return [_run(about, (), _figures(about), 0, [note])]
    everything = read_objects(records)
    requests = [
        record
        for record in everything
        if record.inside("metadata").optional_text("benchmark_phase") != "warmup"
    ]
    return [_run(about, requests, {}, len(everything) - len(requests), [])]


def _run(
    about: Fields,
    records: Sequence[Fields],
    figures: Mapping[str, Any],
    warmup: int,
    notes: Sequence[str],
) -> LoadResults:
    starts = [_metadata(record).number("request_start_ns") for record in records]
    began_ns = min(starts, default=None)
    config = about.values.get("input_config")
    requests = sorted(
        (_request(record, began_ns or 0) for record in records), key=lambda request: request.start_s or 0.0
    )
    return LoadResults(
        requests=requests,
        figures=figures,
        duration_s=about.inside("benchmark_duration").optional_number("avg") if figures else None,
        model=_model(config),
        load=_load(config),
        started=about.moment("start_time") if began_ns is None else moment(began_ns / _NS),
        facts=without_none(
            {
                "aiperf_version": about.optional_text("aiperf_version"),
                "warmup_requests": warmup or None,
            }
        ),
        notes=notes,
    )


def _metadata(record: Fields) -> Fields:
    about = record.members("metadata")
    if about is None:
        raise record.error("metadata", f"is missing: {_RECORDS} has it in each line")
    return about


def _request(record: Fields, began_ns: float) -> RecordedRequest:
    about, metrics = _metadata(record), record.inside("metrics")
    start_ns, end_ns = about.number("request_start_ns"), about.number("request_end_ns")
    failure = record.members("error")
    cut = "cancelled" if about.flag("was_cancelled") else None
    error = cut if failure is None else failure.optional_text("message") or "no message"
    first_s, latency_s = _seconds(metrics, "time_to_first_token"), _seconds(metrics, "request_latency")
    gaps_s = None
    if (gaps := metrics.members("inter_chunk_latency")) is not None:
        scale = _SECONDS.get(gaps.text("unit"), 1e-3)
        gaps_s = [gap * scale for gap in times(gaps, "value", gaps.values.get("value"))]
    return RecordedRequest(
        start_s=(start_ns - began_ns) / _NS,
        error=error,
        first_token_s=first_s,
        gaps_s=gaps_s,
        last_token_s=latency_s if first_s is not None else None,
        end_s=max(latency_s or 0.0, (end_ns - start_ns) / _NS if error else 0.0),
        input_tokens=_tokens(metrics, "input_sequence_length"),
        output_tokens=_tokens(metrics, "output_sequence_length"),
        cached_tokens=_tokens(metrics, "usage_prompt_cache_read_tokens"),
        reasoning_tokens=_tokens(metrics, "reasoning_token_count"),
    )


def _seconds(metrics: Fields, name: str) -> float | None:
    metric = metrics.inside(name)
    value = metric.optional_number("value")
    return None if value is None else value * _SECONDS.get(metric.optional_text("unit") or "", 1e-3)


def _tokens(metrics: Fields, name: str) -> int | None:
    return whole(metrics.inside(name).optional_number("value"))


def _figures(about: Fields) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for name, ours in _METRICS.items():
        if (metric := about.members(name)) is not None:
            named = {new: finite(metric.values.get(old)) for old, new in _NAMES.items()}
            figures[ours] = {"count": metric.count("count") or _count(about, "request_count") or 0}
            figures[ours] |= without_none(named)
    for name, ours in _RATES.items():
        figures[ours] = about.inside(name).optional_number("avg")
    figures["completed"] = _count(about, "request_count")
    figures["failed"] = _count(about, "error_request_count") or 0
    if figures["completed"] is None:
        raise about.error("request_count", f"is missing: not {_FIGURES}")
    return without_none(figures)


def _count(about: Fields, name: str) -> int | None:
    return whole(about.inside(name).values.get("avg"))


def _model(config: object) -> str | None:
    """The first model of the configuration, whose layout differs by version."""
    for name in ("model_names", "models", "model"):
        for value in _at(config, name):
            items = value.get("items") if isinstance(value, dict) else value
            first = items[0] if isinstance(items, list) and items else items
            model = first.get("name") if isinstance(first, dict) else first
            if isinstance(model, str) and model:
                return model
    return None


def _at(config: object, name: str) -> Iterator[Any]:
    """The values of a name, at any depth."""
    if isinstance(config, dict):
        if config.get(name) is not None:
            yield config[name]
        for value in config.values():
            yield from _at(value, name)
    elif isinstance(config, list):
        for value in config:
            yield from _at(value, name)


def _load(config: object) -> Mapping[str, Any]:
    """The load of the last phase, or, in older versions, of all."""
    phases = [phase for phases in _at(config, "phases") if isinstance(phases, list) for phase in phases]
    of = phases[-1] if phases else config
    kind = next(_at(of, "type"), None)
    if kind == "fixed_schedule":
        return {"kind": "trace"}
    rates = (finite(value) for name in ("rate", "request_rate") for value in _at(of, name))
    rate = next((value for value in rates if value), None)
    concurrency = next((value for value in map(whole, _at(of, "concurrency")) if value), None)
    if rate is None:
        return {"kind": "closed", "concurrency": concurrency} if concurrency else {}
    arrivals = kind if kind in {"poisson", "gamma", "constant"} else "poisson"
    return without_none({"kind": arrivals, "rate": rate, "max_concurrency": concurrency})


FORMAT: Final = LoadFormat(
    "aiperf",
    "AIPerf: the folder with profile_export.jsonl and profile_export_aiperf.json, or one of the two",
    "ai-dynamo/aiperf 0.13.0, common/models and metrics/types",
    read,
    {
        "TTFT": "request begun in the client, connection set-up included → first response with content",
        "latency": "request begun → last response with content",
        "output tokens": "counted by the tokenizer by default, usage with --use-server-token-count",
    },
    {
        "TPOT": "from its ITL: (latency - TTFT) ÷ (n - 1)",
        "throughput": "totals ÷ the time from the first request to the end of the last",
        "std": "of the population",
    },
)
