"""`loadgen plot`: pictures of a run, of several runs and of a sweep."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest

from loadgen.cli.plot import plot
from loadgen.run import Run
from loadgen.sessions.errors import UsageError
from recorder import EventRecorder, EventType
from reporter.log.query import query
from reporter.plots.make import described

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of thirty requests with a tag."""
    folder = tmp_path_factory.mktemp("plotted") / "first"
    folder.mkdir()
    with EventRecorder(
        path=folder / "events.db", settings={"load": {"kind": "closed", "concurrency": 1}}
    ) as log:
        log.record_event(EventType.PHASE_STARTED, 1, data={"phase": "performance"})
        for number in range(30):
            at_ns = 1_000_000 * (1 + number)
            issue = {
                "scheduled_ns": at_ns,
                "phase": "performance",
                "prompt_id": number,
                "tags": {"size": ("small", "big")[number % 2]},
            }
            log.record_event(EventType.LOADGEN_ISSUE_CALLED, at_ns, f"{number}", data=issue)
            log.record_event(EventType.REQUEST_SENT, at_ns, f"{number}", data={"reused": True})
            log.record_event(EventType.COMPLETE, at_ns + 10_000 * number, f"{number}", data={"stream": False})
        log.record_event(EventType.TEST_ENDED, 90_000_000, data={"reason": "completed"})
    return folder


@pytest.fixture
def other(run: Path, tmp_path: Path) -> Path:
    """The same run in another folder."""
    return Path(shutil.copytree(run, tmp_path / "second"))


def test_a_picture_is_written(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As its ending says; the same one each time; what has no data is named, and what is drawn."""
    files = [tmp_path / name for name in ("one.svg", "two.svg", "new/three.png")]
    for file in files:
        plot([run], what="over-time", out=file)
    written, notes = capsys.readouterr()
    assert written.splitlines() == list(map(str, files))
    assert (
        notes.count("note: ttft-over-time is not drawn: no request has completed with a streamed token") == 3
    )
    svg, same, png = (file.read_bytes() for file in files)
    assert svg == same
    assert svg.count(b"over time</text>") == 2
    assert png.startswith(b"\x89PNG")


def test_the_file_has_the_name_of_the_plot(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the current folder."""
    monkeypatch.chdir(tmp_path)
    plot([run], what="latency-cdf", by="size")
    assert b">small</text>" in (tmp_path / "latency-cdf.svg").read_bytes()


@pytest.mark.slow
def test_the_points_can_be_had_as_json(run: Path, other: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the SQL that answers the same; of several runs with the name of each."""
    plot([run], what="latency-cdf", json=True)
    (document,) = orjson.loads(capsys.readouterr().out)["plots"]
    (series,) = document["series"]
    assert [list(row) for row in query(run, document["sql"]).rows] == [
        ["Latency", x, y] for x, y in zip(series["x"], series["y"], strict=True)
    ]
    plot([run, other], what="latency-cdf", json=True)
    (overlaid,) = orjson.loads(capsys.readouterr().out)["plots"]
    assert [series["group"] for series in overlaid["series"]] == ["first", "second"]
    plot([run, other], what="differences", json=True)
    assert orjson.loads(capsys.readouterr().out)["plots"][0]["series"]


def test_the_names_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """A line each."""
    plot(names=True)
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(described())


def test_what_cannot_be_drawn_is_refused(run: Path, other: Path, tmp_path: Path) -> None:
    """With what to do."""
    refused: dict[str, Callable[[], None]] = {
        "did you mean 'ttft-cdf'": lambda: plot([run], what="ttft-cfd"),
        r"the ending decides the format: \.svg or \.png": lambda: plot([run], out=tmp_path / "a.pdf"),
        "did you mean 'size'.*there are size": lambda: plot([run], by="siz"),
        "is a plot of a sweep": lambda: plot([run], what="pareto"),
        "takes one run: curves": lambda: plot([run, other], by="size"),
        "takes one run; latency-cdf takes several": lambda: plot([run, other], what="latency-histogram"),
        "named twice": lambda: plot([run, run]),
        "name a run": plot,
        "at most 6": lambda: plot([run] * 7),
    }
    for message, refuse in refused.items():
        with pytest.raises(UsageError, match=f"(?s){message}"):
            refuse()


def test_a_wrong_name_comes_before_a_missing_library(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To install the library first would be in vain."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match="no plot has this name"):
        plot([run], what="nope")
    with pytest.raises(UsageError, match="matplotlib, which is not installed"):
        plot([run], what="latency-cdf")


def test_nothing_is_written_where_there_is_nothing_to_draw(run: Path, tmp_path: Path) -> None:
    """Exit 2."""
    with pytest.raises(SystemExit) as ended:
        plot([run], what="ttft-cdf", out=tmp_path / "none.svg")
    assert ended.value.code == 2
    assert not (tmp_path / "none.svg").exists()


def test_a_plot_from_python(run: Path) -> None:
    """One plot, or an error with the reason."""
    assert {series.group for series in Run(run).plot("latency-cdf", tag="size").series} == {"big", "small"}
    with pytest.raises(UsageError, match="no measured request has completed with a streamed token"):
        Run(run).plot("ttft-cdf")
    with pytest.raises(UsageError, match="name one: rate-over-time"):
        Run(run).plot("over-time")
