"""The Pareto front of throughput against a latency, and its knee, with and without noise."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.pareto_front import WIDE, Spot, clear_front, front, knee, undecided

if TYPE_CHECKING:
    from collections.abc import Sequence

# Powers, so that different figures differ by more than the least difference that counts.
SPOTS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 20)).map(
        lambda place: Spot(str(place), 1.1 ** place[0], 1.1 ** place[1])
    ),
    max_size=30,
)
SLOTS, TTFT_MS, USER_TPS = 16, 80.0, 100.0
ENOUGH = 1.5
"""Times the greatest error of a figure: then the margin of a difference is wider than any error of it."""
LOADS = (1, 2, 4, 8, 16, 32, 64)


def beats(spot: Spot, other: Spot) -> bool:
    """As good in both, better in one."""
    return (
        spot.output_tps >= other.output_tps
        and spot.cost_ms <= other.cost_ms
        and (spot.output_tps, spot.cost_ms) != (other.output_tps, other.cost_ms)
    )


def sweep(loads: Sequence[int], slots: int, *, noise: float = 0.0, seed: int = 0) -> list[Spot]:
    """A server with slots: its throughput ends there, and further requests wait."""
    random = Random(seed)  # noqa: S311 (noise, no secret)
    spots = []
    for load in loads:
        wait_ms = 200.0 * max(0, load / slots - 1)
        output, cost = USER_TPS * min(load, slots), TTFT_MS + wait_ms
        measured = (value * (1 + random.uniform(-noise, noise)) for value in (output, cost))
        margin = ENOUGH * noise
        spots.append(Spot(f"c{load}", *measured, margin * output, margin * cost))
    return spots


def names(spots: Sequence[Spot]) -> list[str]:
    """Of some spots."""
    return [spot.name for spot in spots]


@given(SPOTS)
def test_the_front_of_exact_figures_has_each_spot_that_none_beats(spots: list[Spot]) -> None:
    """It has each such place once, and no other."""
    line = front(spots)
    best = {
        (spot.output_tps, spot.cost_ms) for spot in spots if not any(beats(other, spot) for other in spots)
    }
    assert {(spot.output_tps, spot.cost_ms) for spot in line} == best
    assert len(line) == len(best)
    assert [spot.output_tps for spot in line] == sorted((spot.output_tps for spot in line), reverse=True)


@given(SPOTS, st.floats(0.0, 0.3))
def test_a_front_with_noise_is_never_empty(spots: list[Spot], noise: float) -> None:
    """It has a spot wherever there is any, and none of its spots beats another beyond the noise."""
    noisy = [Spot(spot.name, spot.output_tps, spot.cost_ms, noise * spot.output_tps, 0.0) for spot in spots]
    line = front(noisy)
    assert bool(line) == bool(spots)
    for spot in line:
        for other in line:
            assert spot is other or spot.output_tps - other.output_tps > 0 or other.cost_ms >= spot.cost_ms


@given(SPOTS, st.integers(-8, 8), st.integers(-8, 8))
def test_the_knee_knows_no_units(spots: list[Spot], wide: int, high: int) -> None:
    """It is the same spot whatever the figures are counted in (powers of two, which are exact)."""
    scaled = [Spot(spot.name, spot.output_tps * 2.0**high, spot.cost_ms * 2.0**wide) for spot in spots]
    bend, again = knee(spots).spot, knee(scaled).spot
    assert (bend and bend.name) == (again and again.name)
    assert bend is None or bend in front(spots)


@pytest.mark.parametrize("last", [32, 64, 256, 1024])
def test_the_knee_of_a_saturated_sweep_is_where_its_slots_are_full(last: int) -> None:
    """However far beyond the sweep goes, and with a gain of 2 % or none."""
    loads = [load for load in (1, 4, 16, 32, 64, 256, 1024) if load <= last]
    for gain in (1.0, 1.02):
        spots = sweep(loads, SLOTS)
        spots[3:] = [Spot(spot.name, spot.output_tps * gain, spot.cost_ms) for spot in spots[3:]]
        bend = knee(spots)
        assert bend.spot is not None, bend.reason
        assert bend.spot.name == "c16"


@pytest.mark.parametrize("seed", range(20))
def test_noise_moves_no_knee_and_adds_none(seed: int) -> None:
    """Of 8 %, on both figures: a saturated sweep has its knee, and one that is not saturated has none."""
    saturated = knee(sweep(LOADS, SLOTS, noise=0.08, seed=seed))
    assert saturated.spot is not None, saturated.reason
    assert saturated.spot.name == "c16"
    unsaturated = knee(sweep(LOADS, 1000, noise=0.08, seed=seed))
    assert unsaturated.spot is None
    assert "try more load" in unsaturated.reason


@pytest.mark.parametrize("seed", range(20))
def test_what_gains_less_than_the_noise_is_not_on_the_front(seed: int) -> None:
    """Twice the load for no throughput, and a low load whose latency is lower by chance."""
    assert names(front(sweep((1, 4, 16, 32), SLOTS, noise=0.05, seed=seed))) == ["c16"]


def test_small_steps_do_not_hide_a_large_one() -> None:
    """Each step is within the noise; both ends of the row are not."""
    spots = [Spot(f"c{n}", 100 + 4 * n, 50 * 1.2**n, 5.0) for n in range(6)]
    assert names(front(spots)) == ["c4", "c2", "c0"]


def test_what_is_within_the_noise_of_an_earlier_spot_is_not_shown_twice() -> None:
    """The first, with the lowest load, stands for all."""
    assert names(front([Spot("c1", 100, 50, 10, 1), Spot("c2", 101, 50, 10, 1)])) == ["c1"]


def test_reasons_for_no_knee() -> None:
    """Too few runs; no saturation yet; nothing but saturation."""
    assert knee([]).reason == knee(sweep((1, 32), SLOTS)).reason == "3 valid runs are needed"
    assert "than c16: try more load" in knee(sweep((1, 4, 16), SLOTS)).reason
    steady = [Spot(f"c{n}", 100 * n, 50 * n**1.003) for n in (1, 2, 3, 4)]
    assert "about as fast, up to the last run" in knee(steady).reason
    assert "from the first run on: try less load" in knee(sweep((16, 32, 64), SLOTS)).reason


def test_a_sweep_that_collapses_has_its_knee_before() -> None:
    """Beyond it there is less throughput, for more latency."""
    spots = [Spot("c1", 100, 80), Spot("c8", 700, 90), Spot("c16", 400, 900), Spot("c32", 90, 4000)]
    assert knee(spots).spot == spots[1]
    assert names(front(spots)) == ["c8", "c1"]


def test_wide_intervals_have_neither_front_nor_knee() -> None:
    """The number of requests is named that would separate the runs; with them, there is a front."""
    near = [Spot(f"c{load}", 1000.0 + load, 80.0, 150.0, 1.0, requests=50) for load in (1, 2, 4)]
    pair = undecided(near)
    assert pair is not None
    assert pair.noise == pytest.approx(0.212, abs=0.001)
    assert pair.needed == 230
    assert clear_front(near) == []
    bend = knee(near)
    assert bend.spot is None
    assert "too few requests to separate c1 and c" in bend.reason
    assert "about 230 per run are needed" in bend.reason
    enough = [replace(spot, output_margin=spot.output_margin * (50 / 230) ** 0.5) for spot in near]
    assert undecided(enough) is None
    assert clear_front(enough) == front(enough)


def test_a_clear_difference_is_a_front_whatever_the_noise() -> None:
    """Wide intervals matter only where they hide which run is better."""
    spots = [Spot("slow", 100.0, 80.0, 2 * WIDE * 100.0, requests=9), Spot("fast", 300.0, 80.0, 30.0)]
    assert undecided(spots) is None
    assert names(clear_front(spots)) == ["fast"]
