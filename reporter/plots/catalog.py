"""All plots by name: those of a run, of several runs and of a sweep, and pictures of several plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.plots.benchmark_scores import ACCURACY
from reporter.plots.latency_distributions import DISTRIBUTIONS
from reporter.plots.over_time import OVER_TIME
from reporter.plots.sensor_readings import TELEMETRY
from reporter.plots.times_by_length import LENGTHS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.plots.definition import PlotDefinition

PLOTS: Final[Mapping[str, PlotDefinition]] = {
    definition.name: definition
    for definition in (*DISTRIBUTIONS, *OVER_TIME, *TELEMETRY, *LENGTHS, *ACCURACY)
}
"""Those of a run."""

OF_SWEEPS: Final[Mapping[str, str]] = {
    "pareto-interactivity": "throughput against interactivity: Pareto front, knee, SLO region",
    "pareto-ttft": "throughput against TTFT, with the Pareto front",
}
"""Those of a sweep, by `reporter.plots.pareto`, with what they show."""

DIFFERENCES: Final = "differences"
"""That of a comparison, by `reporter.render.comparison_figure`."""

SETS: Final[Mapping[str, tuple[str, ...]]] = {
    "over-time": ("rate-over-time", "in-flight-over-time", "tokens-over-time", "ttft-over-time"),
    **{
        latency: tuple(f"{latency}-{form}" for form in ("histogram", "cdf", "percentiles"))
        for latency in ("ttft", "tpot", "itl", "latency")
    },
    "telemetry": tuple(definition.name for definition in TELEMETRY),
    "lengths": tuple(definition.name for definition in LENGTHS),
    "pareto": tuple(OF_SWEEPS),
}
"""Pictures of several plots, one under the other."""


def described() -> dict[str, str]:
    """Every name with a description, pictures of several plots first."""
    return {
        **{name: f"one under the other: {', '.join(plots)}" for name, plots in SETS.items()},
        **{name: definition.shows for name, definition in PLOTS.items()},
        **OF_SWEEPS,
        DIFFERENCES: "of several runs: how much each metric differs from the first one's, with intervals",
    }
