"""`loadgen init` writes a suite to begin with, which works as it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest

from loadgen.cli.init import init
from loadgen.mock_endpoint.process import start_mock
from loadgen.sessions.errors import UsageError
from loadgen.sessions.series.point_options import Secrets
from loadgen.sessions.series.suite.chosen_runs import chosen_entries, sound, suite_to_run
from loadgen.sessions.settings.run import RunSettings

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

STARTER = Path(__file__).parents[2] / "loadgen" / "sessions" / "series" / "suite" / "starter.toml"


def test_it_writes_a_suite_that_can_be_run(loadgen: Loadgen, tmp_path: Path) -> None:
    """The golden one; as many runs as its first lines say."""
    initialised = loadgen("init")
    assert initialised.returncode == 0, initialised.stderr
    assert "loadgen run suite.toml --dry-run" in initialised.stdout
    written = (tmp_path / "suite.toml").read_text()
    assert written == STARTER.read_text()
    runs = orjson.loads(loadgen("run", "suite.toml", "--dry-run", "--json").stdout)["runs"]
    assert f"prints the {len(runs)} runs" in written
    models = {run["axes"]["model"] for run in runs}
    assert all(f"--model {model}" in written for model in models)


def test_it_overwrites_nothing(tmp_path: Path) -> None:
    """A file that is there stays what it is; a folder takes a new one; only TOML is written."""
    mine = tmp_path / "mine.toml"
    mine.write_text("# mine\n")
    with pytest.raises(UsageError, match=r"mine\.toml exists already, and nothing is overwritten"):
        init(mine)
    assert mine.read_text() == "# mine\n"
    (tmp_path / "folder").mkdir()
    init(tmp_path / "folder")
    assert (tmp_path / "folder" / "suite.toml").exists()
    with pytest.raises(UsageError, match="give it a name that ends in"):
        init(tmp_path / "suite.yaml")
    with pytest.raises(UsageError, match=r"the folder .*nowhere does not exist; create it"):
        init(tmp_path / "nowhere" / "suite.toml")


@pytest.mark.slow
def test_what_it_writes_runs_against_the_mock_endpoint(loadgen: Loadgen, tmp_path: Path) -> None:
    """As its first lines say; here one of its runs, and a short one."""
    init(tmp_path / "suite.toml")
    chosen = ("--model-filter", "small", "--benchmark-filter", "short-*", "--load-filter", "one-*")
    with start_mock(models=("small", "large"), ttft="5ms", itl="1ms") as mock:
        run = loadgen("run", "suite.toml", *chosen, "--set", f"url={mock.url}", "-n", 3, "--out", "done")
    assert run.returncode in {0, 4}, run.stderr
    assert "1 of 1 runs are done" in run.stdout


@pytest.mark.slow
def test_its_open_load_says_where_the_rate_was_not_reached(loadgen: Loadgen, tmp_path: Path) -> None:
    """In a run of a few latencies: the rate, how long to measure, and the verdict."""
    init(tmp_path / "suite.toml")
    chosen = ("--model-filter", "small", "--benchmark-filter", "short-*", "--load-filter", "open")
    short = ("--duration", "1s", "--set", "on_invalid=warn", "--out", "done")
    with start_mock(models=("small", "large"), ttft="100ms", itl="20ms") as mock:
        run = loadgen("run", "suite.toml", *chosen, *short, "--set", f"url={mock.url}")
    assert run.returncode == 0, run.stderr
    shown = " ".join(run.stdout.split())
    assert "of 20 req/s completed, in a run too short to show" in shown
    assert "Measure for 10 s or more: --duration 10s." in shown
    assert "1 pass" in shown
    assert "(required: ttft:p(99)<2s, error:rate<1%)" in shown


@pytest.fixture
def programs(tmp_path: Path) -> str:
    """A PATH with stand-ins of the agents' programs, which ask nothing."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("jarvis", "hermes", "openclaw"):
        (folder / name).write_text("#!/bin/sh\necho done\n")
        (folder / name).chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.parametrize(
    ("suite", "models", "benchmarks"), [("agents", 1, 6), ("cloud", 6, 5), ("local", 5, 5)]
)
def test_the_ready_suites_are_sound(
    suite: str, models: int, benchmarks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: str
) -> None:
    """Every run can be prepared, with the figures of its model, and 30 questions of each benchmark."""
    monkeypatch.setenv("PATH", programs)
    init(tmp_path / "suite.toml", suite=suite)  # type: ignore[arg-type]
    settings = RunSettings(suite=tmp_path / "suite.toml", set=["url=http://127.0.0.1:9"])
    source, read, _ = suite_to_run(settings)
    entries = chosen_entries(settings, source, read)
    assert len(sound(source, entries, lambda _: Secrets())) == models * benchmarks
    assert {entry.settings.tasks.samples for entry in entries} == {30}
    concurrent = {"agents": 2, "cloud": 4, "local": 2}
    assert {entry.settings.load.concurrency for entry in entries} == {concurrent[suite]}
    if suite == "local":
        assert all(entry.settings.telemetry.param_count_b for entry in entries)
        assert {entry.settings.telemetry.gpu_peak_bandwidth_gb_s for entry in entries} == {2039}


def test_a_ready_suite_runs_against_the_mock_endpoint(loadgen: Loadgen, tmp_path: Path) -> None:
    """Two models with one of the use cases, two questions each, from the suite of local models."""
    init(tmp_path / "suite.toml", suite="local")
    chosen = ("--model-filter", "glm*", "--benchmark-filter", "document_qa", "--set", "on_invalid=warn")
    with start_mock(models=("glm4:latest", "glm-4.7-flash:latest"), ttft="5ms", itl="1ms") as mock:
        done = loadgen("run", "suite.toml", *chosen, "--set", f"url={mock.url}", "-n", 2, "--out", "done")
    assert done.returncode in {0, 4}, done.stderr
    assert "2 of 2 runs are done" in done.stdout
    points = orjson.loads((tmp_path / "done" / "summary.json").read_bytes())["points"]
    assert [[score["n"] for score in point["scores"]] for point in points] == [[2], [2]]
