"""The energy of each request in files of results, and that the report's statistics are of these values."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow.parquet as pq
import pytest

from loadgen.plugins.exports.parquet import write_tables
from recorder import EventType
from reporter import MetricsReporter
from reporter.sample_results import ResultOptions
from reporter.telemetry.energy_figures import COLUMNS
from tests.reporter.accuracy.conftest import Benchmark
from tests.reporter.conftest import Run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HARDWARE = {"param_count_b": 8.0, "gpu_peak_tflops": 989.0, "gpu_peak_bandwidth_gb_s": 3350.0}


def senses(run: Run, until_ms: float, watts: float) -> None:
    """A GPU that draws a constant power, with an energy counter."""
    run.session(EventType.SENSOR_STARTED, 0, source="nvml", interval_s=0.1)
    for at_ms in (0.0, until_ms):
        readings = {"power_w": watts, "energy_j_total": watts * at_ms / 1e3, "utilization_pct": 80.0}
        run.session(EventType.SENSOR_READING, at_ms, source="nvml", labels={"gpu": "0"}, readings=readings)


def results(folder: Path) -> list[dict[str, Any]]:
    """The rows of the file of results."""
    with MetricsReporter(folder) as reporter:
        reporter.dump_results(folder / "samples.jsonl")
    return [orjson.loads(line) for line in (folder / "samples.jsonl").read_bytes().splitlines()]


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    """A right answer, a wrong one, one that cannot be scored, and a failed request, on a GPU of 200 W."""
    run = Run(tmp_path).begins()
    run.settings["options"] = HARDWARE
    benchmark = Benchmark(run).asks("gsm8k", 4)
    for question in range(3):
        benchmark.answers(question, tokens=5)
    senses(run, 120_000, 200)
    return benchmark.fails(3).scored(0.5, 1, scorer="other").scored(1, 0, "infra_error").write()


def test_each_result_has_its_energy(scored: Path) -> None:
    """Joules are the request's share; a wrong answer has no intelligence, an unscored one is unknown."""
    right, wrong, unscored, failed = results(scored)
    for row in (right, wrong, unscored):
        seconds = row["latency_ms"] / 1e3
        assert row["power_watts"] == pytest.approx(200)
        assert 0 < row["energy_joules"] <= 200 * seconds * (1 + 1e-9)
        assert row["gpu_utilization_pct"] == pytest.approx(80)
        assert row["mfu_pct"] == pytest.approx(100 * 2 * 8e9 * row["output_tps"] / 989e12)
        assert row["mbu_pct"] == pytest.approx(100 * 2 * 8e9 * row["output_tps"] / 3350e9)
    assert (right["ipw"], right["ipj"]) == (pytest.approx(1 / 200), pytest.approx(1 / right["energy_joules"]))
    assert (wrong["ipw"], wrong["ipj"]) == (0, 0)
    assert (unscored["ipw"], unscored["ipj"]) == (None, None)
    assert {failed[name] for name in COLUMNS} == {None}


@pytest.mark.slow
def test_the_statistics_of_the_report_are_of_these_values(scored: Path, tmp_path: Path) -> None:
    """In JSON lines, in Parquet and in the report."""
    rows = results(scored)
    with MetricsReporter(scored) as reporter:
        energy = reporter.create_report().energy
        write_tables(reporter.log, tmp_path, ResultOptions())
    assert energy is not None
    table = pq.read_table(tmp_path / "samples.parquet").to_pylist()
    for name in COLUMNS:
        assert [row[name] for row in table] == [row[name] for row in rows]
        values = [row[name] for row in rows if row[name] and row["status"] == "completed"]
        stats = energy.stats[name]
        assert stats is not None, name
        assert (stats.count, stats.min, stats.max) == (len(values), min(values), max(values))
        assert (stats.mean, stats.median) == (
            pytest.approx(statistics.fmean(values)),
            pytest.approx(statistics.median(values)),
        )
        deviation = pytest.approx(statistics.stdev(values), abs=1e-9) if len(values) > 1 else None
        assert stats.std == deviation


def test_without_a_source_of_power_the_columns_are_empty(a_run: Callable[..., Run]) -> None:
    """They are there all the same: a table of many runs has the same columns."""
    folder = a_run().answers(10, 20).ends().write()
    (row,) = results(folder)
    assert {name: row[name] for name in COLUMNS} == dict.fromkeys(COLUMNS)


def test_a_sensor_that_read_nothing(a_run: Callable[..., Run]) -> None:
    """A driver that is missing leaves the columns empty, with hardware figures as well."""
    run = a_run()
    run.settings |= {"options": HARDWARE}
    run.answers(10, 20, usage=(1, 2)).session(EventType.SENSOR_STARTED, 0, source="nvml", interval_s=0.1)
    run.session(EventType.SENSOR_READING, 0, source="nvml", error="no_driver", message="!")
    (row,) = results(run.ends().write())
    assert {name: row[name] for name in COLUMNS} == dict.fromkeys(COLUMNS)
