"""The Pareto front of several runs, throughput against a latency, and its knee; both with regard to noise.

Throughput is bought with latency: with the time to the first token, or with the time between tokens, whose
inverse is the interactivity. Each is its own plane, and a run is a spot on it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_DIFFERENCE: Final = 0.01
"""Figures that are nearer to each other than this share of them are never distinguished: the same load, run
twice, differs by about as much."""

WIDE: Final = 0.1
"""Intervals of two runs, as a share of the figure, that are too wide for a front: they hide such a
difference."""

_FEWEST: Final = 3
"""Runs that a knee needs: one before it, and one beyond."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a run lies on a plane.

    Attributes:
        output_tps: The throughput in output tok/s, above 0.
        cost_ms: The latency that is paid for it, above 0.
        output_margin: The half width of the 95 % interval of `output_tps`; 0 where it is not known.
        cost_margin: The same of `cost_ms`.
    """

    name: str
    output_tps: float
    cost_ms: float
    output_margin: float = 0.0
    cost_margin: float = 0.0
    requests: int = 0

    @property
    def power(self) -> float:
        """Throughput per latency."""
        return self.output_tps / self.cost_ms

    @property
    def power_noise(self) -> float:
        """The half width of the interval of `power`, as a share of it."""
        return math.hypot(self.output_margin / self.output_tps, self.cost_margin / self.cost_ms)


@dataclass(frozen=True, slots=True)
class Knee:
    """The knee of several runs, or why they have none.

    Attributes:
        spot: Where it is; None where there is none.
        reason: Why there is none, of the latency as `it`; empty where there is one.
    """

    spot: Spot | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TooFewRequests:
    """Two runs that intervals are too wide to separate.

    Attributes:
        noise: The half width of the interval of their difference, as a share of the greater figure.
        needed: The requests per run that would separate a difference of `WIDE`, or the one that is seen.
    """

    names: tuple[str, str]
    noise: float
    needed: int

    def __str__(self) -> str:
        """A clause."""
        return (
            f"too few requests to separate {self.names[0]} and {self.names[1]} "
            f"(within {100 * self.noise:.0f} %): about {self.needed:,} per run are needed"
        )


def undecided(spots: Sequence[Spot]) -> TooFewRequests | None:
    """A run of the front and another that intervals are too wide to rank; None without such a pair."""
    line = front(spots)
    pairs = [
        pair
        for spot in line
        for other in spots
        if other not in line and _is_same(spot, other) and (pair := _too_few(spot, other)) is not None
    ]
    return max(pairs, key=lambda pair: pair.needed, default=None)


def _too_few(spot: Spot, other: Spot) -> TooFewRequests | None:
    figures = [
        ((spot.output_tps, other.output_tps), (spot.output_margin, other.output_margin)),
        ((spot.cost_ms, other.cost_ms), (spot.cost_margin, other.cost_margin)),
    ]
    noises = [math.hypot(*margins) / max(values) for values, margins in figures]
    if max(noises) <= WIDE:
        return None
    seen = [1 - min(values) / max(values) for values, _ in figures]
    times = max(noise / max(share, WIDE) for noise, share in zip(noises, seen, strict=True)) ** 2
    needed = max(1.0, max(spot.requests, other.requests) * times)
    step = 10 ** max(0, math.floor(math.log10(needed)) - 1)
    return TooFewRequests((spot.name, other.name), max(noises), math.ceil(needed / step) * step)


def clear_front(spots: Sequence[Spot]) -> list[Spot]:
    """The front, if intervals are narrow enough to have one."""
    return [] if undecided(spots) else front(spots)


def front(spots: Sequence[Spot]) -> list[Spot]:
    """The Pareto front, by falling throughput.

    A spot *beats* another one when it is better in one figure by more than the noise, and not worse in the
    other by more than the noise. The front is the set of spots of which none beats another one, and of which
    one beats any spot outside: the kernel of that relation (J. von Neumann, O. Morgenstern, Theory of Games
    and Economic Behavior, 1944), which for exact figures is the usual front. A spot that is beaten only by
    one outside of the front stays, so that a row of small steps does not hide a large one. Of several spots
    that noise does not distinguish, the first represents all.

    Args:
        spots: In the order of the load, the lowest first.
    """
    rest = list(spots)
    chosen_spots: list[Spot] = []
    while rest:
        chosen = next((spot for spot in rest if not any(_beats(other, spot) for other in rest)), rest[0])
        rest.remove(chosen)
        chosen_spots.append(chosen)
        rest = [spot for spot in rest if not (_beats(chosen, spot) or _is_same(chosen, spot))]
    return sorted(chosen_spots, key=lambda spot: (-spot.output_tps, -spot.cost_ms))


def knee(spots: Sequence[Spot]) -> Knee:
    """The spot of the front with the most power, if there is less of it on both sides.

    Power is throughput / latency (L. Kleinrock, "Power and deterministic rules of thumb for probabilistic
    problems in computer communications", ICC 1979; R. Jain, The Art of Computer Systems Performance Analysis,
    1991, section 3.3, calls its maximum the knee). Up to there throughput grows faster than latency, in
    proportion; beyond, latency grows faster. It needs no unit, no scale, and no second look at how far a
    sweep went, as the distance from a chord between its ends would.
    """
    line = front(spots)
    if len(spots) < _FEWEST:
        return Knee(None, f"{_FEWEST} valid runs are needed")
    if (pair := undecided(spots)) is not None:
        return Knee(None, str(pair))
    best = max(line, key=lambda spot: spot.power)
    weaker = [spot for spot in spots if _is_clear(spot.power, best.power, spot.power_noise, best.power_noise)]
    if not any(_costs_more(spot, best) for spot in spots):
        return Knee(None, f"no run has a clearly higher one than {best.name}: try more load")
    if not any(_costs_more(spot, best) for spot in weaker):
        return Knee(None, "throughput grows about as fast, up to the last run: try more load")
    if not any(_yields_more(best, spot) and not _costs_more(spot, best) for spot in weaker):
        return Knee(None, "latency grows faster than throughput from the first run on: try less load")
    return Knee(best)


def _beats(spot: Spot, other: Spot) -> bool:
    better = _yields_more(spot, other) or _costs_more(other, spot)
    worse = _yields_more(other, spot) or _costs_more(spot, other)
    return better and not worse


def _is_same(spot: Spot, other: Spot) -> bool:
    return not any(
        (
            _yields_more(spot, other),
            _yields_more(other, spot),
            _costs_more(spot, other),
            _costs_more(other, spot),
        )
    )


def _yields_more(spot: Spot, other: Spot) -> bool:
    noise = (spot.output_margin / spot.output_tps, other.output_margin / spot.output_tps)
    return _is_clear(other.output_tps, spot.output_tps, *noise)


def _costs_more(spot: Spot, other: Spot) -> bool:
    noise = (spot.cost_margin / spot.cost_ms, other.cost_margin / spot.cost_ms)
    return _is_clear(other.cost_ms, spot.cost_ms, *noise)


def _is_clear(less: float, more: float, *noise: float) -> bool:
    """Whether one figure is above another by more than the noise of both, a share of the greater one."""
    return more - less > max(math.hypot(*noise), LEAST_DIFFERENCE) * more
