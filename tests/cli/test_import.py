"""`loadgen import`: an ordinary run for report, sql, gate and compare, which measures nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.agents.presets import presets
from loadgen.plugins.imports.imported_log import format_called, import_results
from reporter import MetricsReporter
from reporter.log.database import open_log
from tests.plugins.imports import load_files
from tests.plugins.imports.harness_files import WRITERS
from workloads.errors import MalformedError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

SCORES: dict[str, tuple[str, float, dict[str, float | None]]] = {
    "deepplanning": ("deepplanning", 1 / 3, {"match_rate": 3 / 4}),
    "harbor": ("terminal-bench", 0.5, {"cost_usd": 0.5}),
    "lifelong-agent": ("lifelong-agent", 0.5, {}),
    "pinchbench": ("pinchbench", 0.5, {"cost_usd": 0.02}),
    "swefficiency": ("swefficiency", 3 / 8, {"correct": 1 / 3}),
    # Without the failed agent, as OpenJarvis counts.
    "terminalbench-native": ("terminalbench-native", 0.25, {"baseline": 1 / 3}),
    "webchorearena": ("webchorearena", 0.5, {"solved": 1 / 3}),
    "workarena": ("workarena", 1 / 3, {"cost_usd": 0.06}),
}
"""By the format: the task, the score of the sample results, and further figures."""


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_an_imported_run_is_scored_and_measures_nothing(name: str, tmp_path: Path) -> None:
    """The harness's scores, its episodes and tokens; no latency, no throughput, and a finding."""
    folder = import_results(name, WRITERS[name](tmp_path / "results"), tmp_path / "run")
    with MetricsReporter(folder) as reporter:
        report = reporter.create_report()
    (score,) = report.accuracy
    task, value, others = SCORES[name]
    assert (score.task, score.scorer, score.official) == (task, "harness", True)
    assert score.value == pytest.approx(value)
    assert {figure: score.headlines[figure].value for figure in others} == pytest.approx(others)
    assert report.validity.valid
    assert report.run.imported is not None
    assert report.run.imported["format"] == name
    assert (report.latency_ms, report.ttft_ms, report.throughput.qps) == (None, None, None)
    assert (report.window.duration_s, report.window.issuing_s) == (None, None)
    (finding,) = [finding for finding in report.findings if finding.code == "imported"]
    assert "no latencies" in finding.message
    preset = format_called(name).preset
    assert (f"--agent-command @{preset}" in finding.remedy) == (preset in presets())
    assert "violation" not in {finding.code for finding in report.findings}
    if name == "swefficiency":
        assert report.episodes is None
        assert "token counts" in finding.message
    else:
        assert report.episodes is not None
        assert not report.episodes.figures.keys() & {"model_ms", "tool_ms", "user_ms", "tool_calls"}


def test_times_and_turns_are_those_of_the_harness(tmp_path: Path) -> None:
    """When an episode started and how long it took, on the clock of the log; unknown is not 0."""
    folder = import_results(
        "terminalbench-native", WRITERS["terminalbench-native"](tmp_path / "tb"), tmp_path / "run"
    )
    with open_log(folder, ("episodes",)) as log:
        episodes = log.execute(
            "SELECT DISTINCT wall_ms, turns, strftime(wall_time(started_ns), '%Y-%m-%d %H:%M') FROM episodes"
        ).fetchall()
    assert episodes == [(90_000, None, "2025-08-01 10:00")]
    sessions = import_results("lifelong-agent", WRITERS["lifelong-agent"](tmp_path / "ll"), tmp_path / "run2")
    with open_log(sessions, ("outputs", "episodes")) as log:
        assert log.execute("SELECT DISTINCT wall_ms, turns FROM episodes WHERE turns > 0").fetchall() == [
            (None, 2)
        ]
        assert log.execute("SELECT DISTINCT output FROM outputs WHERE output <> ''").fetchall() == [
            ("Action: Answer\nFinal Answer: 3",)
        ]


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (
            "harbor",
            '"n_output_tokens": 500',
            '"n_output_tokens": 1e19',
            "output_tokens must be from 0 to",
        ),
        ("harbor", '"n_output_tokens": 500', '"n_output_tokens": -1', "output_tokens must be from 0 to"),
        (
            "vllm-bench",
            '"duration": ',
            '"duration": 1e40, "other": ',
            "duration",
        ),
        ("vllm-bench", '"input_lens": [', '"input_lens": [1e15, ', "has 41 entries"),
        ("vllm-bench", '"num_prompts": ', f'"seed": {2**65}, "num_prompts": ', "does not fit into 64 bits"),
        ("terminalbench-native", "2025-08-01T10:", "0001-01-01T10:", "in the year 1"),
        (
            "terminalbench-native",
            "2025-08-01T10:01:30",
            "9999-12-31T00:00:00",
            "duration_s must be from 0 to",
        ),
    ],
)
def test_numbers_beyond_a_log_are_refused(
    tmp_path: Path, name: str, old: str, new: str, message: str
) -> None:
    """Before anything is written, with the path and the task."""
    path = {**WRITERS, **load_files.WRITERS}[name](tmp_path / "results")
    (file, *_) = [file for file in sorted(tmp_path.rglob("*.json")) if old in file.read_text()]
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(MalformedError, match=message) as raised:
        import_results(name, path, tmp_path / "run")
    assert str(raised.value).startswith(str(path))
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_the_other_commands_take_it(loadgen: Loadgen, tmp_path: Path) -> None:
    """The report as JSON, rules, a comparison question by question; what makes no sense is refused."""
    results = WRITERS["pinchbench"](tmp_path / "results")
    made = loadgen("import", "pinchbench", results, "--out", "run", "--json")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["run"]["model"] == "openrouter/demo"
    named = loadgen("import", "pinchbench", results, "--out", "other", "--model", "mine", "--quiet")
    assert (named.returncode, named.stdout, named.stderr) == (0, "", "")

    gated = loadgen("gate", "run", "--require", "accuracy.pinchbench>=0.4")
    assert gated.returncode == 0, gated.stdout
    timed = loadgen("gate", "run", "--require", "latency:p(99)<10s")
    assert timed.returncode == 1
    assert "no samples" in timed.stdout
    compared = loadgen("compare", "run", "other", "--json")
    rows: list[Any] = json.loads(compared.stdout)["rows"]
    assert rows[0]["metric"] == "accuracy.pinchbench"
    assert [figure["value"] for figure in rows[0]["figures"]] == [0.5, 0.5]
    asked = loadgen("sql", "run", "SELECT question_id, value FROM scores ORDER BY ALL", "--format", "csv")
    assert asked.stdout.splitlines()[1:] == ["task_01,0.5", "task_01,1.0", "task_02,0.0"]

    again = loadgen("import", "pinchbench", results, "--out", "run")
    assert again.returncode == 2
    assert "holds a run already" in again.stderr
    scored = loadgen("score", "run")
    assert (scored.returncode, "the harness has scored the answers" in scored.stderr) == (2, True)
    unknown = loadgen("import", "pinchbensh", results)
    assert (unknown.returncode, "did you mean 'pinchbench'?" in unknown.stderr) == (2, True)
    listed = json.loads(loadgen("list", "formats", "--json").stdout)
    assert set(WRITERS) <= set(listed)
