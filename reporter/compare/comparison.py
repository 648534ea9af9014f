"""The result of a comparison, for renderers and for `loadgen compare --json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import asdict, dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from reporter.compare.comparable import Mismatch
    from rulesets.quantity import Better

Status = Literal["PASS", "FAIL", "INVALID", "INCONCLUSIVE"]
Finding = Literal[
    "better",
    "worse",
    "different",
    "no significant difference",
    "too few runs",
    "too few requests",
    "not tested",
    "in doubt",
]

SCHEMA_VERSION: Final = 1
"""The version of `loadgen compare --json`; grows when a key changes its meaning or is removed."""


@dataclass(frozen=True, slots=True)
class Rules:
    """When a difference counts.

    Attributes:
        alpha: The accepted chance of a false alarm, for all deciding metrics together.
        min_effect: A smaller difference, as a share, does not fail.
        min_points: The same for shares, as a share of 1: 0.01 is one point.
        strict: Whether runs that are not comparable make the comparison invalid.
    """

    alpha: float = 0.05
    min_effect: float = 0.03
    min_points: float = 0.01
    strict: bool = False

    @property
    def level(self) -> float:
        """The confidence of every interval."""
        return round(1 - self.alpha, 12)


@dataclass(frozen=True, slots=True)
class Cell:
    """The figure of a side: of one run, or the median of several.

    Attributes:
        value: In the metric's unit.
        low: The lower end of its interval; None where none is known.
        high: The upper end.
        n: The requests behind it; of several runs, the runs.
        effective: The equivalent number of independent requests, if it was computed.
        runs: The figure of each run.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    effective: int | None
    runs: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class MetricChange:
    """How a side differs from the reference in a metric.

    Attributes:
        side: Its name.
        finding: The result in words.
        by: The difference, as a share of the reference's figure or, of shares, in points: 0.03 is 3 % or 3
            points; None where it is unknown, like the rest.
        low: The lower end of its interval, which is about this metric alone.
        high: The upper end.
        p: The chance of such a difference between two that do not differ.
        adjusted_p: p adjusted for all deciding metrics, which is compared with alpha. For the others it is p.
        detectable: A difference that four of five such comparisons would find.
        fails: Whether it is for the worse, significant, large enough, and of a metric that decides.
        needed: With too few requests, how many each run would need.
        paired: Of a score, the number of questions of both runs that it was compared by.
        least: The least that the difference can be, where chunks were read late (docs/metrics.md); None where
            it is exact, or the end is unknown.
        most: The most that it can be.
    """

    side: str
    finding: Finding
    by: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    adjusted_p: float | None = None
    detectable: float | None = None
    fails: bool = False
    needed: int | None = None
    paired: int | None = None
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One metric, side by side.

    Attributes:
        unit: Of its figures; empty for shares.
        decides: Whether a comparison can fail by it.
        in_points: Whether differences are points of a share.
        figures: One per side, the reference first; None where a side has none.
        changes: One per side except the reference.
    """

    metric: str
    unit: str
    better: Better
    decides: bool
    in_points: bool
    figures: tuple[Cell | None, ...]
    changes: tuple[MetricChange, ...]


@dataclass(frozen=True, slots=True)
class SideSummary:
    """A side of a comparison.

    Attributes:
        label: Its name in tables: its model and dataset where these differ between sides, else its folder.
        requests: How many of its requests completed; None where that is unknown.
        sessions: How many of its sessions completed; None without sessions.
    """

    name: str
    runs: tuple[str, ...]
    label: str = ""
    requests: int | None = None
    sessions: int | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison.

    Attributes:
        status: FAIL where a change fails; INVALID where runs are not comparable under `strict`;
            INCONCLUSIVE where a deciding metric is not tested, there are too few runs, or late stamps of the
            client or a wide interval leave it open.
        reasons: Why it is not PASS.
        test: `within_runs` for one run a side, else `mann_whitney`.
        sides: The first is the reference.
        rows: The metrics that decide first.
        unlike: The differences that make them hard to compare.
    """

    status: Status
    reasons: tuple[str, ...]
    test: Literal["within_runs", "mann_whitney"]
    rules: Rules
    sides: tuple[SideSummary, ...]
    rows: tuple[ComparisonRow, ...]
    unlike: tuple[Mismatch, ...]
    notes: tuple[str, ...]
    schema_version: int = SCHEMA_VERSION

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain JSON-able values."""
        return asdict(self)


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
