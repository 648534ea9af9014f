"""`loadgen run --all`: every benchmark that can be asked here, with a file of samples each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from loadgen.mock_endpoint.process import start_mock
from loadgen.sessions.series.suite.after_run import sample_file
from loadgen.sessions.series.suite.chosen_runs import suite_of_all
from workloads.catalog import names
from workloads.errors import WorkloadError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.slow
def test_each_benchmark_has_its_own_file(loadgen: Loadgen, tmp_path: Path) -> None:
    """Two benchmarks, two questions each; a line per question, with its score; the others are named."""
    chosen = ("--benchmark-filter", "document_qa", "--benchmark-filter", "daily_digest")
    with start_mock(models=("org/demo:8b",), ttft="5ms", itl="1ms") as mock:
        asked = ("--model", "org/demo:8b", "--url", mock.url, "-n", 2, "--set", "on_invalid=warn")
        done = loadgen("run", "--all", *asked, *chosen, "--out", "results", "--compact")
        again = loadgen("resume", "results")
    assert done.returncode in {0, 4}, done.stderr
    assert "note: simpleqa is left out: " in done.stderr
    assert "2 of 2 runs are done" in done.stdout
    heading = next(line for line in done.stdout.splitlines() if line.startswith("run "))
    # The load has a column where warnings leave the room.
    assert [name for name in heading.split() if name != "load"][:3] == ["run", "score", "req/s"]
    assert "scored by" not in done.stdout
    for name in ("document_qa", "daily_digest"):
        lines = (tmp_path / "results" / f"{name}_org-demo-8b.jsonl").read_bytes().splitlines()
        assert len(lines) == 2
        assert {"scores", "output"} & set(orjson.loads(lines[0]))
    assert again.returncode == done.returncode


def _no_daemon() -> None:
    raise WorkloadError("no Docker daemon answers")


def test_what_cannot_be_asked_is_left_out_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every benchmark is either in the suite or in the notes; options of the runs change which."""
    monkeypatch.setattr("loadgen.plugins.sandbox.docker_daemon.connect", _no_daemon)
    source, suite, left_out = suite_of_all("demo", "http://127.0.0.1:9", {})
    inside = {benchmark.name for benchmark in suite.benchmarks}
    outside = {note.partition(" ")[0] for note in left_out}
    assert inside | outside == set(names())
    assert not inside & outside
    assert {"coding_assistant", "simpleqa", "swe_bench"} <= outside
    assert str(source.path) == "--all"
    options = {"judge_url": "http://127.0.0.1:9", "allow_code_execution": True}
    more = {benchmark.name for benchmark in suite_of_all("demo", None, options)[1].benchmarks}
    assert "coding_assistant" in more


def test_the_name_of_a_file_has_no_separators() -> None:
    """As `jarvis eval run-all` names them."""
    assert sample_file({"benchmark": "mmlu_pro:shots=0", "model": "org/demo:8b"}) == (
        "mmlu_pro-shots=0_org-demo-8b.jsonl"
    )
