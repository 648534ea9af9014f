"""Files of an earlier version: a log, an archive, a sweep, a suite and a run to resume still work."""

from __future__ import annotations

import json
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from loadgen.mock_endpoint.process import start_mock

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

FILES: Final = Path(__file__).with_name("earlier") / "2026-11-27.tar.gz"
URL: Final = "http://127.0.0.1:8978"
"""The endpoint of the runs."""


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """The folder with the files."""
    with tarfile.open(FILES) as archive:
        # Python 3.11.3 and older have no filters.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(tmp_path / "earlier")  # noqa: S202 (files of this repository)
    return tmp_path / "earlier"


def report(loadgen: Loadgen, run: Path) -> Any:
    """The report of a run, as JSON."""
    done = loadgen("report", run, "--json")
    assert done.returncode in {0, 4}, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["run", "archive"])
def test_the_figures_of_a_log_are_what_they_were(loadgen: Loadgen, earlier: Path, name: str) -> None:
    """To the last digit, as the earlier version printed them; an archive has the same."""
    figures = report(loadgen, earlier / name)
    assert figures["counts"]["completed"] == 12
    assert figures["ttft_ms"]["p50"] == pytest.approx(6.001161, abs=1e-6)
    assert figures["ttft_ms"]["p99"] == pytest.approx(6.814496, abs=1e-6)
    assert figures["latency_ms"]["mean"] == pytest.approx(16.935737, abs=1e-6)
    assert figures["tpot_ms"]["p50"] == pytest.approx(0.992785, abs=1e-6)


def test_the_scores_of_a_log_are_what_they_were(loadgen: Loadgen, earlier: Path) -> None:
    """Of two questions, both answered and scored."""
    (score,) = report(loadgen, earlier / "accuracy")["accuracy"]
    assert (score["task"], score["scorer"], score["issued"], score["scored"]) == ("faq.jsonl", "exact", 2, 2)


def test_a_sweep_is_read(loadgen: Loadgen, earlier: Path) -> None:
    """Point by point."""
    done = loadgen("report", earlier / "sweep", "--format", "csv")
    assert done.returncode in {0, 4}, done.stderr
    assert len(done.stdout.splitlines()) == 3


def test_a_suite_is_read(loadgen: Loadgen, earlier: Path) -> None:
    """The file that `loadgen init` wrote."""
    done = loadgen("run", earlier / "suite.toml", "--dry-run")
    assert done.returncode == 0, done.stderr


def test_a_run_that_was_killed_is_resumed(loadgen: Loadgen, earlier: Path) -> None:
    """The 28 answers stay, and the 32 that are missing are asked for."""
    with start_mock(ttft="5ms", itl="1ms", tokens="6") as mock:
        with closing(sqlite3.connect(earlier / "cut" / "events.db")) as log, log:
            url = mock.url.removesuffix("/v1")
            log.execute("UPDATE session SET settings = replace(settings, ?, ?)", (URL, url))
        done = loadgen("resume", earlier / "cut", "-q")
    assert done.returncode in {0, 4}, done.stderr
    counts = report(loadgen, earlier / "cut")["counts"]
    assert (counts["completed"], counts["issued"]) == (60, 60)
