"""The result of a sweep: the highest loads that held, the Pareto fronts, and the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import asdict, dataclass
from loadgen.sessions.files import series_file as files
from loadgen.sessions.files.run_folder import write_whole
from loadgen.sessions.series.run_rows import result, rows
from reporter.number_text import figure
from reporter.pareto_front import clear_front, front, knee, undecided
from reporter.plots.pareto import INTERACTIVITY, TTFT, Plane, pareto_plot, planes, slo_region
from reporter.render.plot_picture import picture
from reporter.render.series_overview import series_as_csv
from reporter.run_row import figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.sessions.series_outcome import PointOutcome
    from reporter.plots.plot_value import NoPlot, Plot

_LOADS: Final = {"rate": " req/s", "concurrency": ""}
"""The units of loads."""

_OUTCOMES: Final = {
    "overloaded": "was overloaded",
    "missed": "missed a rule",
    "unclear": "was inconclusive",
    "accepted": "was invalid, and accepted",
}
_HELD: Final = frozenset({"", "pass"})
"""The results of a run that held: valid, not overloaded, and no rule missed."""


@dataclass(frozen=True, slots=True)
class HighestLoad:
    """The highest load that held, among runs that are equal on all other axes.

    Attributes:
        axis: `rate` or `concurrency`.
        others: The values on the other axes.
        load: The load; None where none held.
        run: The folder of the run with that load.
        above: The lowest higher load, which did not hold; None without one.
        why: The result of the run above, in a word.
    """

    axis: str
    others: Mapping[str, Any]
    load: float | None
    run: str | None
    above: float | None
    why: str | None

    def __str__(self) -> str:
        """A sentence."""
        of = "".join(f", {name} {value}" for name, value in self.others.items())
        outcome = _OUTCOMES.get(self.why or "", "was invalid")
        missed = "" if self.above is None else f"; {self.above:g} {outcome}"
        if self.load is None:
            return f"No {self.axis} held{of}{missed}."
        top = missed or ", the highest of the sweep"
        return f"Highest {self.axis} that held{of}: {self.load:g}{_LOADS[self.axis]} ({self.run}){top}."


def highest_held(outcomes: Sequence[PointOutcome]) -> Iterator[HighestLoad]:
    """The highest load that held, for each combination of the other axes; nothing if no load is an axis."""
    axis = next((name for name in _LOADS if outcomes and name in outcomes[0].point.axes), None)
    if axis is None:
        return
    groups: dict[tuple[tuple[str, Any], ...], list[PointOutcome]] = {}
    for outcome in outcomes:
        axes = outcome.point.axes
        if isinstance(axes[axis], int | float):
            others = tuple((name, value) for name, value in axes.items() if name != axis)
            groups.setdefault(others, []).append(outcome)
    for others, each in groups.items():
        yield _of_group(axis, dict(others), sorted(each, key=lambda outcome: outcome.point.axes[axis]))


def _of_group(axis: str, others: Mapping[str, Any], rising: Sequence[PointOutcome]) -> HighestLoad:
    held = [number for number, outcome in enumerate(rising) if result(outcome) in _HELD]
    last = held[-1] if held else -1
    best = rising[last] if held else None
    above = rising[last + 1] if last + 1 < len(rising) else None
    return HighestLoad(
        axis,
        others,
        None if best is None else best.point.axes[axis],
        None if best is None else best.folder.name,
        None if above is None else above.point.axes[axis],
        None if above is None else result(above),
    )


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
        write_whole(folder / PLOT, picture(plots_of(outcomes), "svg"))


def plots_of(outcomes: Sequence[PointOutcome]) -> tuple[Plot | NoPlot, ...]:
    """Throughput against interactivity and against TTFT, with the runs that met their targets, and where."""
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


def conclusions(outcomes: Sequence[PointOutcome]) -> list[str]:
    """The highest load that held, then both fronts and their knees."""
    fronts = [
        sentence for plane in planes_of(outcomes, by_folder=True) for sentence in _front_and_knee(plane)
    ]
    return [*map(str, highest_held(outcomes)), *fronts]


def _front_and_knee(plane: Plane) -> list[str]:
    line, what = front(plane.spots), _CALLED[plane.name]
    if not line:
        return [f"Throughput against {what}: no valid run has both a throughput and a {plane.latency}."]
    if (pair := undecided(plane.spots)) is not None:
        return [f"No Pareto front, throughput against {what}: {pair}."]
    names = ", ".join(spot.name for spot in reversed(line))
    sentences = [f"Pareto front, throughput against {what}: {names}"]
    bend = knee(plane.spots)
    if bend.spot is None:
        return [*sentences, f"No knee in {plane.latency}: {bend.reason}."]
    value = f"{figure(plane.at(bend.spot))} {'tok/s per user' if plane.is_rate else 'ms'}"
    return [
        *sentences,
        f"Knee in {plane.latency}: {bend.spot.name}, {figure(bend.spot.output_tps)} tok/s at {value}",
    ]


_CALLED: Final = {INTERACTIVITY: "interactivity", TTFT: "TTFT"}
