"""The result of a sweep in sentences: the highest load that held, the Pareto fronts and their knees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.sessions.series.sweep.held import highest_held
from loadgen.sessions.series.sweep.sweep_files import planes_of
from reporter.pareto_front import front, knee, undecided
from reporter.plots.planes import INTERACTIVITY, TTFT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.sessions.series_outcome import PointOutcome
    from reporter.plots.planes import Plane


def conclusions(outcomes: Sequence[PointOutcome]) -> list[str]:
    """The highest load that held, then both fronts and their knees."""
    fronts = [
        sentence for plane in planes_of(outcomes, by_folder=True) for sentence in _front_and_knee(plane)
    ]
    return [*map(str, highest_held(outcomes)), *fronts]


def _front_and_knee(plane: Plane) -> list[str]:
    """The front and its knee, in a sentence each."""
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
    value = f"{plane.at(bend.spot):,.1f} {'tok/s per user' if plane.is_rate else 'ms'}"
    return [
        *sentences,
        f"Knee in {plane.latency}: {bend.spot.name}, {bend.spot.output_tps:,.1f} tok/s at {value}",
    ]


_CALLED: Final = {INTERACTIVITY: "interactivity", TTFT: "TTFT"}
