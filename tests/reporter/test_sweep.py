"""The Pareto front of throughput against interactivity, its knee, and the row of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from reporter.sweep import Spot, figures, front, knee

if TYPE_CHECKING:
    from collections.abc import Callable

SPOTS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 20)).map(lambda at: Spot(str(at), *map(float, at))),
    max_size=30,
)


def beats(one: Spot, other: Spot) -> bool:
    """As good in both, better in one."""
    return (
        one.output_tps >= other.output_tps
        and one.user_tps >= other.user_tps
        and (one.output_tps, one.user_tps) != (other.output_tps, other.user_tps)
    )


@given(SPOTS)
def test_the_front_is_what_nothing_beats(spots: list[Spot]) -> None:
    """Every spot that none beats is on it, by place, and no other one."""
    line = front(spots)
    best = {(one.output_tps, one.user_tps) for one in spots if not any(beats(other, one) for other in spots)}
    assert {(one.output_tps, one.user_tps) for one in line} == best
    assert len(line) == len(best)
    assert [one.user_tps for one in line] == sorted(one.user_tps for one in line)


@given(SPOTS, st.floats(0.01, 100), st.floats(0.01, 100))
def test_the_knee_is_on_the_front_and_knows_no_units(spots: list[Spot], wide: float, high: float) -> None:
    """It is the same spot, or as far outside, whatever the figures are counted in."""
    bend = knee(spots)
    scaled = knee([Spot(one.name, one.output_tps * high, one.user_tps * wide) for one in spots])
    assert (bend is None) == (scaled is None) or len(front(spots)) > 2
    if bend is not None:
        assert bend in front(spots)[1:-1]


def test_the_knee_is_where_the_front_bends() -> None:
    """Nearly all of the throughput, and nearly all of the interactivity."""
    spots = [Spot("c1", 100, 100), Spot("c4", 380, 96), Spot("c8", 700, 90), Spot("c64", 800, 20)]
    assert knee(spots) == spots[2]


def test_a_straight_front_has_no_knee() -> None:
    """Nor has one of two spots, nor one that bends inwards."""
    assert knee([Spot("a", 3, 1), Spot("b", 2, 2), Spot("c", 1, 3)]) is None
    assert knee([Spot("a", 3, 1), Spot("c", 1, 3)]) is None
    assert knee([Spot("a", 9, 1), Spot("b", 2, 2), Spot("c", 1, 9)]) is None


def test_a_row_has_the_figures_of_its_run(a_run: Callable[..., Any]) -> None:
    """Interactivity is 1000 / the median TPOT; a run without any has none."""
    run = a_run().answers(50, 60, 70, usage=(5, 3)).answers(50, 70, 90, usage=(5, 3))
    row = figures(run.fails().stops(100).ends().report())
    assert row.tpot_p50_ms is not None
    assert row.user_tps == 1000 / row.tpot_p50_ms
    assert (row.requests, row.failed, row.error_rate, row.overloaded) == (3, 1, 1 / 3, False)
    nothing = figures(a_run().fails().stops(100).ends().report())
    assert (nothing.user_tps, nothing.ttft_p50_ms, nothing.error_rate) == (None, None, 1.0)
