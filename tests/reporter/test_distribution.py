"""Summaries that DuckDB computes, compared with plain Python."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from statistics import mean, stdev
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.distribution import summaries, weighted_summary
from reporter.percentiles import position
from rulesets.definitions import PERCENTILES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.report import Summary
    from rulesets.definitions import PercentileMethod

METHODS = st.sampled_from(["linear", "lower", "loadgen_floor", "nearest_rank"])
FIGURES = st.floats(0, 1e6).map(lambda value: round(value, 6))


@cache
def database() -> duckdb.DuckDBPyConnection:
    """One for all columns: opening it takes longer than most summaries."""
    return duckdb.connect(config={"threads": 1})


def summarize(method: PercentileMethod, **columns: Sequence[float | None]) -> Summary | None:
    """The summary that DuckDB makes of a column `value`, which may have weights."""
    database().register("figures", pa.table(columns))
    return (
        weighted_summary(database(), "FROM figures", method)
        if "weight" in columns
        else summaries(Database(database(), 1), "FROM figures", ["value"], method)["value"]
    )


@dataclass
class Database:
    """An opened log, as far as summaries know it."""

    connection: duckdb.DuckDBPyConnection
    requests: int

    def execute(self, query: str) -> duckdb.DuckDBPyConnection:
        """Run a query."""
        return self.connection.execute(query)

    def with_room(self) -> Database:
        """A further connection."""
        return Database(self.connection.cursor(), self.requests)


def check(computed: Summary | None, values: list[float], method: PercentileMethod) -> None:
    """Compare a summary with one of the values in plain Python."""
    assert computed is not None
    assert (computed.count, computed.min, computed.max) == (len(values), min(values), max(values))
    exact = [Fraction(value) for value in values]
    assert computed.mean == pytest.approx(float(mean(exact)), rel=1e-12)
    assert computed.std == (
        None if len(values) == 1 else pytest.approx(float(stdev(exact)), rel=1e-9, abs=1e-9)
    )
    ordered = sorted(values)
    for name, p in PERCENTILES.items():
        place = position(method, len(values), p)
        between = place.between(ordered[place.below], ordered[place.above])
        # DuckDB interpolates in another order of operations; a method without is exact to the last bit.
        assert getattr(computed, name) == (
            pytest.approx(between, rel=1e-12) if method == "linear" else between
        )


@given(values=st.lists(FIGURES, min_size=1, max_size=200), method=METHODS)
def test_a_summary_is_that_of_its_values(values: list[float], method: PercentileMethod) -> None:
    """Every figure equals the one that plain Python finds; ranks to the last bit."""
    check(summarize(method, value=values), values, method)


COLUMNS = {
    "first": [0.0, 1.0, 3.0, 4.0],
    "copied": [0.0, 1.0, 3.0, 4.0],
    "like_the_first": [0.0, 2.0, 2.0, 4.0],
    "constant": [7.0, 7.0, 7.0, 7.0],
    "constant_too": [7.0, 7.0, 7.0, 7.0],
    "partly_copied": [None, 1.0, 3.0, 4.0],
    "shuffled": [4.0, 3.0, 1.0, 0.0],
    "empty": [None, None, None, None],
}


@pytest.mark.parametrize("names", [list(COLUMNS), ["constant", "constant_too"]])
@pytest.mark.parametrize("at_once", [1, 8, 1000])
def test_columns_may_be_alike(monkeypatch: pytest.MonkeyPatch, at_once: int, names: list[str]) -> None:
    """A column with the totals of another one has its own percentiles; however many are sorted at once."""
    monkeypatch.setattr("reporter.distribution._VALUES_AT_ONCE", at_once)
    log = Database(duckdb.connect(config={"threads": 1}), len(COLUMNS["first"]))
    log.connection.register("figures", pa.table(COLUMNS))
    log.execute("CREATE TABLE columns AS FROM figures")
    computed = summaries(log, "FROM columns", names, "linear")
    assert list(computed) == names
    for name, summary in computed.items():
        values = [value for value in COLUMNS[name] if value is not None]
        if values:
            check(summary, values, "linear")
        else:
            assert summary is None


@given(values=st.lists(st.tuples(FIGURES, st.integers(1, 9)), min_size=1, max_size=40), method=METHODS)
def test_a_weight_repeats_its_value(values: list[tuple[float, int]], method: PercentileMethod) -> None:
    """A weighted summary is that of the values, each written down as often as its weight says."""
    computed = summarize(
        method, value=[value for value, _ in values], weight=[weight for _, weight in values]
    )
    check(computed, [value for value, weight in values for _ in range(weight)], method)


@pytest.mark.parametrize("count", [9_999, 100_000, 131_072])
def test_ranks_are_exact_in_long_columns(count: int) -> None:
    """No rounding moves a rank, however many values there are."""
    computed = summarize("nearest_rank", value=[float(n) for n in range(count)])
    assert computed is not None
    assert [computed.p50, computed.p90, computed.p95, computed.p99, computed.p999] == [
        position("nearest_rank", count, p).below for p in PERCENTILES.values()
    ]


def test_no_values_have_no_summary() -> None:
    """NULLs do not count as values, and without values there are no figures."""
    assert summarize("linear", value=[None, None]) is None
    assert summarize("linear", value=[None, None], weight=[1, 2]) is None


def test_nulls_are_left_out() -> None:
    """A request without the figure does not count in its distribution."""
    computed = summarize("linear", value=[None, 2.0, None])
    assert computed is not None
    assert (computed.count, computed.mean, computed.std) == (1, 2.0, None)


def test_columns_are_summarized_each_for_itself() -> None:
    """Of other lengths, and one without values among them."""
    columns = {"few": [None, 2.0, None], "none": pa.nulls(3, pa.float64()), "many": [3.0, 1.0, 2.0]}
    database().register("figures", pa.table(columns))
    computed = summaries(Database(database(), 3), "FROM figures", list(columns), "nearest_rank")
    assert list(computed) == list(columns)
    assert computed["none"] is None
    check(computed["few"], [2.0], "nearest_rank")
    check(computed["many"], [1.0, 2.0, 3.0], "nearest_rank")
