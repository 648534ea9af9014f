"""Simulated runs as evidence: what studies of limits and comparisons judge, without a server."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reporter.compare.side import Side, look
from reporter.log.settings import LogHead
from rulesets.definitions import Definitions
from rulesets.evidence import Rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from fractions import Fraction
    from random import Random

    from reporter.compare.compared_metric import ComparedMetric

FEWEST_SPANS: Final = 8


@dataclass
class Values:
    """The values of one metric in the order of issue; as `rulesets.evidence.MetricValues`."""

    values: Sequence[float]
    ordered: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.ordered = sorted(self.values)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.values)

    def mean(self) -> float:
        """The mean of the values."""
        return math.fsum(self.values) / len(self.values)

    def percentile(self, p: Fraction) -> float:
        """By linear interpolation."""
        place = (self.count - 1) * p
        below = math.floor(place)
        above = min(below + 1, self.count - 1)
        return self.ordered[below] + float(place - below) * (self.ordered[above] - self.ordered[below])

    def at(self, rank: int) -> float:
        """The value of a rank."""
        return self.ordered[rank]

    def in_order(self, edge: float | None = None) -> list[tuple[int, float]]:
        """One by one, the values, or whether each is at most an edge."""
        return [(1, value if edge is None else float(value <= edge)) for value in self.values]


@dataclass
class Simulated:
    """A run in which no request failed, as evidence.

    Attributes:
        samples: The values of each metric, in the order of issue.
        ends: When each request completed.
        tokens: The output tokens of each.
    """

    samples: Mapping[str, Sequence[float]]
    completed: Sequence[float]
    tokens: int = 1
    report: dict[str, Any] = field(default_factory=lambda: {"run": {"ended": "completed"}})
    definitions: Definitions = field(default_factory=Definitions)
    ends: tuple[Simulated, ...] = ()

    def sample(self, name: str, where: object) -> Values:
        """The values of a metric."""
        del where
        return Values(self.samples[name])

    def counts(self, where: object) -> dict[str, int]:
        """All completed."""
        del where
        return {"issued": len(self.completed), "completed": len(self.completed), "failed": 0, "cancelled": 0}

    def rate(self, name: str, where: object) -> Rate:
        """The rates, in req/s or tok/s, over equal spans of time as `reporter.measured.rates` cuts them."""
        del where
        ends = sorted(self.completed)
        spans = 32
        while spans > FEWEST_SPANS and len(ends) < 5 * spans:
            spans //= 2
        counts = [0] * spans
        for end in ends:
            counts[min(spans - 1, int(end / ends[-1] * spans))] += 1
        scale = (1 if name == "qps" else self.tokens) / ends[-1]
        return Rate(len(ends) * scale, len(ends), (), tuple(count * spans * scale for count in counts))


def normals(random: Random, n: int, likeness: float) -> Iterator[float]:
    """Standard normal values whose autocorrelation falls by a factor from lag to lag."""
    state = random.gauss()
    for _ in range(n):
        yield state
        state = likeness * state + math.sqrt(1 - likeness**2) * random.gauss()


def lognormal(random: Random, n: int, likeness: float, sigma: float) -> list[float]:
    """Values with a median of 1; the autocorrelation is that of their logarithms."""
    return [math.exp(sigma * state) for state in normals(random, n, likeness)]


def closed_loop(service: Sequence[float], users: int, slots: int) -> list[tuple[float, float, float]]:
    """When each request is issued, begun and completed; a server with N slots takes the first in line."""
    free, ready = [0.0] * slots, [0.0] * users
    requests = []
    for time in service:
        issued = heapq.heappop(ready)
        begun = max(issued, heapq.heappop(free))
        heapq.heappush(free, begun + time)
        heapq.heappush(ready, begun + time)
        requests.append((issued, begun, begun + time))
    return requests


def side_of(name: str, runs: Sequence[Simulated], metrics: Sequence[ComparedMetric], level: float) -> Side:
    """A side of a comparison."""
    return Side(
        name,
        tuple(
            look(f"{name}{number}", run, LogHead(), metrics, level)  # type: ignore[arg-type]
            for number, run in enumerate(runs)
        ),
    )
