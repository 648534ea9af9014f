"""What a sweep leaves: sweep.json, sweep.csv, and pareto.svg where it was asked for; and what it prints."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from cli.series import series as files
from cli.series.spreadsheet import lay_csv
from cli.series.table import rows, table
from reporter.sweep import Spot, figures, front, knee

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cli.series.outcome import Outcome

SWEEP: Final = "sweep.json"
CSV: Final = "sweep.csv"
PLOT: Final = "pareto.svg"
SCHEMA_VERSION: Final = 1


def lay(folder: Path, outcomes: Sequence[Outcome], *, plot: bool) -> None:
    """Write the files of a sweep that is over."""
    document = _document(folder, outcomes)
    files.lay(folder / SWEEP, document)
    lay_csv(folder / CSV, document["points"])
    if plot:
        from reporter.render.plot import pareto

        pareto(_spots(outcomes), folder / PLOT)


def show(folder: Path, outcomes: Sequence[Outcome], *, json: bool) -> None:
    """Print the table, or what sweep.json has."""
    if json:
        sys.stdout.write((folder / SWEEP).read_text())
        return
    print(table(outcomes), end="")
    for line in _bend(_spots(outcomes)):
        print(line)


def _document(folder: Path, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
    spots = _spots(outcomes)
    bend = knee(spots)
    return {
        "schema_version": SCHEMA_VERSION,
        "points": rows(outcomes, folder),
        "pareto": {
            "throughput": "output_tps",
            "interactivity": "user_tps",
            "front": [spot.name for spot in front(spots)],
            "knee": None if bend is None else bend.name,
        },
    }


def _spots(outcomes: Sequence[Outcome]) -> list[Spot]:
    """The valid runs that have both figures: what the client limited is no figure of the server."""
    known = [(one.point.name, figures(one.report)) for one in outcomes if one.report.validity.valid]
    return [
        Spot(name, of.output_tps, of.user_tps)
        for name, of in known
        if of.output_tps is not None and of.user_tps is not None
    ]


def _bend(spots: Sequence[Spot]) -> list[str]:
    """The front and its knee, in a sentence each."""
    line = front(spots)
    if not line:
        return ["\nNo Pareto front: no valid run has both a throughput and a TPOT."]
    bend = knee(spots)
    told = [f"\nPareto front, by throughput: {', '.join(spot.name for spot in line)}"]
    if bend is None:
        return [
            *told,
            "No knee: the front has too few points, spans next to nothing, or does not bend outwards.",
        ]
    at = f"{bend.output_tps:,.1f} tok/s at {bend.user_tps:,.1f} tok/s a user"
    return [*told, f"Knee: {bend.name}, {at}"]
