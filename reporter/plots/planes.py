"""The two planes that compare the runs of a sweep: throughput against interactivity, and against TTFT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reporter.pareto_front import Spot
from reporter.plots.plot_value import Axis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.run_row import Figures


@dataclass(frozen=True, slots=True)
class Plane:
    """Runs by throughput and one latency.

    Attributes:
        name: `interactivity` or `ttft`.
        latency: The latency that the throughput is paid with, as a table calls it.
        figure: The figure of a row that is the other axis.
        axis: That axis of a plot.
        spots: The runs that have both figures, in their order.
    """

    name: str
    latency: str
    figure: str
    axis: Axis
    spots: tuple[Spot, ...]

    @property
    def is_rate(self) -> bool:
        """Whether the axis shows tokens/s, 1000 / the latency in ms, of which more is better."""
        return self.name == INTERACTIVITY

    def at(self, spot: Spot) -> float:
        """Where a spot lies on the axis, in tokens/s or in ms."""
        return 1e3 / spot.cost_ms if self.is_rate else spot.cost_ms


INTERACTIVITY: Final = "interactivity"
TTFT: Final = "ttft"


def planes(runs: Sequence[tuple[str, Figures]]) -> tuple[Plane, Plane]:
    """Lay runs on both planes.

    Args:
        runs: Those that are valid, by name, in the order of their load.
    """
    return (
        Plane(
            INTERACTIVITY,
            "TPOT p50",
            "user_tps",
            Axis("interactivity: output tokens of a user, 1000 / median TPOT", "1/s"),
            _spots(runs, "tpot_p50"),
        ),
        Plane(TTFT, "TTFT p50", "ttft_p50_ms", Axis("median TTFT", "ms"), _spots(runs, "ttft_p50")),
    )


def _spots(runs: Sequence[tuple[str, Figures]], latency: str) -> tuple[Spot, ...]:
    spots = []
    for name, of in runs:
        cost_ms, margin_ms = getattr(of, f"{latency}_ms"), getattr(of, f"{latency}_margin_ms")
        if of.output_tps and cost_ms:
            margins = (of.output_tps_margin or 0.0, margin_ms or 0.0)
            spots.append(Spot(name, of.output_tps, cost_ms, *margins, requests=of.requests))
    return tuple(spots)
