"""`--on-invalid` of the commands that run or score: what each exits with, keeps in its logs, and shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.cli.report import report
from loadgen.cli.run import run as run_suite
from loadgen.cli.score import score
from loadgen.cli.search import search
from loadgen.cli.sweep import sweep
from loadgen.sessions import run_session as session
from loadgen.sessions.run_list import listed
from loadgen.sessions.settings.run import RunSettings
from loadgen.sessions.settings.score import ScoreSettings
from loadgen.sessions.settings.search import SearchSettings
from loadgen.sessions.settings.sweep import SweepSettings
from reporter.log.query import query
from reporter.log.settings import settings
from tests.cli.test_search import options
from tests.reporter.conftest import Run
from tests.reporter.test_overhead_effect import REQUESTS, hiccups
from tests.sessions.scoring.conftest import stored_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from loadgen.sessions.run.preparation import Prepared

    Exits = Callable[..., tuple[int, str]]

ACCEPTED = "INVALID, accepted (--on-invalid warn)"
URL = "http://127.0.0.1:9"
CHOICES = pytest.mark.parametrize(("choice", "code"), [(None, 4), ("warn", 0)])

SUITE = """
[defaults]
url = "{url}"
{choice}
[[models]]
name = "a"
[[models]]
name = "b"
[[loads]]
concurrency = 1
requests = 200
"""


@pytest.fixture(autouse=True)
def late_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are written by hand instead of measured: a server of 10 ms, and a client 50 ms late each time."""

    def write(prepared: Prepared, _: Any, folder: Path, *__: Any) -> None:
        run = Run(folder, settings=dict(prepared.settings())).begins()
        hiccups(run, 50.0, late=REQUESTS).write()

    monkeypatch.setattr(session, "conduct", write)
    monkeypatch.setattr(session, "_spawn", lambda *_: None)


@pytest.fixture
def exits(capsys: pytest.CaptureFixture[str]) -> Exits:
    """The exit code of a command, and what it shows on a line."""

    def code_and_output(command: Callable[..., None], *arguments: Any) -> tuple[int, str]:
        code = 0
        try:
            command(*arguments)
        except SystemExit as end:
            code = end.code
        return code, " ".join(capsys.readouterr().out.split())

    return code_and_output


def perf(choice: str | None) -> dict[str, Any]:
    """The options of each run."""
    return options(URL) | {"requests": 200} | ({"on_invalid": choice} if choice else {})


def assert_shown(folder: Path, exits: Exits, *, accepted: bool) -> list[dict[str, Any]]:
    """Every log keeps the choice, and reports and the list show the acceptance; returns the summary."""
    runs = [log.parent for log in sorted(folder.glob("*/events.db"))]
    assert runs
    for run in runs:
        assert settings(run)["options"]["on_invalid"] == ("warn" if accepted else "fail")
        validity = orjson.loads((run / "report.json").read_bytes())["validity"]
        assert (validity["valid"], validity["accepted"]) == (False, accepted)
    assert (ACCEPTED in exits(report, runs[0])[1]) is accepted
    states = [run_.state for run_ in listed(folder)]
    assert len(states) == len(runs)
    assert all(("accepted" in state) is accepted for state in states)
    points: list[dict[str, Any]] = orjson.loads((folder / "summary.json").read_bytes())["points"]
    assert [(point["valid"], point["accepted"]) for point in points] == [(False, accepted)] * len(runs)
    return points


@pytest.mark.slow
@CHOICES
def test_a_sweep(exits: Exits, tmp_path: Path, choice: str | None, code: int) -> None:
    """Each point is invalid, or accepted."""
    folder = tmp_path / "sweep"
    sweep_settings = SweepSettings(concurrency="1,2", out=folder, quiet=True)
    ended, shown = exits(sweep, sweep_settings, perf(choice))
    assert ended == code
    assert (ACCEPTED in shown) is (code == 0)
    points = assert_shown(folder, exits, accepted=code == 0)
    assert [point["exit_code"] for point in points] == [code, code]


@pytest.mark.slow
@CHOICES
def test_a_suite(exits: Exits, tmp_path: Path, choice: str | None, code: int) -> None:
    """By its file; every run of it."""
    (tmp_path / "suite.toml").write_text(
        SUITE.format(url=URL, choice=f'on_invalid = "{choice}"' if choice else "")
    )
    folder = tmp_path / "done"
    ended, shown = exits(run_suite, RunSettings(suite=tmp_path / "suite.toml", out=folder, quiet=True))
    assert ended == code
    assert (ACCEPTED in shown) is (code == 0)
    assert len(assert_shown(folder, exits, accepted=code == 0)) == 2


@pytest.mark.slow
@CHOICES
def test_a_search(exits: Exits, tmp_path: Path, choice: str | None, code: int) -> None:
    """An invalid trial ends it; one that is accepted is as good as any."""
    folder = tmp_path / "search"
    search_settings = SearchSettings(
        require=["ttft:p(50)<30ms"], concurrency="1..2", point_duration=1, out=folder, quiet=True
    )
    ended, shown = exits(search, search_settings, perf(choice))
    assert ended == code
    assert (ACCEPTED in shown) is (code == 0)
    points = assert_shown(folder, exits, accepted=code == 0)
    assert {point["verdict"] for point in points} == {"PASS" if choice else "INVALID"}
    tried = orjson.loads((folder / "search.json").read_bytes())["tried"]
    assert [trial["accepted"] for trial in tried] == [code == 0] * len(points)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("started", "choice", "code"),
    [(None, None, 4), (None, "warn", 0), ("warn", None, 0), ("warn", "fail", 4)],
)
def test_a_scoring_pass(
    exits: Exits, tmp_path: Path, started: str | None, choice: str | None, code: int
) -> None:
    """By its own option, else as the run was started."""
    options = {"options": {"on_invalid": started}} if started else {}
    run = stored_run(tmp_path / "run", ["#### 1"] * 3, late_ms=50, **options)
    ended, shown = exits(score, ScoreSettings(run=run, on_invalid=choice, quiet=True))
    assert ended == code
    assert query(run, "SELECT value FROM scores").rows == [(1.0,)] * 3
    assert (ACCEPTED in shown) is (code == 0)
    stored = orjson.loads((run / "report.json").read_bytes())
    assert stored["validity"]["accepted"] is (code == 0)
    assert ["accepted" in run_.state for run_ in listed(tmp_path)] == [code == 0]
