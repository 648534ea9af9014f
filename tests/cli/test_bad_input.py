"""What a user gets wrong: a sentence that says what, where and what to do, and the right exit code."""

from __future__ import annotations

import os
import resource
import shlex
import socket
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import clean_environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

KEY = ("--api-key", "sk-right-key")
USAGE, SETUP, INVALID = 2, 3, 4


def refused(run: subprocess.CompletedProcess[str], code: int) -> str:
    """What a run that was refused says; it must not be a traceback."""
    assert run.returncode == code, run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout == ""
    return run.stderr


def test_an_endpoint_that_is_not_there(loadgen: Loadgen, tmp_path: Path) -> None:
    """Exit 3, naming the address; no log is left behind."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        stderr = refused(loadgen("perf", "--url", f"127.0.0.1:{port}", "--model", "m", "--out", "run"), SETUP)
    assert f"error: http://127.0.0.1:{port}/v1 cannot be reached" in stderr
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_model(loadgen: Loadgen, mock: MockProcess) -> None:
    """Exit 2, with what the server says and the nearest name."""
    stderr = refused(loadgen("perf", "--url", mock.url, "--model", "smal-model", *KEY), USAGE)
    assert "rejected the request for model 'smal-model' (HTTP 404)" in stderr
    assert "did you mean 'small-model'?" in stderr


@pytest.mark.parametrize("command", ["perf", "check"])
def test_a_wrong_key(loadgen: Loadgen, mock: MockProcess, command: str) -> None:
    """Exit 2, saying where the key comes from, and not what it is."""
    run = loadgen(command, "--url", mock.url, "--model", "small-model", "--api-key", "sk-wrong-key")
    if command == "check":  # what was known before is on standard output
        assert run.stdout == f"ok      reachable  {mock.url}\n"
        run.stdout = ""
    stderr = refused(run, USAGE)
    assert "HTTP 401" in stderr
    assert "LOADGEN_API_KEY" in stderr
    assert "sk-wrong-key" not in stderr


PROMPT_FILES = {
    "missing": ("nowhere.jsonl", None, "nowhere.jsonl"),
    "empty": ("empty.jsonl", "", "empty.jsonl"),
    "malformed": ("bad.jsonl", '{"prompt": "a"}\n{"prompt": \n', "bad.jsonl, line 2, column 12"),
    "column": ("other.jsonl", '{"text": "a"}\n', "'question'"),
}


@pytest.mark.parametrize("case", PROMPT_FILES)
def test_a_bad_prompt_file(loadgen: Loadgen, mock: MockProcess, tmp_path: Path, case: str) -> None:
    """Exit 2, naming file, line and column."""
    name, content, part = PROMPT_FILES[case]
    if content is not None:
        (tmp_path / name).write_text(content)
    column = ("--prompt-column", "question") if case == "column" else ()
    stderr = refused(loadgen("perf", "--url", mock.url, "--model", "m", "--prompts", name, *column), USAGE)
    assert part in stderr
    assert name in stderr


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--require", "tft:p(99)<1s"), "ttft"),
        (("--require", "ttft:p(99)<500"), "unit"),
        (("--ruleset", "nowhere.yaml"), "nowhere.yaml"),
        (("--rate", 5, "--concurrency", 2), "--concurrency and --rate contradict each other"),
        (("--offline", "--rate", 5), "--rate and --offline contradict each other"),
        (("--arrival", "constant"), "give --rate"),
        (("--prompt-column", "q"), "give --prompts"),
        (("--requests", 0), "--requests 0: must be from 1"),
        (("--rate", -1), "--rate '-1': a rate of -1: must be from 0 to 1,000,000 req/s"),
        (("--rate", 0), "--rate 0: must be from 0.000001"),
        (("--duration", "soon"), "'soon' is not a duration"),
        (("--offline", "--duration", 5), "give --requests"),
        (("--extra-body", "{"), "--extra-body is not JSON"),
        (("--extra-body", "[1]"), "--extra-body must be a JSON object"),
        (("--header", "no-colon-here"), "Name: value"),
        (("--header", "Host: other"), "set by the client itself"),
        (("--header", "X-A: b\r\nX-C: d"), "a character that a header cannot carry"),
    ],
)
def test_settings_that_cannot_be(
    loadgen: Loadgen,
    mock: MockProcess,
    tmp_path: Path,
    options: tuple[object, ...],
    part: str,
) -> None:
    """Exit 2 before the first request is sent, naming the option."""
    stderr = refused(loadgen("perf", "--url", mock.url, "--model", "m", *options), USAGE)
    assert part in " ".join(stderr.replace("│", " ").split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["ftp://host", "http://", "http://user:pass@host", "http://host:99999"])
def test_a_url_that_cannot_be(loadgen: Loadgen, url: str) -> None:
    """Exit 2, and a password in it is not repeated."""
    stderr = refused(loadgen("perf", "--url", url, "--model", "m"), USAGE)
    assert "--url" in stderr
    assert "pass@" not in stderr


def test_a_folder_that_holds_a_run(loadgen: Loadgen, mock: MockProcess, a_run: Path) -> None:
    """Exit 2, and the run is as it was."""
    before = (a_run / "events.db").read_bytes()
    stderr = refused(
        loadgen("perf", "--url", mock.url, "--model", "small-model", *KEY, "--out", "run"), USAGE
    )
    assert "holds a run already" in stderr
    assert (a_run / "events.db").read_bytes() == before


@pytest.mark.parametrize("command", [("perf",), ("sweep", "--concurrency", "1")])
def test_a_folder_that_holds_something_else(
    loadgen: Loadgen, mock: MockProcess, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Exit 2 with the option to type, which then works; the folder is as it was."""
    (tmp_path / "all runs" / "first").mkdir(parents=True)
    load = (
        *command,
        "--url",
        mock.url,
        "--model",
        "small-model",
        *KEY,
        "-n",
        2,
        "-q",
        "--on-invalid",
        "warn",
    )
    stderr = refused(loadgen(*load, "--out", "all runs"), USAGE)
    assert "--out all runs: the folder is not empty" in stderr
    assert [path.name for path in (tmp_path / "all runs").iterdir()] == ["first"]
    typed = shlex.split(stderr.partition("; type ")[2].splitlines()[0])
    assert loadgen(*load, *typed).returncode == 0
    assert loadgen(*load, *typed).returncode == 2


@pytest.mark.parametrize("command", [("report",), ("sql", "select 1"), ("gate", "--require", "qps>1")])
def test_an_unreadable_log(loadgen: Loadgen, tmp_path: Path, command: tuple[str, ...]) -> None:
    """Exit 2: missing, another program's, of a newer version."""
    name, *rest = command
    assert "nowhere: no run folder has this name" in refused(loadgen(name, "nowhere", *rest), USAGE)
    (tmp_path / "text.db").write_text("this is no database, however long it may be" * 10)
    assert "not a SQLite file" in refused(loadgen(name, "text.db", *rest), USAGE)


@pytest.mark.parametrize("command", [("report",), ("sql", "select 1"), ("gate", "--require", "qps>1")])
def test_a_folder_that_is_not_a_run(loadgen: Loadgen, tmp_path: Path, command: tuple[str, ...]) -> None:
    """Exit 2: what it lacks, and the runs below it."""
    name, *rest = command
    (tmp_path / "empty").mkdir()
    stderr = refused(loadgen(name, "empty", *rest), USAGE)
    assert stderr.startswith("error: empty: not a run folder, it has no events.db; name the folder")
    for number, run in enumerate(("runs/old", "runs/new", "other")):
        (tmp_path / run).mkdir(parents=True)
        (tmp_path / run / "events.db").touch()
        os.utime(tmp_path / run / "events.db", (number, number))
    stderr = refused(loadgen(name, ".", *rest), USAGE)
    assert (
        "error: .: not a run folder, it has no events.db; runs below it: other, runs/new, runs/old" in stderr
    )


def test_no_url_is_given() -> None:
    """The default is tried, and an error says so; here it is a port on which no process listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        program = (
            f"from loadgen.sessions.settings import endpoint_options as e; e.DEFAULT_URL = {url!r}\n"
            "from loadgen.cli.start import main; main()"
        )
        run = subprocess.run(
            [sys.executable, "-c", program, "check", "--model", "m", "--connect-timeout", "2s"],
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
    assert run.returncode == SETUP
    assert run.stderr.startswith(f"error: no --url was given, nor LOADGEN_URL; tried {url}: ")


def test_a_newer_log(loadgen: Loadgen, a_run: Path) -> None:
    """Exit 2, saying what to upgrade."""
    connection = sqlite3.connect(a_run / "events.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    assert "upgrade llm-loadgen" in refused(loadgen("report", "run"), USAGE)


def test_sql_that_is_wrong(loadgen: Loadgen, a_run: Path) -> None:
    """Exit 2, with what DuckDB says and the views that there are."""
    assert a_run.exists()
    stderr = refused(loadgen("sql", "run", "select nothing from samples"), USAGE)
    assert "nothing" in stderr
    assert "samples" in stderr


def test_nothing_to_judge_by(loadgen: Loadgen, a_run: Path) -> None:
    """A gate without rules would pass everything: exit 2."""
    assert a_run.exists()
    assert "give --ruleset NAME or FILE, or --require RULE" in refused(loadgen("gate", "run"), USAGE)


def test_every_request_fails(loadgen: Loadgen, mock: MockProcess) -> None:
    """Exit 4: no percentiles, the failures by name, and the report says that the run is invalid."""
    run = loadgen("perf", "--url", mock.url, "--model", "wrong", *KEY, "--no-probe", "-n", 5, "--out", "run")
    assert run.returncode == INVALID
    assert "Traceback" not in run.stderr
    assert "INVALID" in run.stdout
    assert "http_404" in run.stdout
    again = loadgen("report", "run", "--json")
    assert again.returncode == INVALID
    assert '"ttft_ms": null' in again.stdout
    assert '"http_404": 5' in again.stdout


def test_more_requests_in_flight_than_files(
    start_loadgen: Callable[..., subprocess.Popen[str]],
    mock: MockProcess,
) -> None:
    """Exit 3 before anything is sent, saying what to raise."""
    for load in (("-c", 500), ("--offline", "-n", 500)):
        process = start_loadgen(
            *("perf", "--url", mock.url, "--model", "small-model", *KEY, *load),
            limits={resource.RLIMIT_NOFILE: 200},
        )
        _, stderr = process.communicate(timeout=120)
        assert process.returncode == SETUP
        assert "raise the limit (`ulimit -n 564`)" in stderr
        assert "Traceback" not in stderr


def test_an_output_folder_that_cannot_be_made(loadgen: Loadgen, mock: MockProcess, tmp_path: Path) -> None:
    """Exit 3: a folder cannot be made where there is a file."""
    (tmp_path / "file").write_text("")
    run = loadgen("perf", "--url", mock.url, "--model", "small-model", *KEY, "--out", "file/run")
    assert "file/run" in refused(run, SETUP)
