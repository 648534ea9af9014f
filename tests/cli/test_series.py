"""A series runs its points one after the other, keeps what is done, and is resumed where it ended."""

from __future__ import annotations

import csv
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.cli.resume import resume
from loadgen.cli.terminal.progress_observer import Terminal
from loadgen.driver.errors import UnreachableError
from loadgen.sessions.errors import SetupError, UsageError
from loadgen.sessions.files.series_file import (
    SERIES,
    Series,
    SeriesKind,
    SeriesPoint,
    folder_of,
    is_series,
    new_series_folder,
    read,
    require_run,
    write,
    write_json,
)
from loadgen.sessions.series.point_options import Secrets, check, point_of, settings_of
from loadgen.sessions.series.run_series import run_series
from loadgen.sessions.series_outcome import PointOutcome, SeriesResult, most_severe
from loadgen.sessions.settings.perf import PerfSettings, perf_settings
from loadgen.sessions.settings.resume import ResumeSettings
from recorder.lock import Hold
from rulesets.exit_codes import ExitCode
from rulesets.verdict import Verdict
from tests.conftest import ROOT, clean_environment

if TYPE_CHECKING:
    from loadgen.mock_endpoint.process import MockProcess
    from reporter.report import Report
    from tests.preloaded import Preloaded, Process

KEY = "sk-right-key"
GIVE_UP_S = 120.0
"""Far more than anything here takes, also on a busy machine."""


def settings(url: str, **more: Any) -> PerfSettings:
    """Of a run against the mock endpoint."""
    return perf_settings(**{"url": [url], "model": "small-model", "api_key": KEY, "requests": 8, **more})


def start_sweep(preloaded: Preloaded, mock: MockProcess, folder: Path, *options: str) -> Process:
    """A sweep in a separate process."""
    return preloaded.start(
        *("sweep", "--url", mock.url, "--model", "small-model", "--api-key", KEY, "--out", folder, *options),
        cwd=ROOT,
        env=clean_environment(),
    )


def wait_for(path: Path) -> None:
    """Wait until a file is there."""
    give_up = time.monotonic() + GIVE_UP_S
    while not path.exists():
        assert time.monotonic() < give_up, path
        time.sleep(0.005)


def test_a_killed_sweep_is_resumed(
    preloaded: Preloaded, mock: MockProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Finished points stay as they are, a cut-off one is set aside and run again, and no file has the key."""
    folder = tmp_path / "sweep"
    sweep = start_sweep(preloaded, mock, folder, "--vary", "requests=8,100000,9", "-c", "4")
    wait_for(folder / "02-concurrency-4-requests-100000" / "events.db-wal")
    sweep.kill()
    sweep.communicate()
    series = read(folder)
    quick = tuple(
        SeriesPoint(
            point.name,
            point.axes,
            {**point.options, "requests": min(point.options["requests"], 20)},
            point.headers,
        )
        for point in series.points
    )
    write(folder, Series(series.kind, series.definition, quick))
    first = (folder / "01-concurrency-4-requests-8" / "events.db").read_bytes()

    with pytest.raises(UsageError, match="sends the header authorization, whose value no file has"):
        resume(ResumeSettings(run=folder))
    with pytest.raises(SystemExit) as end:
        resume(ResumeSettings(run=folder, api_key=KEY, json=True))

    assert end.value.code in {0, 4}  # 4: the client was late, on a busy machine
    swept = orjson.loads(capsys.readouterr().out)
    assert [point["requests"] for point in swept["points"]] == [8, 20, 9]
    assert (folder / "02-concurrency-4-requests-100000.cut-1" / "events.db").exists()
    assert (folder / "01-concurrency-4-requests-8" / "events.db").read_bytes() == first
    assert not any(KEY.encode() in file.read_bytes() for file in folder.rglob("*") if file.is_file())
    with (folder / "sweep.csv").open() as table:
        assert [row["requests"] for row in csv.DictReader(table)] == ["8", "20", "9"]


def test_an_interrupted_sweep_ends_in_order_and_says_how_to_go_on(
    preloaded: Preloaded, mock: MockProcess, tmp_path: Path
) -> None:
    """In the pause between two runs as well."""
    folder = tmp_path / "sweep"
    sweep = start_sweep(preloaded, mock, folder, "-c", "1,2", "-n", "4", "--cooldown", "60s")
    wait_for(folder / "summary.json")
    sweep.send_signal(signal.SIGTERM)
    _, err = sweep.communicate(timeout=GIVE_UP_S)
    assert sweep.returncode == ExitCode.INTERRUPTED
    assert "not complete; to continue: " in err
    assert f"resume {folder}" in err
    assert "Traceback" not in err


def test_a_point_keeps_everything_but_secrets(tmp_path: Path) -> None:
    """Through the file and back, with the secrets given again."""
    original = settings("http://127.0.0.1:1", rate="5", duration=2.0, require=["ttft:p(99)<1s"])
    point = point_of("one", {"rate": 5}, original)
    write(tmp_path, Series(SeriesKind.SWEEP, {"plot": False}, (point,), 1.5))
    series = read(tmp_path)
    assert (series.kind, series.cooldown_s) == (SeriesKind.SWEEP, 1.5)
    assert KEY not in (tmp_path / SERIES).read_text()
    again = settings_of(series.points[0], Secrets(KEY), out=tmp_path / "run", quiet=False)
    assert (again.load.rate, again.load.duration, again.verdict.require, again.endpoint.api_key) == (
        "5",
        2.0,
        ["ttft:p(99)<1s"],
        KEY,
    )
    assert again.output.out == tmp_path / "run"
    with pytest.raises(UsageError, match="one does not send the header x-more"):
        settings_of(series.points[0], Secrets(KEY, ("X-More: 1",)))


def test_a_point_that_cannot_be_run_is_named_before_anything_is_sent() -> None:
    """With what is wrong with it."""
    sound = point_of("sound", {}, settings("http://127.0.0.1:1"))
    wrong = point_of("wrong", {}, settings("http://127.0.0.1:1", requests=0))
    with pytest.raises(UsageError, match=r"^wrong: --requests 0: must be from 1"):
        check([sound, wrong], lambda _: Secrets(KEY))


def test_a_series_is_never_overwritten(tmp_path: Path) -> None:
    """Neither is anything else that lies where it is to be."""
    write(tmp_path / "taken", Series(SeriesKind.SWEEP, {}, ()))
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="holds a series already"):
        new_series_folder(tmp_path / "taken", "sweep")
    with pytest.raises(UsageError, match="a file, not a folder"):
        new_series_folder(tmp_path / "file", "sweep")
    with pytest.raises(UsageError, match="the folder is not empty"):
        new_series_folder(tmp_path, "sweep")
    assert new_series_folder(tmp_path / "free", "sweep") == tmp_path / "free"
    assert is_series(tmp_path / "taken")
    assert is_series(tmp_path / "taken" / SERIES)
    assert not is_series(tmp_path)


@pytest.mark.parametrize("text", ["", "{}", '{"schema_version": 99, "points": []}', "[]"])
def test_a_file_that_is_not_a_series_is_refused(tmp_path: Path, text: str) -> None:
    """With its name, and no traceback."""
    (tmp_path / SERIES).write_text(text)
    with pytest.raises(UsageError, match=r"series\.json"):
        read(tmp_path)


def test_two_processes_do_not_run_one_series(tmp_path: Path) -> None:
    """The second one says that there is a first."""
    point = point_of("one", {}, settings("http://127.0.0.1:1"))
    write(tmp_path, Series(SeriesKind.SWEEP, {"plot": False}, (point,)))
    hold = Hold(tmp_path)
    with pytest.raises(UsageError, match="another process runs this series"):
        resume(ResumeSettings(run=tmp_path, api_key=KEY))
    hold.release()


def test_a_moved_file_of_prompts_is_not_for_a_series(tmp_path: Path) -> None:
    """An option that would be ignored is refused."""
    write(tmp_path, Series(SeriesKind.SWEEP, {"plot": False}, ()))
    with pytest.raises(UsageError, match="--prompts"):
        resume(ResumeSettings(run=tmp_path, prompts=Path("x.jsonl")))


def test_a_series_of_which_nothing_was_run_leaves_nothing(tmp_path: Path) -> None:
    """Where the endpoint is not there; a resumed one stays."""
    point = point_of("one", {}, settings("http://127.0.0.1:1"))
    series = Series(SeriesKind.SWEEP, {"plot": False}, (point,))
    with pytest.raises(UnreachableError):
        run_series(tmp_path / "new", series, lambda _: Secrets(KEY))
    assert not (tmp_path / "new").exists()
    write(tmp_path / "begun", series)
    with pytest.raises(UnreachableError):
        run_series(tmp_path / "begun", series, lambda _: Secrets(KEY))
    assert is_series(tmp_path / "begun")


def test_a_series_is_not_scored_as_a_run(tmp_path: Path) -> None:
    """It says what it is, and which runs there are."""
    write(tmp_path, Series(SeriesKind.SEARCH, {}, ()))
    with pytest.raises(UsageError, match="the folder of a search, a series: name a run"):
        require_run(tmp_path)
    (tmp_path / "01-rate-1").mkdir()
    (tmp_path / "01-rate-1" / "events.db").touch()
    with pytest.raises(UsageError, match="its runs are 01-rate-1"):
        require_run(tmp_path / SERIES)


def test_names_are_fit_for_folders() -> None:
    """Whatever a value has in it."""
    series = Series(SeriesKind.SUITE, {}, (SeriesPoint("a/b c:d", {}, {}), SeriesPoint("..", {}, {})))
    assert folder_of(Path("s"), series, 0) == Path("s/01-a-b-c-d")
    assert folder_of(Path("s"), series, 1) == Path("s/02-point")


@pytest.mark.parametrize(
    ("status", "remark"),
    [
        ("PASS", "pass"),
        ("FAIL", "missed"),
        ("INVALID", "invalid"),
        ("INCONCLUSIVE", "unclear"),
    ],
)
def test_the_result_of_a_point_ends_its_line(
    made_report: Report, capsys: pytest.CaptureFixture[str], status: str, remark: str
) -> None:
    """The exit code of the series would come from nowhere without it."""
    report = replace(made_report, verdict=Verdict(status, "", ""))
    point = SeriesPoint("rate-1", {}, {})
    Terminal().run_ended(PointOutcome(0, point, Path("run"), report, 0), None)
    assert capsys.readouterr().err.rstrip().endswith(remark)


def test_the_most_severe_code_is_that_of_the_series() -> None:
    """Invalid over missed over passed; an interrupt over all of them."""

    def outcomes(*codes: int) -> Any:
        return tuple(type("Outcome", (), {"exit_code": code})() for code in codes)

    assert most_severe(outcomes(0, 1, 4, 0)) == 4
    assert most_severe(outcomes(0, 1)) == 1
    assert most_severe(()) == 0
    assert SeriesResult(outcomes(4), interrupted=True).exit_code == ExitCode.INTERRUPTED
    assert SeriesResult(outcomes(4), interrupted=False).exit_code == 4


def test_what_cannot_be_written_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    """A full disk, or as here a name that is taken: which file, and why."""
    (tmp_path / "summary.json").mkdir()
    with pytest.raises(SetupError, match=r"summary\.json cannot be written"):
        write_json(tmp_path / "summary.json", {})
    assert [path.name for path in tmp_path.iterdir()] == ["summary.json"]
