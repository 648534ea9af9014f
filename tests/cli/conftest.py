"""Servers and runs that the tests of the command line share."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.cli.app import main
from loadgen.cli.gate import gate
from loadgen.mock_endpoint.process import MockProcess, start_mock
from loadgen.sessions.files.series_file import Series, SeriesKind, SeriesPoint, folder_of, write
from loadgen.sessions.run.report_of_log import make_report
from loadgen.sessions.settings.gate import GateSettings
from tests.conftest import clean_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reporter.report import Report
    from tests.preloaded import Preloaded, Process

    Gate = Callable[..., tuple[int, Any]]

GIVE_UP_S = 120.0
"""Far more than a sweep of two points takes."""

RULES = """\
schema: rulesets/1
ruleset: {name: mine, version: '1'}
models:
  "*":
    accuracy: [{metric: ROUGE1, reference: 40, min: {factor: 0.9}}]
    scenarios:
      one: {targets: ['ttft:p(50)<10s'], audit: [output_caching]}
      two: {validity: {min_samples: 11}, targets: ['ttft:p(50)<10s']}
      all: {targets: ['ttft:p(50)<10s']}
sweep: {points: {min: 3}, checks: [{tps_per_user_consistency: 0.01}]}
"""


@pytest.fixture(autouse=True)
def _remembered(remembered_logs: None) -> None:
    """Commands that run in this process load a log once, and compute its figures once."""


READING = {"compare", "export", "gate", "list", "plot", "report", "rules", "sql"}
"""Commands that start nothing and end with what they have read."""


@pytest.fixture
def loadgen(
    loadgen: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the program in an empty folder; a command that only reads in this process, for remembered logs.

    `in_process=False`, a `stdout=` and a variable of the environment give each its own process.
    """

    def run(*arguments: object, in_process: bool = True, **options: Any) -> subprocess.CompletedProcess[str]:
        if options or not in_process or arguments[:1] == () or arguments[0] not in READING:
            return loadgen(*arguments, **options)
        return run_here(*map(str, arguments), folder=tmp_path)

    return run


def run_here(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in this process, with a folder, an environment and its own streams."""
    with (
        pytest.MonkeyPatch.context() as patch,
        TemporaryFile("w+", encoding="utf-8", newline="") as out,
        TemporaryFile("w+", encoding="utf-8", newline="") as errors,
    ):
        environment = clean_environment()
        patch.chdir(folder)
        for name in os.environ.keys() - environment.keys():
            patch.delenv(name)
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", ["loadgen", *arguments])
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", errors)
        code = main()
        texts = []
        for stream in (out, errors):
            stream.flush()
            stream.seek(0)
            texts.append(stream.read())
    return subprocess.CompletedProcess(list(arguments), code, *texts)


@pytest.fixture(scope="session")
def mock() -> Iterator[MockProcess]:
    """A mock endpoint with one model and one key; quick, but slower than the overhead of a busy client."""
    with start_mock(
        models=("small-model",), api_key="sk-right-key", ttft="40ms", itl="1ms", tokens="4"
    ) as server:
        yield server


@pytest.fixture(scope="session")
def made_run(preloaded: Preloaded, mock: MockProcess, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of ten requests; not to be changed."""
    folder = tmp_path_factory.mktemp("made")
    run = preloaded.run(
        *("perf", "--url", mock.url, "--model", "small-model", "-n", 10, "-c", 2, "-q", "--out", "run"),
        *("--on-invalid", "warn"),  # on a busy machine the client is late
        cwd=folder,
        env=clean_environment(LOADGEN_API_KEY="sk-right-key"),
    )
    assert run.returncode == 0, run.stderr
    return folder / "run"


@pytest.fixture(scope="session")
def swept(preloaded: Preloaded, mock: MockProcess, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep of two points; not to be changed."""
    folder = tmp_path_factory.mktemp("swept") / "sweep"
    start_sweep(preloaded, mock.url, folder).communicate(timeout=GIVE_UP_S)
    return folder


def start_sweep(preloaded: Preloaded, url: str, folder: Path) -> Process:
    """A sweep in a separate process."""
    return preloaded.start(
        *("sweep", "--url", url, "--model", "small-model", "-q"),
        *("-c", "1,2", "-n", 6, "--out", folder),
        cwd=folder.parent,
        env=clean_environment(LOADGEN_API_KEY="sk-right-key"),
    )


@pytest.fixture(scope="session")
def made_report(made_run: Path) -> Report:
    """The report of that run, by no rules."""
    return make_report(made_run, None)


@pytest.fixture
def a_run(made_run: Path, tmp_path: Path) -> Path:
    """A copy of a run of ten requests, in the folder where the program runs."""
    return Path(shutil.copytree(made_run, tmp_path / "run"))


@pytest.fixture
def judged(capsys: pytest.CaptureFixture[str]) -> Gate:
    """The gate's exit code and its JSON, for a run and options."""

    def ends(run: Path, **options: Any) -> tuple[int, Any]:
        with pytest.raises(SystemExit) as end:
            gate(GateSettings(run=run, **{"json": True, **options}))
        return end.value.code, orjson.loads(capsys.readouterr().out)

    return ends


@pytest.fixture
def rules(tmp_path: Path) -> str:
    """A ruleset of two scenarios, with a score, an audit and a rule over several runs."""
    path = tmp_path / "rules.yaml"
    path.write_text(RULES)
    return str(path)


@pytest.fixture
def a_series(made_run: Path, tmp_path: Path) -> Path:
    """A sweep of two points that were run; not to be asked anything of its settings."""
    series = Series(
        SeriesKind.SWEEP, {"plot": False}, (SeriesPoint("rate-1", {}, {}), SeriesPoint("rate-2", {}, {}))
    )
    write(tmp_path / "sweep", series)
    for number in range(2):
        shutil.copytree(made_run, folder_of(tmp_path / "sweep", series, number))
    return tmp_path / "sweep"
