"""`loadgen export --inferencex`: a run as a result row of InferenceX's fixed-sequence benchmark.

SemiAnalysisAI/InferenceX at 843c6254, utils/process_result.py: the figures of `vllm bench serve` in seconds,
`intvty` = 1 ÷ TPOT of the same statistic, and tok/s per GPU; by version 1 of the schema of results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.exports.declared import declarations
from loadgen.plugins.exports.exported import Exported, report_of, require_writable, writing
from loadgen.plugins.exports.vllm_json import statistics_of
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.plain_files import as_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from loadgen.sessions.settings.export import ExportSettings
    from reporter.report import Report

_NAMED: Final = ("hw", "image", "infmax_model_prefix", "framework", "precision", "isl", "osl")
"""What every row needs from the submitter."""

_DEFAULTS: Final[Mapping[str, Any]] = {
    "spec_decoding": "none",
    "disagg": False,
    "is_multinode": False,
    "recipe_fingerprint": "",
}
_ONE_NODE: Final[Mapping[str, Any]] = {
    "tp": None,
    "pp": 1,
    "dcp_size": 1,
    "pcp_size": 1,
    "ep": 1,
    "dp_attention": "false",
}
_ROLE: Final[Mapping[str, Any]] = {**_ONE_NODE, "num_workers": None}
_GPUS: Final = ("num_prefill_gpu", "num_decode_gpu")
_SEVERAL_NODES: Final[Mapping[str, Any]] = {
    **{f"{role}_{name}": value for role in ("prefill", "decode") for name, value in _ROLE.items()},
    **dict.fromkeys(_GPUS),
}
_OPTIONAL: Final = ("model", "router", "kv_p2p_transfer", "prefill_hw", "decode_hw")
_MEMBERS: Final = (*_NAMED, *_DEFAULTS, *_ONE_NODE, *_SEVERAL_NODES, *_OPTIONAL)

MAX_FAILURE_RATE: Final = 0.05
"""The failed share of requests with which a result is dropped."""


def write_row(settings: ExportSettings, file: Path) -> Exported:
    """Write the file."""
    require_writable("--inferencex", file, force=settings.force)
    declared = declarations(settings.about, _MEMBERS)
    report = report_of(settings)
    row = render(report, declared)
    with writing(file) as unfinished:
        unfinished.write(as_json(row))
    return Exported("file", str(file), report.counts.issued, invalid=not report.validity.valid)


def render(report: Report, declared: Mapping[str, Any]) -> dict[str, Any]:
    """The row, or raise `UsageError` for what the submitter has not declared."""
    load, rates = report.run.load, report.throughput
    concurrency = load.get("concurrency") or load.get("max_concurrency")
    if not concurrency:
        raise UsageError("--inferencex: a row has the concurrency of a closed loop: run with --concurrency")
    several = declared.get("is_multinode", False)
    values = {**_DEFAULTS, **(_SEVERAL_NODES if several else _ONE_NODE), **declared}
    if missing := [name for name in (*_NAMED, *values) if values.get(name) is None]:
        raise UsageError(f"--inferencex: --about FILE must declare {', '.join(dict.fromkeys(missing))}")
    prefill, decode = _gpus(values, several=several)
    output, total = rates.output_tps or 0.0, rates.total_tps or 0.0
    completed, failed = report.counts.completed, report.counts.failed
    requested = report.counts.issued - report.counts.abandoned
    accepted = failed <= MAX_FAILURE_RATE * requested
    return {
        "result_schema_version": 1,
        "conc": concurrency,
        "model": report.run.model,
        **values,
        "tput_per_gpu": total / (prefill + decode if several else prefill),
        "input_tput_per_gpu": (total - output) / prefill,
        "output_tput_per_gpu": output / (decode or prefill),
        **_seconds(statistics_of(report)),
        "benchmark_outcome": {
            "status": "passed" if accepted else "failed",
            "requested": requested,
            "completed": completed,
            "failed": failed,
            "max_failure_rate": MAX_FAILURE_RATE,
        },
    }


def _gpus(values: Mapping[str, Any], *, several: bool) -> tuple[int, int]:
    """The GPUs that prefill and those that decode; all of one node do both. DCP and EP add none."""
    names = _GPUS if several else ("tp", "pp", "pcp_size")
    for name in names:
        if not isinstance(values[name], int) or values[name] < 1:
            raise UsageError(f"--inferencex: --about FILE: {name} must be a whole number of 1 or more")
    if several:
        return values[_GPUS[0]], values[_GPUS[1]]
    return values["tp"] * values["pp"] * values["pcp_size"], 0


def _seconds(statistics: Mapping[str, float]) -> dict[str, float]:
    """The figures of `vllm bench serve` in ms as those of a row."""
    row: dict[str, float] = {}
    for key, value in statistics.items():
        name = key.removesuffix("_ms")
        if "e2e_latency" in name:
            continue  # SGLang's name of e2el
        row[name] = value / 1e3
        if "tpot" in name and value > 0:
            row[name.replace("tpot", "intvty")] = 1e3 / value
    return row
