"""Servers and runs that the tests of the command line share."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from loadgen.mock_endpoint.process import MockProcess, start_mock

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def mock() -> Iterator[MockProcess]:
    """A quick mock endpoint that knows one model and one key."""
    with start_mock(
        models=("small-model",), api_key="sk-right-key", ttft="5ms", itl="1ms", tokens="4"
    ) as server:
        yield server


@pytest.fixture(scope="session")
def made_run(mock: MockProcess, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of ten requests; not to be changed."""
    folder = tmp_path_factory.mktemp("made") / "run"
    subprocess.run(
        [
            *(sys.executable, "-m", "cli", "perf", "--url", mock.url, "--model", "small-model"),
            *("--api-key", "sk-right-key", "-n", "10", "-c", "2", "-q", "--out", str(folder)),
        ],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return folder


@pytest.fixture
def a_run(made_run: Path, tmp_path: Path) -> Path:
    """A copy of a run of ten requests, in the folder where the program runs."""
    return Path(shutil.copytree(made_run, tmp_path / "run"))
