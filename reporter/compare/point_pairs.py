"""Two series compared point by point, for renderers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from reporter.compare.comparison import Comparison


@dataclass(frozen=True, slots=True)
class PointComparison:
    """A point that two series have.

    Attributes:
        runs: Its run in the reference, and in the other series.
    """

    name: str
    runs: tuple[Path, Path]
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class SeriesComparison:
    """Two series, compared.

    Attributes:
        points: Those that are in both, at least one.
        left_out: The names of points that are in one of the series only.
        worst: The first point with the most severe result, which is the result of the series.
    """

    names: tuple[str, str]
    points: list[PointComparison]
    left_out: list[str]
    worst: PointComparison

    def to_dict(self) -> dict[str, Any]:
        """`points`: the name and the comparison of each, in plain types."""
        return {
            "points": [
                {"name": point.name, "comparison": point.comparison.to_dict()} for point in self.points
            ]
        }
