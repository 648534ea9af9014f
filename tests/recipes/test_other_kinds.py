"""Commands, trackers, imports, and formats of verdicts and comparisons, from an installed package."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import orjson
import pytest

from tests.for_each import for_each

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]


def test_a_command(loadgen: Loadgen) -> None:
    """A command has a line in the help, and options."""
    assert loadgen("hello", "--name", "you").stdout == "Hello, you!\n"
    shown = loadgen("--help").stdout
    assert "Of other packages" in shown
    assert "Greet someone." in shown
    assert "--name" in loadgen("hello", "--help").stdout


def test_a_tracker(loadgen: Loadgen, run_of_triangular: Path, tmp_path: Path) -> None:
    """A tracker gets the options of `--to` and the record of the run."""
    target = tmp_path / "figures.json"
    sent = loadgen("export", run_of_triangular, "--to", "lines", "--project", target)
    assert sent.stdout == f"20 requests sent to {target}\n", sent.stderr
    reported = orjson.loads((run_of_triangular / "report.json").read_bytes())
    assert orjson.loads(target.read_bytes())["ttft_ms_p99"] == pytest.approx(reported["ttft_ms"]["p99"])
    assert "Of other packages: lines." in loadgen("export", "--help").stdout
    wrong = loadgen("export", run_of_triangular, "--to", "line")
    assert wrong.returncode == 2
    assert "did you mean 'lines'" in " ".join(wrong.stderr.split())


def test_an_import(loadgen: Loadgen, tmp_path: Path) -> None:
    """Imported results become a run, whose report has the format's figure."""
    results, run = tmp_path / "results.txt", tmp_path / "run"
    results.write_text("first 0.25\nsecond 0.75\n")
    imported = loadgen("import", "plain", results, "--out", run, "--json")
    (score,) = orjson.loads(imported.stdout)["accuracy"]
    assert (score["task"], score["headlines"]["best"]["value"]) == ("plain", 0.75), imported.stderr
    assert "plain" in loadgen("list", "formats").stdout


@for_each(
    ("options", "printed"),
    [
        (("gate", "RUN", "--require", "ttft:p(99)<60s", "--format", "short"), "PASS"),
        (("compare", "RUN", "COPY", "--format", "short"), "INCONCLUSIVE"),
    ],
)
def test_formats_of_verdicts_and_comparisons(
    loadgen: Loadgen, run_of_triangular: Path, tmp_path: Path, options: tuple[str, ...], printed: str
) -> None:
    """`--format` prints what the package renders."""
    copy = shutil.copytree(run_of_triangular, tmp_path / "copy", dirs_exist_ok=True)
    runs = {"RUN": run_of_triangular, "COPY": copy}
    ended = loadgen(*(runs.get(option, option) for option in options))
    assert ended.stdout == f"{printed}\n", ended.stderr


def test_they_are_listed(loadgen: Loadgen) -> None:
    """`loadgen list plugins` has each package, and what it adds by kind."""
    listed = orjson.loads(loadgen("list", "plugins", "--json").stdout)
    assert listed["loadgen-hello 1.2"]["title"] == "A command, a tracker, formats and an import"
    assert listed["loadgen-hello 1.2"]["adds"] == {
        "commands": ["hello"],
        "verdicts": ["short"],
        "comparisons": ["short"],
        "trackers": ["lines"],
        "imports": ["plain"],
    }
    added = {name: facts["adds"] for name, facts in listed.items() if name.startswith("loadgen-")}
    assert added["loadgen-triangular 1.0"] == {"arrivals": ["triangular"]}
    assert added["loadgen-prometheus 1.0"] == {"reports": ["prometheus"]}
