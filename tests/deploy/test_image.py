"""The image of `deploy/Containerfile`, built by a Docker daemon on a base from packages of Debian."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
import tomllib
from typing import TYPE_CHECKING

import pytest

from loadgen.mock_endpoint.process import MockProcess, start_mock
from reporter.log.query import query
from tests.conftest import ROOT
from tests.containers.daemon import IMAGE as BASE
from tests.containers.daemon import docker_client

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.docker, pytest.mark.slow]

IMAGE = "llm-loadgen-built-by-tests"
DOCKER = shutil.which("docker") or "docker"
HARDENED = ("--read-only", "--cap-drop", "ALL", "--network", "host")


def docker(*arguments: object) -> str:
    """Run a command of Docker, and return the output."""
    return subprocess.run(
        [DOCKER, *map(str, arguments)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.strip()


def wheelhouse(folder: Path, python: str) -> None:
    """Fetch the wheels that the image needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    needed = project["project"]["dependencies"] + project["build-system"]["requires"]
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    wheels = ("--python-version", python, "--only-binary", ":all:", "--dest", str(folder))
    subprocess.run([*fetch, *wheels, *needed], check=True, capture_output=True)


@pytest.fixture(scope="module", autouse=True)
def _trust() -> None:
    """Trust the system's authorities, to fetch wheels."""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The image, built without access to an index."""
    docker_client().close()
    context = tmp_path_factory.mktemp("context")
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    for name in (line[1:] for line in ignored if line.startswith("!") and (ROOT / line[1:]).exists()):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, context / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        else:
            (context / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, context / name)
    version = "import sys; print(*sys.version_info[:2], sep='.')"
    wheelhouse(context / "wheelhouse", docker("run", "--rm", BASE, "python3", "-c", version))
    values = (f"BASE={BASE}", "BUILD_PACKAGES=python3-dev python3-venv", "PIP_NO_INDEX=1")
    arguments = [part for value in values for part in ("--build-arg", value)]
    options = ("--quiet", "--network", "host", "--file", ROOT / "deploy" / "Containerfile")
    docker("build", *options, "--tag", IMAGE, *arguments, context)
    yield
    docker("image", "rm", "--force", IMAGE)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder that the image's user may write to."""
    folder = tmp_path / "runs"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


@pytest.mark.usefixtures("image")
def test_the_image(runs: Path) -> None:
    """The image is compiled, not root, measures on a read-only file system, and ends in order on SIGTERM."""
    assert docker("run", "--rm", IMAGE, "--version").endswith("(client I/O compiled)")
    user = docker("run", "--rm", "--entrypoint", "id", IMAGE, "--user")
    assert user == "10001"
    with start_mock(ttft="1ms", itl="0", tokens="2") as mock:
        docker("run", "--rm", *HARDENED, "--volume", f"{runs}:/runs", IMAGE, *perf(mock, "whole"), "-n", 40)
        ended = docker(
            *("run", "--detach", *HARDENED, "--volume", f"{runs}:/runs", IMAGE),
            *(*perf(mock, "ended"), "--rate", 50, "--duration", "10m"),
        )
        while not (runs / "ended" / "events.db").exists():
            time.sleep(0.1)
        docker("stop", "--time", 60, ended)
    code = docker("inspect", "--format", "{{.State.ExitCode}}", ended)
    docker("rm", ended)
    assert completed(runs / "whole") == 40
    assert code == "130"
    assert (runs / "ended" / "report.json").exists()


def perf(mock: MockProcess, run: str) -> tuple[str, ...]:
    """The arguments of a session."""
    return ("perf", "--url", mock.url, "--model", "m", "--out", f"/runs/{run}", "--on-invalid", "warn")


def completed(run: Path) -> int:
    """How many requests of a run are complete."""
    count: int = query(run, "SELECT count(*) FROM requests WHERE status = 'completed'").rows[0][0]
    return count
