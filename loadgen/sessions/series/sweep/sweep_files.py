"""The files of a sweep: sweep.json, sweep.csv, and pareto.svg if requested."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.files import series_file as files
from loadgen.sessions.files.run_folder import write_whole
from loadgen.sessions.series.run_rows import rows
from loadgen.sessions.series.sweep.fronts import highest_held
from reporter.pareto_front import clear_front, knee, undecided
from reporter.plots.planes import planes
from reporter.render.series_csv import series_as_csv
from reporter.run_row import figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.sessions.series_outcome import PointOutcome
    from reporter.plots.planes import Plane
    from reporter.plots.plot_value import NoPlot, Plot

SWEEP: Final = "sweep.json"
CSV: Final = "sweep.csv"
PLOT: Final = "pareto.svg"
SCHEMA_VERSION: Final = 1


def write_sweep(folder: Path, outcomes: Sequence[PointOutcome], *, plot: bool) -> None:
    """Write the files of a sweep that has ended."""
    content = document(folder, outcomes)
    files.write_json(folder / SWEEP, content)
    write_whole(folder / CSV, series_as_csv(content["points"]).encode())
    if plot:
        from reporter.render.plot_picture import picture

        write_whole(folder / PLOT, picture(plots_of(outcomes), "svg"))


def plots_of(outcomes: Sequence[PointOutcome]) -> tuple[Plot | NoPlot, ...]:
    """Throughput against interactivity and against TTFT, with the runs that met their targets, and where."""
    from reporter.plots.pareto import pareto_plot
    from reporter.plots.slo_region import slo_region

    reports = {outcome.point.name: outcome.report for outcome in outcomes}
    verdicts = {name: report.verdict for name, report in reports.items() if report.verdict is not None}
    passing = {name for name, verdict in verdicts.items() if verdict.status == "PASS"}
    rows = {name: verdict.rows for name, verdict in verdicts.items()}
    return tuple(pareto_plot(plane, passing, slo_region(plane, rows)) for plane in planes_of(outcomes))


def document(folder: Path, outcomes: Sequence[PointOutcome]) -> Mapping[str, Any]:
    """The content of sweep.json."""
    interactivity, ttft = map(_summary, planes_of(outcomes))
    return {
        "schema_version": SCHEMA_VERSION,
        "points": _points(folder, outcomes),
        "held": [asdict(held) for held in highest_held(outcomes)],
        "pareto": {"throughput": "output_tps", "interactivity": "user_tps", **interactivity},
        "pareto_ttft": {"throughput": "output_tps", "latency": "ttft_p50_ms", **ttft},
    }


def _points(folder: Path, outcomes: Sequence[PointOutcome]) -> list[dict[str, Any]]:
    """The rows, each with the fronts that it is on, and the planes of which it is the knee."""
    fronts = {plane.name: {spot.name for spot in clear_front(plane.spots)} for plane in planes_of(outcomes)}
    knees = {plane.name: knee(plane.spots).spot for plane in planes_of(outcomes)}
    return [
        {
            **row,
            "front": [name for name, of in fronts.items() if row["name"] in of],
            "knee": [name for name, spot in knees.items() if spot is not None and spot.name == row["name"]],
        }
        for row in rows(outcomes, folder)
    ]


def _summary(plane: Plane) -> dict[str, Any]:
    bend = knee(plane.spots)
    return {
        "front": [spot.name for spot in clear_front(plane.spots)],
        "knee": None if bend.spot is None else bend.spot.name,
        "no_knee_because": bend.reason or None,
        "requests_needed": None if (pair := undecided(plane.spots)) is None else pair.needed,
    }


def planes_of(outcomes: Sequence[PointOutcome], *, by_folder: bool = False) -> tuple[Plane, Plane]:
    """The valid runs: a run that the client limited does not measure the server."""
    return planes(
        [
            (outcome.folder.name if by_folder else outcome.point.name, figures(outcome.report))
            for outcome in outcomes
            if outcome.report.validity.stands and not outcome.report.validity.latency_reasons
        ]
    )
