"""`--on-invalid`: exit codes of a run that only the client made invalid, and where its reports say so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.cli.terminal.series_table import table
from loadgen.sessions.files.series_file import SeriesPoint
from loadgen.sessions.run.report_of_log import make_report, write_report
from loadgen.sessions.run_list import listed
from loadgen.sessions.run_session import outcome
from loadgen.sessions.series.run_rows import result, rows
from loadgen.sessions.series_outcome import PointOutcome
from loadgen.sessions.settings.perf import perf_settings, settings_from_stored, stored_options
from reporter.log.settings import settings
from reporter.render import annotations, junit, markdown
from reporter.render.named_verdict import NamedVerdict
from reporter.report_options import ReportOptions
from tests.reporter.conftest import Run
from tests.reporter.test_overhead_effect import hiccups

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]
    Gate = Callable[..., tuple[int, Any]]

ACCEPTED = "INVALID, accepted (--on-invalid warn)"


def disturbed(folder: Path, on_invalid: str | None = None) -> Path:
    """A run that the machine held up for 50 ms, started with the option or without."""
    folder.mkdir()
    run = Run(folder).begins()
    run.settings = {"load": {"kind": "constant", "rate": 50.0}, "model": "m"}
    if on_invalid is not None:
        run.settings["options"] = {"on_invalid": on_invalid}
    return hiccups(run, 50.0).write()


@pytest.mark.parametrize(
    ("started", "option", "code"),
    [
        (None, (), 4),
        ("fail", (), 4),
        (None, ("--on-invalid", "warn"), 0),
        ("warn", (), 0),
        ("warn", ("--on-invalid", "fail"), 4),
    ],
)
def test_a_report_ends_as_the_run_was_started_or_as_it_is_asked(
    loadgen: Loadgen, tmp_path: Path, started: str | None, option: tuple[str, ...], code: int
) -> None:
    """The heading and report.json say which."""
    run = disturbed(tmp_path / "run-1", started)
    done = loadgen("report", str(run), *option)
    assert done.returncode == code, done.stderr
    assert (ACCEPTED in done.stdout) is (code == 0)
    validity = orjson.loads((run / "report.json").read_bytes())["validity"]
    assert (validity["valid"], validity["accepted"]) == (False, code == 0)


@pytest.mark.parametrize(
    ("require", "on_invalid", "code", "status"),
    [
        ("ttft:p(99)<30ms", None, 4, "INVALID"),
        ("ttft:p(99)<30ms", "warn", 0, "PASS"),
        ("ttft:p(99)<1us", "warn", 1, "FAIL"),
        ("ttft:p(50)<30ms", None, 0, "PASS"),
        ("ttft:p(99)<61ms", None, 0, "PASS"),
    ],
)
def test_a_gate_judges_what_is_accepted_or_not_affected(
    judged: Gate, tmp_path: Path, require: str, on_invalid: str | None, code: int, status: str
) -> None:
    """A rule about the median, or whose bound the delay of 50 ms cannot reach, needs no option at all."""
    run = disturbed(tmp_path / "run-1")
    ended, verdict = judged(run, require=[require], on_invalid=on_invalid)
    assert (ended, verdict["status"]) == (code, status)
    assert bool(verdict["accepted"]) is (on_invalid == "warn")


def test_the_exit_code_of_a_run_is_that_of_its_report(tmp_path: Path) -> None:
    """As `perf`, `accuracy`, `score` and every point of a series end."""
    run = disturbed(tmp_path / "run-1")
    assert outcome(make_report(run, None)) == 4
    assert outcome(make_report(run, None, options=ReportOptions(on_invalid="warn"))) == 0


def test_every_form_of_a_verdict_says_that_the_run_was_accepted(loadgen: Loadgen, tmp_path: Path) -> None:
    """Also where it passed."""
    from loadgen.sessions.gating.reference import read_rules

    run = disturbed(tmp_path / "run-1", "warn")
    report = make_report(run, read_rules(["ttft:p(99)<30ms"], None))
    part = NamedVerdict.of(report)
    assert 'name="validity"' in junit.render([part])
    for output in (junit.render([part]), markdown.render([part]), annotations.render([part])):
        assert "INVALID, accepted" in output
    assert annotations.render([part]).startswith("::warning ")
    shown = loadgen("gate", str(run), "--require", "ttft:p(99)<30ms")
    assert shown.returncode == 0
    assert ACCEPTED in " ".join(shown.stdout.split())


def test_a_series_shows_a_point_that_was_accepted(tmp_path: Path) -> None:
    """In its column, in a note, and in its rows."""
    run = disturbed(tmp_path / "run-1", "warn")
    report = make_report(run, None)
    outcome_ = PointOutcome(0, SeriesPoint("rate-50", {"rate": 50.0}, {}), run, report, outcome(report))
    assert (result(outcome_), outcome_.exit_code) == ("accepted", 0)
    (row,) = rows([outcome_], tmp_path)
    assert (row["valid"], row["accepted"]) == (False, True)
    assert f"{run.name}: {ACCEPTED}" in " ".join(table([outcome_], width=100).split())


def test_the_list_of_runs_shows_what_was_accepted(tmp_path: Path) -> None:
    """As `accepted`, neither valid nor invalid."""
    for name, choice in (("run-1", None), ("run-2", "warn")):
        write_report(disturbed(tmp_path / name, choice), None)
    assert [run_.state for run_ in listed(tmp_path)] == ["INVALID", "accepted"]


def test_a_run_keeps_the_choice_in_its_log(loadgen: Loadgen, mock: MockProcess, tmp_path: Path) -> None:
    """So that later reports, and `resume`, go by it."""
    done = loadgen(
        *("perf", "--url", mock.url, "--model", "small-model", "--api-key", "sk-right-key", "-n", "3"),
        *("--on-invalid", "warn", "--quiet", "--out", str(tmp_path / "kept")),
    )
    assert done.returncode == 0, done.stderr
    options = settings(tmp_path / "kept")["options"]
    assert options["on_invalid"] == "warn"
    assert settings_from_stored(options).verdict.on_invalid == "warn"
    without = dict(stored_options(perf_settings(url=[mock.url], model="m")))
    without.pop("on_invalid")
    assert settings_from_stored(without, url=[mock.url]).verdict.on_invalid == "fail"
