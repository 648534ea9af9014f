"""A histogram of lengths in a file: how often each length came, or each range of lengths.

    value,weight            low,high,weight
    16,5                    1,127,40
    512,20                  128,1023,50

Rows are those of a CSV, JSON or JSON Lines file (see `workloads.sources`), and have two columns or three.
Lengths are whole numbers from 1 on; weights are numbers from 0 on, counts as well as shares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workloads.columns import most_tokens, require_some, weight
from workloads.distributions import Histogram
from workloads.errors import ColumnError, DistributionError
from workloads.sources import FileRow, read_rows, read_stored

if TYPE_CHECKING:
    from pathlib import Path

MOST_BINS: Final = 1_000_000

_VALUES: Final = {"value", "weight"}
_RANGES: Final = {"low", "high", "weight"}


def read_histogram(path: Path) -> Histogram:
    """Read a histogram.

    Raises:
        SourceError, MalformedError: The file cannot be read; see `workloads.sources`.
        ColumnError: Its columns are others, or hold something else; all weights are 0.
        DistributionError: There are too many rows, or a range ends before it begins.
    """
    bins: list[tuple[int, int]] = []
    weights: list[float] = []
    for row in read_rows(path, read_stored(path)):
        if len(bins) == MOST_BINS:
            raise DistributionError(
                f"{row.place}: more than {MOST_BINS} rows; put lengths together in ranges"
            )
        bins.append(_bin(row))
        weights.append(weight(row, "weight"))
    require_some(weights, str(path), "weight")
    return Histogram(tuple(bins), tuple(weights))


def _bin(row: FileRow) -> tuple[int, int]:
    columns = set() if isinstance(row.value, str) else set(row.value)
    if columns == _VALUES:
        return _length(row, "value"), _length(row, "value")
    if columns != _RANGES:
        shown = ", ".join(map(repr, row.value)) if columns else "none"
        raise ColumnError(
            f"{row.place}: the columns of a histogram are value and weight, or low, high and weight; "
            f"here: {shown}"
        )
    low, high = _length(row, "low"), _length(row, "high")
    if low > high:
        raise DistributionError(f"{row.place}: low {low} is above high {high}")
    return low, high


def _length(row: FileRow, column: str) -> int:
    tokens = most_tokens(row, column)
    if tokens is None:
        raise ColumnError(f"{row.place}, column {column!r}: empty, where a length should be")
    return tokens
