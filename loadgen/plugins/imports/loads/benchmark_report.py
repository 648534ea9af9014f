"""Benchmark Report v0.2 and v0.2.1: the figures of one run or stage, in YAML or JSON.

llm-d/llm-d-benchmark at 2c1e326e, llmdbenchmark/analysis/benchmark_report/schema_v0_2_1.py.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.imports.loads.load_results import LoadFormat, LoadResults
from loadgen.plugins.imports.loads.objects import finite, without_none
from loadgen.plugins.imports.results.fields import Fields, file_of, text_of
from workloads.errors import MalformedError
from workloads.yaml_values import NotYAMLError, parse_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_VERSIONS: Final = ("0.2", "0.2.1")
LATENCIES: Final = {
    "time_to_first_token": "ttft_ms",
    "time_per_output_token": "tpot_ms",
    "inter_token_latency": "itl_ms",
    "request_latency": "latency_ms",
}
LENGTHS: Final = {"input_length": "input_tokens", "output_length": "output_tokens"}
RATES: Final = {"request_rate": "qps", "output_token_rate": "output_tps", "total_token_rate": "total_tps"}
STATISTICS: Final = {
    "mean": "mean",
    "stddev": "std",
    "min": "min",
    "p50": "p50",
    "p90": "p90",
    "p95": "p95",
    "p99": "p99",
    "p99p9": "p999",
    "max": "max",
}
_MILLISECONDS: Final = {"ms": 1.0, "s": 1e3, "ms/token": 1.0, "s/token": 1e3}


def read(path: Path) -> Sequence[LoadResults]:
    """Read the file."""
    file = file_of(path, "the file of a benchmark report")
    try:
        values = parse_yaml(text_of(file))
    except NotYAMLError as error:
        raise MalformedError(f"{file} is not YAML: {error}") from error
    if not isinstance(values, dict):
        raise Fields(file, "", {}).wrong("the file", "an object", values)
    report = Fields(file, "", values)
    version = str(values.get("version"))
    if version not in _VERSIONS:
        raise report.wrong("version", f"one of {', '.join(_VERSIONS)}", values.get("version"))
    performance = report.inside("results").inside("request_performance").members("aggregate")
    if performance is None:
        raise report.error("results.request_performance.aggregate", "is missing")
    run, load = report.inside("run"), report.inside("scenario").inside("load").inside("standardized")
    time = run.inside("time")
    started, ended = _moment(time, "start"), _moment(time, "end")
    facts = {
        "report_uid": run.optional_text("uid"),
        "tool": load.optional_text("tool"),
        "tool_version": load.optional_text("tool_version"),
    }
    return [
        LoadResults(
            figures=_figures(performance),
            duration_s=(ended - started).total_seconds() if started and ended and ended > started else None,
            model=_model(report),
            load=_load(load),
            started=started,
            facts=without_none(facts),
            notes=["A benchmark report has no records of requests."],
        )
    ]


def _moment(time: Fields, name: str) -> datetime | None:
    """A time; YAML without quotes has read the text already."""
    value = time.values.get(name)
    if not isinstance(value, datetime):
        return time.moment(name)
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def _model(report: Fields) -> str | None:
    """The model of the first engine of the stack."""
    stack = report.inside("scenario").values.get("stack") or []
    if not isinstance(stack, list):
        raise report.wrong("scenario.stack", "a list", stack)
    for component in stack:
        engine = component.get("standardized") if isinstance(component, dict) else None
        model = engine.get("model") if isinstance(engine, dict) else None
        if isinstance(model, dict) and isinstance(model.get("name"), str):
            return str(model["name"])
    return None


def _load(load: Fields) -> Mapping[str, Any]:
    rate, concurrency = load.optional_number("rate_qps"), finite(load.values.get("concurrency"))
    if rate is not None:
        return {"kind": "constant", "rate": rate}
    return {"kind": "closed", "concurrency": int(concurrency)} if concurrency else {}


def _figures(performance: Fields) -> dict[str, Any]:
    requests, latency = performance.inside("requests"), performance.inside("latency")
    total, failed = requests.count("total"), requests.count("failures") or 0
    completed = None if total is None else total - failed - (requests.count("incomplete") or 0)
    figures: dict[str, Any] = {"completed": completed, "failed": failed}
    for name, ours in LATENCIES.items():
        if summary := latency.members(name):
            factor = _MILLISECONDS.get(units := summary.text("units"))
            if factor is None:
                raise summary.wrong("units", f"one of {', '.join(_MILLISECONDS)}", units)
            figures[ours] = _statistics(summary, completed, factor)
    for name, ours in LENGTHS.items():
        if summary := requests.members(name):
            figures[ours] = _statistics(summary, completed, 1.0)
    throughput = performance.inside("throughput")
    figures |= {ours: throughput.inside(name).optional_number("mean") for name, ours in RATES.items()}
    return without_none(figures)


def _statistics(summary: Fields, count: int | None, factor: float) -> dict[str, float]:
    numbers = {ours: summary.optional_number(name) for name, ours in STATISTICS.items()}
    return {
        "count": float(count or 0),
        **{name: value * factor for name, value in numbers.items() if value is not None},
    }


FORMAT: Final = LoadFormat(
    "benchmark-report",
    "Benchmark Report v0.2.1 of llm-d and inference-perf: a YAML or JSON file",
    "llm-d/llm-d-benchmark at 2c1e326e, schema_v0_2_1.py",
    read,
    {},
    {
        "TTFT": "as the tool that measured defines it",
        "TPOT": "as the tool that measured defines it",
        "ITL": "as the tool that measured defines it",
        "throughput": "totals ÷ the time from the first request to the end of the last, or the tool's own",
    },
)
