"""`loadgen import` of load generators: figures from their records, or their own, for report and compare."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.imports.imported_log import import_results
from reporter import MetricsReporter
from reporter.compare.comparable import facts, unlike
from reporter.log.database import open_log
from reporter.plots.make import make_plot
from reporter.plots.plot_value import NoPlot, Plot
from tests.plugins.imports import load_files as written

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from reporter.report import Report

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

SENT = written.COUNT
DONE = SENT - 1
NUMBERS = {"sglang-bench": 1}
"""Which run of a file with several is read."""


def imported(name: str, path: Path, out: Path) -> Report:
    """The report of an imported run."""
    folder = import_results(name, path, out, number=NUMBERS.get(name))
    with MetricsReporter(folder) as reporter:
        return reporter.create_report()


@pytest.mark.parametrize("name", written.WRITERS)
def test_records_become_a_log(name: str, tmp_path: Path) -> None:
    """Times, tokens, rates and failures, by the definitions here; a warning for each that differs there."""
    report = imported(name, written.WRITERS[name](tmp_path / "results"), tmp_path / "run")
    counts = report.counts
    assert (counts.issued, counts.completed, counts.failed) == (SENT, DONE, 1)
    assert report.validity.valid, report.validity.reasons
    assert report.run.model == "org/demo"
    assert report.ttft_ms is not None
    assert report.tpot_ms is not None
    assert report.latency_ms is not None
    assert report.ttft_ms.min == pytest.approx(20.0, abs=1e-3)
    assert report.tpot_ms.p50 == pytest.approx(5.0, abs=1e-3)
    assert report.latency_ms.min == pytest.approx(36.0 if name == "guidellm" else 35.0, abs=1e-3)
    assert report.tokens.output == 4 * DONE
    # Some records say when the last response ended; the others, how long the run took.
    if name not in {"aiperf", "inference-perf"}:
        assert report.throughput.qps == pytest.approx(DONE / 10)
        assert report.throughput.output_tps == pytest.approx(4 * DONE / 10)
    # Nothing is known of the schedule and of the client's own time.
    unknown = (
        report.latency_from_schedule_ms,
        report.issue_lag_ms,
        report.send_lag_ms,
        report.own_ttft_share,
    )
    assert unknown == (None, None, None, None)
    if name != "sglang-bench":
        assert report.run.started_at.startswith("2026-")
    differing = [finding.message for finding in report.findings if finding.code == "imported_definition"]
    assert any(message.startswith(f"TTFT of {name}: request begun") for message in differing)
    assert not any(message.startswith("TPOT") for message in differing)
    assert "violation" not in {finding.code for finding in report.findings}


def test_percentiles_are_those_of_the_file(tmp_path: Path) -> None:
    """Recomputed from the records, a figure is what numpy, and so vLLM, has."""
    report = imported("vllm-bench", written.vllm(tmp_path), tmp_path / "run")
    assert report.ttft_ms is not None
    assert (report.ttft_ms.mean, report.ttft_ms.p99, report.ttft_ms.p999) == pytest.approx(
        (39.0, 57.62, 57.962), abs=1e-3
    )


def test_without_start_times_nothing_over_time_is_shown(tmp_path: Path) -> None:
    """No moments, no steady state, no plot over time; latencies and rates are there, and a finding."""
    without = imported("vllm-bench", written.vllm(tmp_path, starts=False), tmp_path / "without")
    assert without.over_time == []
    assert without.steady_state is None
    assert without.throughput.qps == pytest.approx(DONE / 10)
    assert "imported_without_starts" in {finding.code for finding in without.findings}
    timed = imported("vllm-bench", written.vllm(tmp_path), tmp_path / "timed")
    assert timed.over_time
    for folder, kind in (("without", NoPlot), ("timed", Plot)):
        with open_log(tmp_path / folder) as log:
            assert isinstance(make_plot(log, "rate-over-time"), kind)
            assert isinstance(make_plot(log, "ttft-cdf"), Plot)


def test_definitions_differ_between_programs_only(tmp_path: Path) -> None:
    """Two runs of one program do not differ; those of two, or one and a run measured here, do."""
    reports = {
        name: imported(name, written.WRITERS[name](tmp_path / name), tmp_path / f"run-{name}").to_dict()
        for name in ("vllm-bench", "guidellm")
    }
    here: dict[str, Any] = {**reports["vllm-bench"], "run": {}}
    of = {name: facts(report, {}, {}) for name, report in {**reports, "here": here}.items()}

    def differing(run: str, other: str) -> set[str]:
        mismatches = unlike(run, of[run], other, of[other])
        return {mismatch.what for mismatch in mismatches if mismatch.about == "definitions"}

    assert differing("vllm-bench", "vllm-bench") == set()
    assert differing("vllm-bench", "here") == {"TTFT", "latency", "output tokens"}
    assert differing("here", "guidellm") == {"TTFT"}
    assert "TTFT" in differing("vllm-bench", "guidellm")


@pytest.mark.slow
def test_figures_alone_are_reported_compared_and_judged(loadgen: Loadgen, tmp_path: Path) -> None:
    """The program's own figures in every format; no test, no invented figure, and a plain answer."""
    summary = written.vllm(tmp_path / "a", detailed=False)
    made = loadgen("import", "vllm-bench", summary, "--out", "old")
    assert made.returncode == 0, made.stderr
    assert "39 completed, 1 failed" in made.stdout
    assert "TTFT" in made.stdout
    assert "39.0" in made.stdout
    assert "--save-detailed" in made.stdout
    assert "TPOT of vllm-bench: (latency - TTFT) ÷ (n - 1)" in " ".join(made.stdout.split())
    for form in ("markdown", "html"):
        assert "Figures of vllm-bench" in loadgen("report", "old", "--format", form, "-o", "-").stdout
    new = loadgen("import", "vllm-bench", written.vllm(tmp_path / "b"), "--out", "new", "--quiet")
    assert new.returncode == 0, new.stderr
    compared = loadgen("compare", "old", "new", "--json")
    assert compared.returncode == 5
    result = json.loads(compared.stdout)
    rows = {row["metric"]: row for row in result["rows"]}
    old_ttft, new_ttft = rows["ttft:mean"]["figures"]
    assert [old_ttft["value"], new_ttft["value"]] == pytest.approx([39.0, 39.0])
    assert rows["ttft:mean"]["changes"][0]["finding"] == "not tested"
    assert rows["latency:p(99)"]["figures"][0] is None
    assert {"TPOT", "throughput"} <= {each["what"] for each in result["unlike"]}
    assert [side["requests"] for side in result["sides"]] == [DONE, DONE]
    passed = loadgen("gate", "old", "--require", "ttft:mean<50ms", "--require", "error<5%")
    assert passed.returncode == 0, passed.stdout
    absent = loadgen("gate", "old", "--require", "ttft:p(95)<50ms")
    assert absent.returncode == 5, absent.stdout
    assert loadgen("gate", "old", "--require", "ttft:mean<30ms").returncode == 1


@pytest.mark.slow
def test_commands_on_imported_loads(loadgen: Loadgen, tmp_path: Path) -> None:
    """Several runs in a file, wrong numbers, SQL, export and import again, and what makes no sense."""
    several = written.sglang(tmp_path)
    asked = loadgen("import", "sglang-bench", several)
    assert asked.returncode == 2
    assert "has 2 runs (1: poisson 8.0; 2: poisson 16.0); choose one with --result N" in asked.stderr
    assert "counted from 1" in loadgen("import", "sglang-bench", several, "--result", "3").stderr
    chosen = loadgen("import", "sglang-bench", several, "--result", "2", "--out", "second", "--json")
    assert json.loads(chosen.stdout)["run"]["load"]["rate"] == 16.0
    single = loadgen("import", "pinchbench", several, "--result", "1")
    assert (single.returncode, "leave --result out" in single.stderr) == (2, True)

    assert loadgen("import", "vllm-bench", written.vllm(tmp_path), "--out", "run", "-q").returncode == 0
    rows = loadgen(
        "sql",
        "run",
        "select count(*), count(ttft_ms), any_value(output) from outputs "
        "join samples using (sample_uuid) where output <> ''",
        "--format",
        "csv",
    )
    assert rows.stdout.splitlines()[1] == f"{DONE},{DONE},a b c d"
    assert loadgen("export", "run", "--vllm-json", "again.json").returncode == 0
    again = loadgen("import", "vllm-bench", "again.json", "--out", "again", "--json")
    first, second = (json.loads(loadgen("report", run, "--json").stdout) for run in ("run", "again"))
    assert again.returncode == 0, again.stderr
    for metric in ("ttft_ms", "tpot_ms", "itl_ms", "latency_ms"):
        assert second[metric]["p99"] == pytest.approx(first[metric]["p99"], rel=1e-4)
    assert second["throughput"]["qps"] == pytest.approx(first["throughput"]["qps"])

    refused = loadgen("export", "run", "--mlperf-endpoints", "bundle")
    assert (refused.returncode, "was imported from vllm-bench" in refused.stderr) == (2, True)
    scored = loadgen("score", "run")
    assert (scored.returncode, "another program measured it" in scored.stderr) == (2, True)
    listed = json.loads(loadgen("list", "formats", "--json").stdout)
    assert set(written.WRITERS) <= set(listed)
