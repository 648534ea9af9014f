"""The demonstration, and what the program says of itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.conftest import clean_environment

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from tests.preloaded import Preloaded


@pytest.mark.slow
def test_the_demo_runs_the_whole_way(
    preloaded: Preloaded,
    tmp_path: Path,
) -> None:
    """A report, a verdict, and reported figures next to the true ones; nothing is left running.

    A busy machine makes the client late (4), or the mock (1): the order of magnitude is checked.
    """
    shorter = {"loadgen.cli.demo:_SECONDS": 1.5}
    run = preloaded.run("demo", "--out", "run", cwd=tmp_path, env=clean_environment(), constants=shorter)
    assert run.returncode in {0, 1, 4}, run.stdout + run.stderr
    assert re.search(r"\d of 3 rules met", run.stdout), run.stdout
    assert re.search(r"completed requests .* agree", run.stdout)
    lines = re.findall(r"reported +(\S+) +true +(\S+) +difference (\S+)\n", run.stdout)
    assert len(lines) == 2
    for reported, true, difference in (map(float, line) for line in lines):
        assert difference == pytest.approx(reported - true, abs=0.0011)
        assert true / 10 < reported < true * 10
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"events.db", "report.json"}


def test_version(loadgen: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """The name, the number, and whether the client's I/O loop was compiled."""
    assert re.fullmatch(
        r"llm-loadgen \d+\.\d+\.\d+ \(client I/O (compiled|in Python: .+)\)\n", loadgen("--version").stdout
    )


def test_a_shell_completes_commands_and_options(
    loadgen: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    """What bash asks when the user presses tab."""
    ask = {"_LOADGEN_COMPLETE": "complete_bash", "COMP_CWORD": "1"}
    assert loadgen(COMP_WORDS="loadgen rep", **ask).stdout.split() == ["report"]
    ask["COMP_CWORD"] = "2"
    assert loadgen(COMP_WORDS="loadgen perf --conc", **ask).stdout.split() == ["--concurrency"]
