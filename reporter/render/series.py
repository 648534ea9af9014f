"""A series of runs as a value that the renderers of pages take: a sweep, a search, a suite or an audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reporter.number_text import figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.plots.plot import NoPlot, Plot


@dataclass(frozen=True, slots=True)
class SeriesOverview:
    """A series.

    Attributes:
        name: The name of its folder.
        kind: `sweep`, `search`, `suite` or `audit`.
        status: How it ended, in a word or two; empty where nothing was required.
        rows: A row per run, in plain types, as `sweep.json` has them.
        results: The result of each run in a word or two; empty where it is valid without requirements.
        conclusions: What follows from the runs, in sentences.
        notes: Why runs are invalid, which rules they missed, and their warnings.
        plots: Of a sweep, throughput against interactivity and against TTFT.
        lines: Model and endpoint, loads, prompts and dates.
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


def titles(series: SeriesOverview) -> list[str]:
    """The headings of the table of runs: run, axes, figures, and results and warnings if any."""
    further = {"result": any(series.results), "warnings": _are_warned(series)}
    return ["run", *_axes(series), *_FIGURES.values(), *(name for name, shown in further.items() if shown)]


def words(series: SeriesOverview) -> int:
    """How many columns of the table are words, from the left."""
    return 1 + len(_axes(series))


def table(series: SeriesOverview) -> list[list[str]]:
    """The rows of the table of runs, as texts."""
    axes = _axes(series)
    return [
        [
            str(row["folder"]),
            *(str(row["axes"].get(axis, "")) for axis in axes),
            *(_shown(name, row[name]) for name in _FIGURES),
            *[result][: any(series.results)],
            *[", ".join(row["warnings"])][: _are_warned(series)],
        ]
        for row, result in zip(series.rows, series.results, strict=True)
    ]


SCORE_TITLES: Final = ("run", "score", "value", "low", "high", "n", "unscored")


def scores(series: SeriesOverview) -> list[list[str]]:
    """The rows of the table of scores, with intervals; empty without scores."""
    return [
        [
            str(row["folder"]),
            str(score["name"]),
            *("" if score[end] is None else f"{score[end]:.4g}" for end in ("value", "low", "high")),
            str(score["n"]),
            str(score["unscored"]),
        ]
        for row in series.rows
        for score in row["scores"]
    ]


def _are_warned(series: SeriesOverview) -> bool:
    return any(row["warnings"] for row in series.rows)


def _axes(series: SeriesOverview) -> list[str]:
    return list(dict.fromkeys(axis for row in series.rows for axis in row["axes"]))


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{100 * value:.1f}" if name == "error_rate" else figure(value)
