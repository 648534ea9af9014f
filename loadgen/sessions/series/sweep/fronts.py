"""The result of a sweep in sentences: the highest load that held, the Pareto fronts and their knees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.series.run_rows import result
from loadgen.sessions.series.sweep.sweep_files import planes_of
from reporter.pareto_front import front, knee, undecided
from reporter.plots.planes import INTERACTIVITY, TTFT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loadgen.sessions.series_outcome import PointOutcome
    from reporter.plots.planes import Plane

_LOADS: Final = {"rate": " requests/s", "concurrency": ""}
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
