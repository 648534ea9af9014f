"""A run as a Benchmark Report, which is read back, and as a row of InferenceX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest
import yaml

from loadgen.plugins.exports.export_formats import chosen, write
from loadgen.plugins.imports.imported_log import format_called
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.export import ExportSettings
from reporter.reporter import MetricsReporter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DECLARED = {
    "hw": "h200",
    "image": "engine:1",
    "infmax_model_prefix": "demo",
    "framework": "vllm",
    "precision": "fp8",
    "isl": 8192,
    "osl": 1024,
    "tp": 2,
}


def export(run: Path, **options: Any) -> None:
    """Export by the options of the command."""
    settings = ExportSettings(run=run, **options)
    write(settings, chosen(settings))


@pytest.fixture
def folder(a_run: Callable[..., Any]) -> Path:
    """Two answers, and a failure."""
    run = a_run().answers(50, 60, at=0, usage=(7, 2)).answers(50, 70, 90, at=100, usage=(9, 3))
    written: Path = run.fails("reset", at=205, failed=230).stops(300).ends().write()
    return written


def test_a_benchmark_report_is_read_back(folder: Path, tmp_path: Path) -> None:
    """Figures in seconds, the submitter's declarations, no null; the import has the same figures."""
    file, about = tmp_path / "report.yaml", tmp_path / "about.yaml"
    engine = {"kind": "inference_engine", "model": {"name": "org/demo"}}
    about.write_text(
        yaml.safe_dump({"run": {"eid": "series"}, "scenario": {"stack": [{"standardized": engine}]}})
    )
    export(folder, benchmark_report=file, about=about)
    content = yaml.safe_load(file.read_text())
    assert (content["version"], content["run"]["eid"]) == ("0.2.1", "series")
    performance = content["results"]["request_performance"]["aggregate"]
    requests = performance["requests"]
    assert (requests["total"], requests["failures"], requests["incomplete"]) == (3, 1, 0)
    assert requests["input_length"]["mean"] == 8
    latency = performance["latency"]
    assert latency["time_to_first_token"]["mean"] == pytest.approx(0.05)
    # 60 ms of 2 tokens, and 90 ms of 3
    assert latency["normalized_time_per_output_token"]["max"] == pytest.approx(0.03)
    assert {"p0p1", "p75", "p99p9", "stddev"} <= latency["request_latency"].keys()
    assert "null" not in file.read_text()

    with MetricsReporter(folder) as reporter:
        report = reporter.create_report()
    (read,) = format_called("benchmark-report").read(file)
    assert read.model == "org/demo"
    figures = read.figures
    assert (figures["completed"], figures["failed"]) == (2, 1)
    for name in ("ttft_ms", "tpot_ms", "itl_ms", "latency_ms"):
        for statistic in ("mean", "p50", "p99", "p999", "max"):
            assert figures[name][statistic] == pytest.approx(getattr(getattr(report, name), statistic))
    assert figures["qps"] == pytest.approx(report.throughput.qps)


def test_a_row_of_inferencex(folder: Path, tmp_path: Path) -> None:
    """Seconds, 1 ÷ TPOT, tok/s of each GPU, and what was declared."""
    file, about = tmp_path / "row.json", tmp_path / "about.json"
    about.write_bytes(orjson.dumps({**DECLARED, "model": "org/demo"}))
    export(folder, inferencex=file, about=about)
    row = orjson.loads(file.read_bytes())
    with MetricsReporter(folder) as reporter:
        report = reporter.create_report()
    assert (row["hw"], row["model"], row["isl"], row["dp_attention"]) == ("h200", "org/demo", 8192, "false")
    assert row["mean_ttft"] == pytest.approx(0.05)
    assert row["mean_intvty"] == pytest.approx(1 / row["mean_tpot"])
    assert row["output_tput_per_gpu"] == pytest.approx(report.throughput.output_tps / 2)
    assert row["tput_per_gpu"] == pytest.approx(row["input_tput_per_gpu"] + row["output_tput_per_gpu"])
    outcome = row["benchmark_outcome"]
    assert (outcome["requested"], outcome["failed"], outcome["status"]) == (3, 1, "failed")

    several = {f"{role}_{name}": 4 for role in ("prefill", "decode") for name in ("tp", "num_workers")}
    counts = {"num_prefill_gpu": 4, "num_decode_gpu": 2}
    about.write_bytes(orjson.dumps({**DECLARED, "is_multinode": True, **several, **counts}))
    export(folder, inferencex=file, about=about, force=True)
    row = orjson.loads(file.read_bytes())
    assert row["output_tput_per_gpu"] == pytest.approx(report.throughput.output_tps / 2)
    assert row["tput_per_gpu"] == pytest.approx(report.throughput.total_tps / 6)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "must declare hw, image, infmax_model_prefix, framework, precision, isl, osl, tp"),
        ({"hardware": "h200"}, "'hardware' is not a member"),
        ({**DECLARED, "tp": 0}, "tp must be a whole number of 1 or more"),
        ([], "must have members"),
    ],
)
def test_what_is_wrong_with_a_declaration_is_named(
    content: Any, message: str, folder: Path, tmp_path: Path
) -> None:
    """With its member."""
    about = tmp_path / "about.json"
    about.write_bytes(orjson.dumps(content))
    with pytest.raises(UsageError, match=message):
        export(folder, inferencex=tmp_path / "row.json", about=about)
