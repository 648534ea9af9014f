"""A series of runs as a value, and as CSV and Markdown: a sweep, a search, a suite or an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field
from reporter import statements
from reporter.json_values import number
from reporter.number_text import as_written, figure
from reporter.render.console_page import clean, plain
from reporter.render.csv_text import as_csv
from reporter.render.heading import heading
from reporter.render.markdown import safe, table_lines
from reporter.render.score_tables import value_in_words
from reporter.render.table import Column, Link, Mark, Table, headed, tone

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reporter.plots.plot_value import NoPlot, Plot
    from reporter.render.table import Cell
    from reporter.report import Report


@dataclass(frozen=True, slots=True)
class SeriesOverview:
    """A series.

    Attributes:
        kind: `sweep`, `search`, `suite` or `audit`.
        status: How it ended, in a word or two; empty where nothing was required.
        rows: A row per run, in plain types, as `sweep.json` has them.
        results: The result of each run in a word or two; empty where it is valid without requirements.
        conclusions: What follows from the runs, in sentences.
        notes: Why runs are invalid, which rules they missed, and their warnings.
        plots: Of a sweep, throughput against interactivity and against TTFT.
        links: The address of each run's report, by the folder of the run; empty where there is none.
        targets: The targets of the runs, each once, as on the command line.
    """

    name: str
    kind: str
    status: str
    rows: Sequence[Mapping[str, Any]]
    results: Sequence[str]
    conclusions: Sequence[str] = ()
    notes: Sequence[str] = ()
    plots: Sequence[Plot | NoPlot] = ()
    lines: Sequence[str] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    targets: Sequence[str] = ()


_FIGURES: Final = {
    "qps": "req/s",
    "output_tps": "output tok/s",
    "user_tps": "tok/s per user",
    "ttft_p50_ms": "TTFT p50 ms",
    "ttft_p99_ms": "TTFT p99 ms",
    "tpot_p50_ms": "TPOT p50 ms",
    "tpot_p99_ms": "TPOT p99 ms",
    "error_rate": "errors %",
}


def table(series: SeriesOverview) -> Table:
    """The table of runs: run, axes, figures, and results and warnings if any."""
    axes = list(dict.fromkeys(axis for row in series.rows for axis in row["axes"]))
    has = {"result": any(series.results), "warnings": any(row["warnings"] for row in series.rows)}
    further = [name for name, is_shown in has.items() if is_shown]
    rows: list[tuple[Cell, ...]] = []
    for row, result in zip(series.rows, series.results, strict=True):
        name = str(row["folder"])
        cells = {
            "result": Mark(result, tone(result)) if result else "",
            "warnings": ", ".join(row["warnings"]),
        }
        rows.append(
            (
                Link(name, series.links[name]) if name in series.links else name,
                *(_axis_value(row["axes"].get(axis, "")) for axis in axes),
                *(_shown(key, row[key]) for key in _FIGURES),
                *(cells[name] for name in further),
            )
        )
    columns = (
        Column("run", justify="left"),
        *(Column(axis, justify="right" if _are_figures(series, axis) else "left") for axis in axes),
        *map(Column, _FIGURES.values()),
        *(Column(name, justify="left") for name in further),
    )
    return Table(columns, tuple(rows), sql=statements.of_series())


def _are_figures(series: SeriesOverview, axis: str) -> bool:
    return all(isinstance(row["axes"].get(axis, 0), int | float) for row in series.rows)


def scores(series: SeriesOverview) -> Table:
    """The table of scores, with intervals; empty without scores."""
    rows = tuple(
        (
            str(row["folder"]),
            str(score["name"]),
            *(
                "" if score[end] is None else value_in_words(score[end], score["unit"])
                for end in ("value", "low", "high")
            ),
            str(score["n"]),
            str(score["unscored"]),
        )
        for row in series.rows
        for score in row["scores"]
    )
    titles = ("run", "score", "value", "low", "high", "n", "unscored")
    return Table(headed(*titles, words=2), rows, sql=statements.accuracy("run"))


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{100 * value:.1f}" if name == "error_rate" else figure(value)


def render_csv(series: SeriesOverview) -> str:
    """A row per run, with every figure and score."""
    return series_as_csv(series.rows)


def series_as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows of a series: the axes first, a list in one cell."""
    return as_csv(map(_flat, rows))


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of plain cells: a list in one cell, and for each score the value, interval and n."""
    plain = {name: value for name, value in row.items() if name not in {"axes", "scores"}}
    cells = {
        name: "; ".join(map(str, value)) if isinstance(value, list) else value
        for name, value in {**row["axes"], **plain}.items()
    }
    for score in row.get("scores", ()):
        name = f"score.{score['name']}"
        cells |= {name: score["value"], f"{name}.low": score["low"], f"{name}.high": score["high"]}
        cells |= {f"{name}.n": score["n"], f"{name}.unscored": score["unscored"]}
    return cells


def render_markdown(series: SeriesOverview) -> str:
    """The series; whatever a run was called is text and nothing else."""
    return "\n".join(_markdown_lines(series)) + "\n"


def _markdown_lines(series: SeriesOverview) -> Iterator[str]:
    status = f": {series.status}" if series.status else ""
    yield f"### {series.kind.capitalize()} {safe(series.name)}{status}"
    yield ""
    yield from table_lines(table(series))
    if (of_scores := scores(series)).rows:
        yield from ("", *table_lines(of_scores))
    if lines := [*series.conclusions, *series.notes]:
        yield ""
        yield from (f"- {safe(line)}" for line in lines)


_MOST_VALUES: Final = 8
_PROMPTS: Final = 2
"""The line of a run's heading about the prompts."""


def heading_lines(reports: Sequence[Report], axes: Sequence[Mapping[str, Any]]) -> list[str]:
    """The lines below the title of a series."""
    headings = [[plain(line) for line in heading(report)] for report in reports]
    asked = dict.fromkeys(lines[0] for lines in headings)
    sent = dict.fromkeys(lines[_PROMPTS] for lines in headings if len(lines) > _PROMPTS + 1)
    dates = sorted(report.run.started_at for report in reports if report.run.started_at)
    return [
        _few(list(asked), "; "),
        "; ".join(_loads(axes)),
        ", ".join(_common([line.split(", ") for line in sent])),
        _dates(dates),
    ]


def _common(lines: Sequence[Sequence[str]]) -> list[str]:
    """The parts that all lines have; measured lengths only where all lines are alike."""
    parts = lines[0] if lines else ()
    others = [line for line in lines if line != parts]
    return [part for part in parts if all(part in line and part[0] != "~" for line in others)]


def _loads(axes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Each axis with its values: `concurrency 1, 2, 4`."""
    for name in dict.fromkeys(name for of_run in axes for name in of_run):
        values = list(dict.fromkeys(of_run[name] for of_run in axes if name in of_run))
        if all(number(value) is not None for value in values):
            values.sort()
        yield f"{clean(name)} {_few([_axis_value(value) for value in values], ', ')}"


def _axis_value(value: object) -> str:
    return as_written(value) if isinstance(value, float) else clean(value)


def _few(values: Sequence[str], separator: str) -> str:
    """Values in a row; of many the first, the last and their number."""
    if len(values) <= _MOST_VALUES:
        return separator.join(values)
    return f"{values[0]} to {values[-1]} ({len(values)} values)"


def _dates(dates: Sequence[str]) -> str:
    """From the start of the first run to that of the last, in UTC."""
    if not dates:
        return ""
    first, last = (date[:16].replace("T", " ") for date in (dates[0], dates[-1]))
    return f"{first} UTC" if first == last else f"{first} to {last.removeprefix(f'{first[:11]}')} UTC"
