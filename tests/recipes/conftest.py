"""The packages of the pages, and one with the other kinds of plug-ins, built as wheels and installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from loadgen.mock_endpoint.process import start_mock
from tests.conftest import ROOT, clean_environment
from tests.recipe import DOCS, blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.preloaded import Preloaded

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

PROJECT = "pyproject.toml"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that pip has installed the wheels into, without a network."""
    pytest.importorskip("hatchling", reason="the packages are built with hatchling, of the extra `dev`")
    folder = tmp_path_factory.mktemp("packages")
    for page in DOCS.glob("adding-a*.md"):
        files = blocks(page.name)
        if PROJECT in files:
            (folder / page.stem).mkdir()
            for path in files:
                if path == PROJECT or path.startswith("loadgen_"):
                    (folder / page.stem / path).write_text(files[path], encoding="utf-8")
    shutil.copytree(Path(__file__).with_name("loadgen_hello"), folder / "loadgen_hello")
    for project in folder.glob(f"*/{PROJECT}"):
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
        subprocess.run(build, cwd=project.parent, check=True, capture_output=True)
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", "site"]
    subprocess.run([*pip, *folder.glob("*.whl")], cwd=folder, check=True, capture_output=True)
    return folder / "site"


@pytest.fixture(scope="session")
def loadgen(site: Path, preloaded: Preloaded) -> Loadgen:
    """Run the program where the packages are installed."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        path = f"{site}{os.pathsep}{ROOT}"  # of its worker processes
        return preloaded.run(*arguments, cwd=site, env=clean_environment(PYTHONPATH=path))

    return run


@pytest.fixture(scope="session")
def run_of_triangular(loadgen: Loadgen, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with the arrivals of the page; not to be changed."""
    run = tmp_path_factory.mktemp("triangular") / "run"
    with start_mock() as mock:
        ended = loadgen(
            *("perf", "--url", mock.url, "--model", "m", "--no-probe", "--rate", 100),
            *("--arrival", "triangular", "-n", 20, "--seed", 7, "--out", run, "--on-invalid", "warn"),
        )
    assert "open loop, triangular arrivals at 100 req/s" in ended.stdout, ended.stderr
    return run
