"""A series of runs as a value that the renderers of pages take: a sweep, a search, a suite or an audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reporter import statements
from reporter.number_text import figure
from reporter.render.table import Column, Link, Table, headed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.plots.plot_value import NoPlot, Plot
    from reporter.render.table import Cell


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


_FIGURES: Final = {
    "qps": "requests/s",
    "output_tps": "output tokens/s",
    "user_tps": "tokens/s per user",
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
        cells = {"result": result, "warnings": ", ".join(row["warnings"])}
        rows.append(
            (
                Link(name, series.links[name]) if name in series.links else name,
                *(str(row["axes"].get(axis, "")) for axis in axes),
                *(_shown(key, row[key]) for key in _FIGURES),
                *(cells[name] for name in further),
            )
        )
    columns = (
        *headed("run", *axes, *_FIGURES.values(), words=1 + len(axes)),
        *(Column(name, justify="left") for name in further),
    )
    return Table(columns, tuple(rows), sql=statements.of_series())


def scores(series: SeriesOverview) -> Table:
    """The table of scores, with intervals; empty without scores."""
    rows = tuple(
        (
            str(row["folder"]),
            str(score["name"]),
            *("" if score[end] is None else f"{score[end]:.4g}" for end in ("value", "low", "high")),
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
