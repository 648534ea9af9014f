"""Percentiles by four methods that are all called percentile: which one was used is part of the figure.

On the integers 1 to 100 the 99th percentile is 99.01, 99, 100 or 99, depending on the method.
Ranks count from 0 in ascending order; p is an exact fraction, so that no rounding moves a rank.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from lazy_dataclasses import dataclass
from reporter.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rulesets.definitions import PercentileMethod

_WHOLE: Final = 100
_PERCENT: Final = re.compile(r"\d{1,2}(\.\d{1,6})?")


def percentiles_named(text: str) -> dict[str, Fraction]:
    """Read percentiles as a user writes them: `50,75,99.9`.

    Returns:
        By their names in ascending order, as fractions of 1: `p50`, `p75`, and `p999` of 99.9.

    Raises:
        OptionError: One of them is not a number above 0 and below 100.
    """
    chosen = {}
    for word in (word.strip().removeprefix("p") for word in text.split(",")):
        if not _PERCENT.fullmatch(word) or not 0 < Fraction(word) < _WHOLE:
            raise OptionError(
                f"{word!r} is not a percentile; write numbers above 0 and below 100: 50,90,99.9"
            )
        whole, _, decimals = word.partition(".")
        chosen[f"p{int(whole):02}{decimals.rstrip('0')}"] = Fraction(word) / _WHOLE
    return dict(sorted(chosen.items(), key=lambda item: item[1]))


def share_named(name: str) -> Fraction:
    """The fraction of 1 of a name by `percentiles_named`."""
    return Fraction(f"{name[1:3]}.{name[3:] or 0}") / _WHOLE


@dataclass(frozen=True, slots=True)
class Position:
    """Where a percentile lies: a `fraction` of the way from the value of rank `below` to that of `above`."""

    below: int
    above: int
    fraction: float = 0.0

    def between(self, below: float, above: float) -> float:
        """The percentile, from the values of the two ranks; never outside them."""
        return below if below == above else min(above, below + (above - below) * self.fraction)


@lru_cache(maxsize=4096)
def position(method: PercentileMethod, count: int, p: Fraction) -> Position:
    """The position of the percentile p of `count` values."""
    return _METHODS[method](count, p)


def method_named(name: str) -> PercentileMethod:
    """Make sure that there is a method of that name.

    Raises:
        OptionError: No method has this name.
    """
    if name not in _METHODS:
        raise OptionError(f"unknown percentile method {name!r}; choose one of {', '.join(_METHODS)}")
    return cast("PercentileMethod", name)


def _linear(count: int, p: Fraction) -> Position:
    """(n - 1) * p, interpolated: Hyndman and Fan's type 7, the default of numpy, vLLM and k6."""
    rank = (count - 1) * p
    below = math.floor(rank)
    return Position(below, math.ceil(rank), float(rank - below))


def _lower(count: int, p: Fraction) -> Position:
    """floor((n - 1) * p): numpy's method `lower`, the value below where `linear` interpolates."""
    rank = math.floor((count - 1) * p)
    return Position(rank, rank)


def _loadgen_floor(count: int, p: Fraction) -> Position:
    """floor(n * p): MLPerf LoadGen, results.cc, PerformanceSummary::ProcessLatencies."""
    rank = math.floor(count * p)
    return Position(rank, rank)


def _nearest_rank(count: int, p: Fraction) -> Position:
    """ceil(n * p) counted from 1: the smallest value that at least the share p does not exceed."""
    rank = max(math.ceil(count * p), 1) - 1
    return Position(rank, rank)


_METHODS: Final[Mapping[str, Callable[[int, Fraction], Position]]] = {
    "linear": _linear,
    "lower": _lower,
    "loadgen_floor": _loadgen_floor,
    "nearest_rank": _nearest_rank,
}


def percentile_sql(method: str, p: Fraction, column: str = "ms", where: str = "") -> str:
    """The percentile p of a column as SQL, by the same ranks; NULLs are left out."""
    if method == "linear":
        return f"quantile_cont({column}, {_share(p)}){_filter(where)}"
    return f"{_ranked(column, where)}[{_rank_sql(method, p, _count(column, where))} + 1]"


def percentiles_sql(method: str, shares: Iterable[Fraction], column: str) -> str:
    """Several percentiles of a column as an SQL list, for which the values are sorted once."""
    if method == "linear":
        return f"quantile_cont({column}, [{', '.join(map(_share, shares))}])"
    ranks = ", ".join(f"{_rank_sql(method, p, _count(column))} + 1" for p in shares)
    return f"list_select({_ranked(column)}, [{ranks}])"


def weighted_percentiles_sql(method: str, shares: Iterable[Fraction]) -> str:
    """Those of `value` as an SQL list, where `n` values are counted, `upto` each of them."""
    return f"[{', '.join(_weighted(method, p) for p in shares)}]"


def _weighted(method: str, p: Fraction) -> str:
    if method != "linear":
        return f"min(value) FILTER (upto > {_rank_sql(method, p, 'n')})"
    above, below = p.numerator, p.denominator
    low = f"min(value) FILTER (upto > (n - 1) * {above} // {below})"
    high = f"min(value) FILTER (upto > ((n - 1) * {above} + {below - 1}) // {below})"
    return f"{low} + ({high} - {low}) * ((n - 1) * {above} % {below} / {below})"


def _rank_sql(method: str, p: Fraction, n: str) -> str:
    """The rank of a percentile of `n` values, from 0."""
    above, below = p.numerator, p.denominator
    return {
        "lower": f"({n} - 1) * {above} // {below}",
        "loadgen_floor": f"{n} * {above} // {below}",
        "nearest_rank": f"greatest(({n} * {above} + {below - 1}) // {below}, 1) - 1",
    }[method]


def _ranked(column: str, where: str = "") -> str:
    return f"list_sort(list({column}){_filter(f'{where} AND ' if where else '', f'({column}) IS NOT NULL')})"


def _count(column: str, where: str = "") -> str:
    return f"count({column}){_filter(where)}"


def _filter(*conditions: str) -> str:
    return f" FILTER ({''.join(conditions)})" if any(conditions) else ""


def _share(p: Fraction) -> str:
    return f"{float(p):.10g}"
