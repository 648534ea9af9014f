"""The evidence that rules need: figures and their samples. A log and a report implement the protocol.

Latencies are in ms, lengths in tokens, rates in req/s or tok/s, shares between 0 and 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from rulesets.definitions import Definitions
    from rulesets.target import Condition, Op

Where = tuple[tuple[str, str], ...]
"""Which requests a rule is about: (tag, value) pairs; `endpoint` and `turn` are tags too. Empty for all."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate over the window that the definitions name.

    Attributes:
        value: None where nothing was counted.
        n: How many requests completed.
        blocks: The rates of the equal parts that the window was cut into; empty where it is too short.
        series: The same of shorter parts, in which few requests may have completed, or none.
    """

    value: float | None
    n: int
    blocks: tuple[float, ...] = ()
    series: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Good:
    """How many requests met every condition of a goodput.

    Attributes:
        good: Those that did.
        ended: All that completed, failed or were given up: only what completed can be good.
        duration_s: The window.
        in_window: How many of the good ones completed inside the window, and so count in a rate; None where
            that is unknown: then all count.
        blocks: For equal spans of time, by when requests were issued, how many were good, and how many ended;
            empty where too few for two.
    """

    good: int
    ended: int
    duration_s: float | None
    in_window: int | None = None
    blocks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ScoreInterval:
    """The interval of a score, from the report.

    Attributes:
        level: Its confidence, such as 0.95.
        method: `wilson`, `normal` or `clustered`.
    """

    low: float
    high: float
    level: float
    method: str


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A score of a run.

    Attributes:
        value: As its benchmark states it; None where there is none.
        standard_error: In the same unit, clustered where samples repeat; None where it is not known.
        effective: As how many independent samples these count, where they repeat; None where they do not, 0
            where it is not a mean of samples.
        unscored: How many samples have no score yet, and count as wrong: then it meets nothing.
        best: What it would be were all of these right; None where that is unknown.
        repeats: How often each question was asked at most.
        headline: Whether it is a main figure of its benchmark, unlike, say, the length of answers.
        task: The benchmark that was scored, as it was asked for; empty where it is not known.
        unit: A `share` between 0 and 1, or a plain `number`.
    """

    value: float | None
    n: int
    standard_error: float | None = None
    effective: int | None = None
    unscored: int = 0
    best: float | None = None
    remedy: str = ""
    repeats: int = 1
    headline: bool = True
    # Where a score comes from; two scores of one value are equal wherever they come from.
    task: str = field(default="", compare=False)
    figure: str = field(default="", compare=False)
    own: bool = field(default=True, compare=False)
    unit: Literal["share", "number"] = field(default="share", compare=False)
    better: Literal["higher", "lower"] = field(default="higher", compare=False)
    interval: ScoreInterval | None = field(default=None, compare=False)


class MetricValues(Protocol):
    """The values of one metric over the requests that a rule is about.

    Where failed requests count as violations they are among the values, each as infinity.
    """

    @property
    def count(self) -> int:
        """How many values there are."""
        ...

    def mean(self) -> float | None:
        """The mean of those that are finite; None without any."""
        ...

    def percentile(self, p: Fraction) -> float | None:
        """The percentile p by the method of the definitions; None without values."""
        ...

    def at(self, rank: int) -> float:
        """The value of a rank in ascending order, from 0."""
        ...

    def unmet(self, op: Op, bound: float) -> int:
        """How many do not meet a bound."""
        ...

    def block_means(self) -> tuple[float, ...]:
        """The means of equal spans of time, by when requests were issued; empty where too few for two."""
        ...

    def in_order(self, edge: float | None = None) -> Sequence[tuple[int, float]]:
        """The count and sum of finite values, request by request in the order of issue.

        Of many requests, of equal spans of time instead; some may be empty.

        Args:
            edge: Where it is given, the second number is how many values are at most this, and infinite
                values count too.
        """
        ...


class Evidence(Protocol):
    """A run as seen by rules, computed by the rules' definitions."""

    @property
    def report(self) -> Mapping[str, Any]:
        """The report as plain values, keyed as report.json is."""
        ...

    @property
    def definitions(self) -> Definitions:
        """The definitions behind the figures."""
        ...

    @property
    def ends(self) -> Sequence[Evidence]:
        """The run with all values at the minimum and at the maximum; empty if all values are exact."""
        ...

    def sample(self, metric: str, where: Where) -> MetricValues:
        """The values of a latency or a length."""
        ...

    def rate(self, metric: str, where: Where) -> Rate:
        """A throughput."""
        ...

    def counts(self, where: Where) -> Mapping[str, int]:
        """Requests by outcome: issued, completed, failed, cancelled."""
        ...

    def good(self, conditions: Sequence[Condition], where: Where) -> Good:
        """How many met every condition at once."""
        ...

    def accuracy(self, name: str) -> Accuracy | None:
        """A score by name; None where the run lacks the score."""
        ...
