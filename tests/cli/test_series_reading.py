"""What reads runs reads series too: report, sql, watch, compare; and runs are listed."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.cli import watch as watching
from loadgen.cli.compare import compare
from loadgen.cli.listing import listing
from loadgen.cli.report import report
from loadgen.cli.sql import sql
from loadgen.cli.watch import watch
from loadgen.sessions.error_exit_codes import message_of
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.series_file import SERIES, read, write
from loadgen.sessions.run_list import listed
from loadgen.sessions.settings.compare import CompareSettings
from recorder.lock import Hold
from reporter.errors import QueryError
from tests.admission import Admission
from tests.cli.conftest import GIVE_UP_S, start_sweep

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.mock_endpoint.process import MockProcess
    from tests.preloaded import Preloaded

POINTS = ["01-concurrency-1", "02-concurrency-2"]


def printed(
    capsys: pytest.CaptureFixture[str], command: Callable[..., Any], *args: Any, **options: Any
) -> str:
    """What a command prints, whatever its exit code."""
    with suppress(SystemExit):
        command(*args, **options)
    return capsys.readouterr().out


def test_the_table_and_the_summary_of_a_sweep_are_shown_again(
    swept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As they were, from the folder or its series.json; what is for one run is refused."""
    document = orjson.loads((swept / "sweep.json").read_bytes())
    assert orjson.loads(printed(capsys, report, swept, json=True)) == document
    shown = printed(capsys, report, swept / SERIES)
    assert "concurrency" in shown
    assert "Pareto front, throughput against TTFT: " in shown
    with pytest.raises(UsageError, match="--by: applies to a run"):
        report(swept, by=["time"])


def test_a_sweep_has_pages_and_a_spreadsheet(
    swept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """HTML with both plots, Markdown, and the rows of sweep.csv; no other format."""
    names = [point["folder"] for point in orjson.loads((swept / "sweep.json").read_bytes())["points"]]
    page = printed(capsys, report, swept, form="html")
    assert "Sweep sweep" in page
    assert 'id="curves-data"' in page
    assert all(f">{name}<" in page for name in names)
    table = printed(capsys, report, swept, form="markdown")
    assert "### Sweep sweep" in table
    assert all(f"| {name} |" in table for name in names)
    written = (swept / "sweep.csv").read_text().splitlines()
    rows = printed(capsys, report, swept, form="csv").splitlines()
    assert rows[0].split(",") == [name for name in written[0].split(",") if name not in {"front", "knee"}]
    assert len(rows) == len(written) == 1 + len(POINTS)
    printed(capsys, report, swept, form="html", output=tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == page
    with pytest.raises(UsageError, match="junit: not a format of a series"):
        report(swept, form="junit")


def test_a_sweep_that_is_not_complete_says_so(
    swept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what there is, and how to go on; with nothing there is nothing to show."""
    folder = Path(shutil.copytree(swept, tmp_path / "sweep"))
    shutil.rmtree(folder / POINTS[1])
    with pytest.raises(SystemExit) as end:
        report(folder)
    assert end.value.code == 4
    assert "1 of 2 runs are done; to continue: " in capsys.readouterr().err
    shutil.rmtree(folder / POINTS[0])
    with pytest.raises(UsageError, match="none of its runs has ended yet"):
        report(folder)
    with pytest.raises(UsageError, match="without runs yet"):
        sql([folder], "select 1")


def test_sql_asks_all_runs_of_a_series(swept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every view has a column that names the run, those loaded on demand too; no file is written."""
    views = ("phases", "samples", "session")
    counted = " union all ".join(
        f"select '{view}' as of, run, count(*) as n from {view} group by run"  # noqa: S608 (the test's own)
        for view in views
    )
    rows = [
        orjson.loads(line)
        for line in printed(capsys, sql, [swept], f"{counted} order by of, run", json=True).splitlines()
    ]
    assert [(row["of"], row["run"]) for row in rows] == [(view, run) for view in views for run in POINTS]
    assert [row["n"] for row in rows if row["of"] == "samples"] == [6, 6]
    joined = "select count(*) > 0 as n from prompts join samples using (run, prompt_id)"
    assert printed(capsys, sql, [swept], joined, output="csv") == "n\ntrue\n"
    assert "samples" in printed(capsys, sql, [swept], "show tables", output="csv")
    target = swept.parent / "stolen.csv"
    for query in (
        f"copy samples to '{target}'",
        f"attach '{target}' as x",
        "select * from read_csv('/etc/hosts')",
    ):
        with pytest.raises(QueryError):
            sql([swept], query)
    assert not target.exists()


@pytest.mark.slow
def test_two_sweeps_are_compared_point_by_point(
    swept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of the same name; one alone is compared with its first point; runs and series do not mix."""
    other = Path(shutil.copytree(swept, tmp_path / "other"))
    series = read(other)
    write(other, type(series)(series.kind, series.definition, series.points[:1]))
    both = orjson.loads(printed(capsys, compare, CompareSettings(runs=[swept, other], json=True)))
    assert [point["name"] for point in both["points"]] == ["concurrency-1"]
    sides = both["points"][0]["comparison"]["sides"]
    assert [side["runs"] for side in sides] == [[str(swept / POINTS[0])], [str(other / POINTS[0])]]
    shown = printed(capsys, compare, CompareSettings(runs=[swept, other]))
    assert "concurrency-1 " in shown
    assert "concurrency-2 " not in shown
    alone = orjson.loads(printed(capsys, compare, CompareSettings(runs=[swept], json=True)))
    assert [Path(side["name"]).name for side in alone["sides"]] == POINTS
    with pytest.raises(UsageError, match="a series is compared with a series"):
        compare(CompareSettings(runs=[swept, other / POINTS[0]]))
    with pytest.raises(UsageError, match="--plot: of two series"):
        compare(CompareSettings(runs=[swept, other], plot=tmp_path / "x.svg"))


@pytest.mark.slow
def test_a_sweep_is_watched_run_by_run(
    preloaded: Preloaded,
    mock: MockProcess,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also one that has not begun yet; at its end there is the summary, and the exit code of the series."""
    folder = tmp_path / "sweep"
    with Admission(mock.url) as admission:

        def followed(run: Path, *values: Any, **options: Any) -> None:
            admission.open()
            follow(run, *values, **options)

        follow = watching._follow
        monkeypatch.setattr(watching, "_follow", followed)
        process = start_sweep(preloaded, admission.url, folder)
        # The question before the run is answered; the first run does not end before it is watched.
        admission.admit(1)
        with pytest.raises(SystemExit) as end:
            watch(folder, wait=GIVE_UP_S, interval=0.1)
        process.communicate(timeout=GIVE_UP_S)
    assert end.value.code == process.returncode
    out = capsys.readouterr().out
    assert "run 01-concurrency-1" in out
    assert "Pareto front" in out


def test_runs_are_listed_with_what_they_are(
    swept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of series too, the running and the damaged as such; a report is not computed for it."""
    Path(shutil.copytree(swept, tmp_path / "sweep"))
    Path(shutil.copytree(swept / POINTS[0], tmp_path / "unreported"))
    (tmp_path / "unreported" / "report.json").unlink()
    for name, file in (("no-log", "events.db"), ("no-report", "report.json")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text("{")
    (tmp_path / "empty").mkdir()
    hold = Hold(tmp_path / "sweep" / POINTS[1])
    runs = {
        run["folder"]: run for run in orjson.loads(printed(capsys, listing, "runs", str(tmp_path), json=True))
    }
    hold.release()
    first, second = (f"sweep/{point}" for point in POINTS)
    assert set(runs) == {"sweep", first, second, "unreported", "no-log", "no-report"}
    assert (runs["sweep"]["load"], runs["sweep"]["state"]) == ("1 of 2 runs", "incomplete")
    assert (runs[first]["kind"], runs[first]["load"], runs[first]["requests"]) == ("sweep", "closed 1", 6)
    assert runs[first]["state"] in {"valid", "INVALID"}
    assert runs[first]["ttft_p50_ms"] > 0
    assert runs[second]["state"] == "running"
    assert runs["unreported"]["state"] == "unreported"
    assert runs["unreported"]["started_at"][:19] == runs[first]["started_at"][:19]
    assert runs["no-log"]["state"] == runs["no-report"]["state"] == "damaged"
    shown = printed(capsys, listing, "runs", str(tmp_path))
    assert "no-report: damaged: report.json cannot be read" in shown
    with pytest.raises(UsageError, match="no such folder"):
        listing("runs", str(tmp_path / "nowhere"))
    with pytest.raises(UsageError) as refused:
        listing("runs", "s3://bucket/runs")
    assert message_of(refused.value).startswith("s3://bucket/runs: no such folder")


def test_many_runs_are_listed_from_their_reports_alone(swept: Path, tmp_path: Path) -> None:
    """No log is opened where there is a report: of a thousand runs not one has to be there."""
    text = (swept / POINTS[0] / "report.json").read_bytes()
    source = tmp_path / "report.json"
    source.write_bytes(text)
    for number in range(1000):
        (tmp_path / "runs" / f"{number:04}").mkdir(parents=True)
        os.link(source, tmp_path / "runs" / f"{number:04}" / "report.json")
    assert len(listed(tmp_path / "runs")) == 1000
