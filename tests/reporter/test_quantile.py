"""Percentiles by four methods."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.errors import OptionError
from reporter.percentiles import Position, method_named, percentile_sql, position
from rulesets.definitions import PERCENTILES

METHODS = ("linear", "lower", "loadgen_floor", "nearest_rank")


def percentile(values: list[float], method: str, p: Fraction) -> float:
    """The percentile of values that are at hand."""
    place = position(method, len(values), p)
    return place.between(sorted(values)[place.below], sorted(values)[place.above])


@pytest.mark.parametrize(
    ("p", "loadgen_floor", "lower", "linear", "nearest_rank"),
    [
        (".50", 51, 50, 50.5, 50),
        (".90", 91, 90, 90.1, 90),
        (".95", 96, 95, 95.05, 95),
        (".97", 98, 97, 97.03, 97),
        (".99", 100, 99, 99.01, 99),
    ],
)
def test_the_integers_to_a_hundred(
    p: str, loadgen_floor: float, lower: float, linear: float, nearest_rank: float
) -> None:
    """On 1 to 100 the four methods differ as their definitions say."""
    values = [float(n) for n in range(1, 101)]
    computed = {method: percentile(values, method, Fraction(p)) for method in METHODS}
    assert computed.pop("linear") == pytest.approx(linear, abs=1e-12)
    assert computed == {"lower": lower, "loadgen_floor": loadgen_floor, "nearest_rank": nearest_rank}


@pytest.mark.parametrize("method", METHODS)
def test_a_single_value_is_every_percentile(method: str) -> None:
    """With one value there is nothing to choose."""
    assert {position(method, 1, p) for p in PERCENTILES.values()} == {Position(0, 0)}


@given(
    values=st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=50),
    method=st.sampled_from(METHODS),
    p=st.fractions(0, Fraction(999, 1000)),
    q=st.fractions(0, Fraction(999, 1000)),
)
def test_percentiles_are_bounded_and_monotone(
    values: list[float], method: str, p: Fraction, q: Fraction
) -> None:
    """A percentile lies within the values, and a higher one is not less."""
    low, high = (percentile(values, method, fraction) for fraction in sorted((p, q)))
    assert min(values) <= low <= high <= max(values)


@given(
    values=st.lists(st.integers(-1000, 1000), min_size=1, max_size=50),
    p=st.fractions(Fraction(1, 1000), Fraction(999, 1000)),
)
def test_nearest_rank_is_the_least_value_that_enough_do_not_exceed(values: list[int], p: Fraction) -> None:
    """The share p of the values is at or below the nearest rank, and below any lesser value it is not."""
    computed = percentile(values, "nearest_rank", p)
    reached = [value for value in values if Fraction(sum(v <= value for v in values), len(values)) >= p]
    assert computed == min(reached)


def test_no_method_of_that_name() -> None:
    """An unknown method is refused, with the valid ones."""
    with pytest.raises(OptionError, match=r"'p2'; choose one of linear, lower, loadgen_floor, nearest_rank"):
        method_named("p2")


@pytest.mark.parametrize("method", METHODS)
def test_a_percentile_in_sql_has_the_same_rank(method: str) -> None:
    """Also far in the tail, where a share has more decimals than a percentile usually has."""
    shares = (*PERCENTILES.values(), Fraction("0.99999"), Fraction("0.9999999"))
    columns = ", ".join(percentile_sql(method, p, "i::DOUBLE") for p in shares)
    with duckdb.connect() as connection:
        for count in (1, 2, 100, 1001, 200_000):
            (row,) = connection.execute(f"SELECT {columns} FROM range({count}) AS t(i)").fetchall()  # noqa: S608
            places = [position(method_named(method), count, p) for p in shares]
            assert row == pytest.approx([place.between(place.below, place.above) for place in places])
