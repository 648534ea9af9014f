"""Two series compared, in every format of a comparison."""

from __future__ import annotations

import csv
import re
import shutil
from contextlib import suppress
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest

from loadgen.cli.compare import compare
from loadgen.sessions.errors import UsageError
from loadgen.sessions.series_by_point import compare_points, points_of_series
from loadgen.sessions.settings.compare import CompareSettings
from reporter.log.tables import BIG_TABLES
from reporter.render.compared_points import note, table
from reporter.render.html.comparison_page import page_of_series
from reporter.render.html.page import Tables
from reporter.render.table import Mark
from tests.remembered_logs import remembered_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from reporter.compare.comparison import SeriesComparison


@pytest.fixture(scope="module")
def sweeps(swept: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A sweep of two points twice, once with a hostile name; not to be changed."""
    folder = tmp_path_factory.mktemp("compared")
    return [Path(shutil.copytree(swept, folder / name)) for name in ("old", "new <b>")]


@pytest.fixture(scope="module")
def compared(sweeps: list[Path]) -> SeriesComparison:
    """What the sweeps are compared to, for all formats."""
    settings = CompareSettings(runs=sweeps)
    return compare_points(settings, *points_of_series(settings))


@pytest.fixture
def written(
    sweeps: list[Path],
    compared: SeriesComparison,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[[str], str]:
    """Write the comparison in a format."""
    monkeypatch.setattr("loadgen.cli.compare_series.compare_points", lambda *_: compared)

    def write(form: str) -> str:
        with suppress(SystemExit):
            compare(CompareSettings(runs=sweeps, form=form))
        return capsys.readouterr().out

    return write


def test_a_page_has_the_points_the_plots_and_the_queries(written: Callable[[str], str]) -> None:
    """Both sweeps in one plot, the changes of each point; names are text."""
    page = written("html")
    assert page.count(">concurrency-2</h2>") == 1
    curves = orjson.loads(page.partition('id="curves-data">')[2].partition("</script>")[0])["curves"]
    assert [curve["name"] for curve in curves] == ["old", "new <b>"]
    assert page.count('<svg class="interval') > len(("concurrency-1", "concurrency-2"))
    assert "<b>" not in page.partition("<main")[2].partition("<script")[0]


@pytest.mark.slow
def test_every_table_of_the_page_has_its_query(sweeps: list[Path], compared: SeriesComparison) -> None:
    """Over the views of a run of the series."""
    page = page_of_series(compared)
    tables = [table for section in page.sections if isinstance(section, Tables) for table in section.tables]
    log = remembered_log(sweeps[0] / "01-concurrency-1")
    log.load(BIG_TABLES)
    assert [table.caption for table in tables if not log.execute(table.sql).fetchall()] == []


def test_markdown_and_csv_have_every_point(written: Callable[[str], str]) -> None:
    """A row per point, and a row per point, metric and side."""
    text = written("md")
    assert re.findall(r"^\| (concurrency-\d)", text, re.MULTILINE) == ["concurrency-1", "concurrency-2"]
    assert "<b>" not in text
    rows = list(csv.DictReader(StringIO(written("csv"))))
    assert {row["point"] for row in rows} == {"concurrency-1", "concurrency-2"}
    assert len({(row["point"], row["metric"], row["side"]) for row in rows}) == len(rows)


def test_a_change_says_whether_its_metric_decides_at_the_point(compared: SeriesComparison) -> None:
    """The change of a metric that decides at another point is in brackets; failures are marked."""
    first, second = compared.points
    row, *others = first.comparison.rows
    failed = replace(row, changes=(replace(row.changes[0], by=0.5, finding="worse", fails=True),))
    shown = replace(
        row, decides=False, changes=(replace(row.changes[0], by=0.5, finding="no significant difference"),)
    )
    points = [
        replace(point, comparison=replace(point.comparison, rows=(changed, *others)))
        for point, changed in ((first, failed), (second, shown))
    ]
    series = replace(compared, points=points)
    place = [column.title for column in table(series).columns].index(row.metric)
    assert [cells[place] for cells in table(series).rows] == [Mark("* +50 %", "bad"), "[+50 %]"]
    assert note(series).endswith("; a metric in brackets decides nothing at that point.")
    assert "brackets" not in note(compared)


def test_the_markdown_file_and_what_only_runs_have(
    sweeps: list[Path], compared: SeriesComparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--markdown` writes the same; a picture is of one pair of runs."""
    monkeypatch.setattr("loadgen.cli.compare_series.compare_points", lambda *_: compared)
    path = tmp_path / "comparison.md"
    with suppress(SystemExit):
        compare(CompareSettings(runs=sweeps, markdown=path))
    assert path.read_text(encoding="utf-8").startswith("### Comparison: ")
    with pytest.raises(UsageError, match="not a format of a series_comparison"):
        compare(CompareSettings(runs=sweeps, form="svg"))
