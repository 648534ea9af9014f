"""What a comparison amounts to: the one value that its renderers take. `loadgen compare --json` prints it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from reporter.compare.comparable import Unlike
    from rulesets.metric_definition import Better

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
"""Of what `loadgen compare --json` prints; grows when a key changes its meaning or goes away."""


@dataclass(frozen=True, slots=True)
class Rules:
    """When a difference counts.

    Attributes:
        alpha: The chance of a false alarm that is accepted, of all deciding metrics together.
        min_effect: A difference of less than this share is none to fail by.
        min_points: The same of shares, as a share of 1: 0.01 is one point.
        strict: Whether runs that are not comparable make the comparison invalid.
    """

    alpha: float = 0.05
    min_effect: float = 0.03
    min_points: float = 0.01
    strict: bool = False

    @property
    def level(self) -> float:
        """Of every interval."""
        return round(1 - self.alpha, 12)


@dataclass(frozen=True, slots=True)
class Cell:
    """The figure of a side: of one run, or the median of several.

    Attributes:
        value: In the metric's unit.
        low: The lower end of its interval; None where none is known.
        high: The upper end.
        n: The requests behind it; of several runs, the runs.
        effective: How many independent requests would tell as much, where that was asked.
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
        finding: What there is to say.
        by: The difference, as a share of the reference's figure or, of shares, in points: 0.03 is 3 % or 3
            points; None where there is none to tell, as are the rest.
        low: The lower end of its interval, which is about this metric alone.
        high: The upper end.
        p: The chance of such a difference between two that do not differ.
        adjusted_p: The same with all in mind that decide: what is held against alpha. Of the others it is p.
        detectable: A difference that would have been found in four of five such comparisons.
        fails: Whether it is for the worse, significant, large enough, and of a metric that decides.
        needed: Of too few requests, how many each run would need.
        paired: Of a score, how many questions both runs were asked and were compared by.
        least: The least that the difference can be, where chunks were read late (docs/metrics.md); None where
            it is exact, or the end has no difference to tell.
        most: The most.
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
        metric: As it is written in a rule.
        unit: Of its figures; empty for shares.
        better: Which side of it is better.
        decides: Whether a comparison can fail by it.
        in_points: Whether differences are points of a share.
        figures: One a side, the reference first; None where a side has none.
        changes: One a side but the reference.
    """

    metric: str
    unit: str
    better: Better
    decides: bool
    in_points: bool
    figures: tuple[Cell | None, ...]
    changes: tuple[MetricChange, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """A side of a comparison.

    Attributes:
        name: As it was named on the command line.
        runs: The names of its runs.
        label: What tables call it: its model and dataset where these tell the sides apart, else its folder.
        requests: How many of its requests completed; None where nothing says so.
    """

    name: str
    runs: tuple[str, ...]
    label: str = ""
    requests: int | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """All of it.

    Attributes:
        status: FAIL where a change fails; INVALID where runs are not comparable and that was to be strict;
            INCONCLUSIVE where nothing could be tested, so few runs can never differ, or the stamps of a
            client that read late are too uncertain to tell.
        reasons: Why it is not PASS.
        test: `within_runs` for one run a side, else `mann_whitney`.
        rules: When a difference counts.
        sides: The first is the reference.
        rows: The metrics that decide first.
        unlike: What makes them hard to compare.
        notes: What a reader must know to read it.
        schema_version: See `SCHEMA_VERSION`.
    """

    status: Status
    reasons: tuple[str, ...]
    test: Literal["within_runs", "mann_whitney"]
    rules: Rules
    sides: tuple[Told, ...]
    rows: tuple[ComparisonRow, ...]
    unlike: tuple[Unlike, ...]
    notes: tuple[str, ...]
    schema_version: int = SCHEMA_VERSION

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain JSON-able values."""
        return asdict(self)
