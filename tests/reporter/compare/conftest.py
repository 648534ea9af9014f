"""Runs made of numbers alone: what a comparison asks of evidence, from values in the order of time."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pytest

from reporter.compare.compared_metric import metric
from reporter.compare.side import Side, look
from reporter.log.settings import LogHead
from rulesets.definitions import Definitions
from rulesets.evidence import Accuracy, Good, Rate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

ASKED = ("output_tps", "ttft:mean", "ttft:p(50)", "ttft:p(99)", "error", "output_tokens:mean")


@dataclass
class Values:
    """The values of one metric, in the order of time."""

    values: Sequence[float]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.values)

    def mean(self) -> float | None:
        """Their mean."""
        return fmean(self.values) if self.values else None

    def percentile(self, p: Fraction) -> float | None:
        """The value of the rank below."""
        return self.at(int((self.count - 1) * p)) if self.values else None

    def at(self, rank: int) -> float:
        """The value of a rank."""
        return sorted(self.values)[rank]

    def unmet(self, op: str, bound: float) -> int:
        """How many are above a bound."""
        assert op in {"<", "<="}
        return sum(value > bound for value in self.values)

    def in_order(self, edge: float | None = None) -> list[tuple[int, float]]:
        """One by one, in the order of time."""
        return [(1, value if edge is None else float(value <= edge)) for value in self.values]


@dataclass
class Numbers:
    """A run made of numbers."""

    samples: dict[str, list[float]] = field(default_factory=dict)
    rates: dict[str, Sequence[float]] = field(default_factory=dict)
    failed: int = 0
    run: dict[str, Any] = field(default_factory=lambda: {"ended": "completed", "model": "m"})
    valid: bool = True
    moments: list[dict[str, Any]] = field(default_factory=list)
    scores: dict[str, Accuracy] = field(default_factory=dict)
    definitions: Definitions = field(default_factory=Definitions)
    ends: tuple[Numbers, ...] = ()

    @property
    def report(self) -> dict[str, Any]:
        """The parts of a report other than its figures."""
        validity = {"valid": self.valid, "reasons": [] if self.valid else ["the client was the limit"]}
        tokens = {"source": "server_usage"}
        return {"run": self.run, "validity": validity, "tokens": tokens, "over_time": self.moments}

    def sample(self, name: str, where: object) -> Values:
        """The values of a metric."""
        assert not where
        return Values(self.samples.get(name, ()))

    def rate(self, name: str, where: object) -> Rate:
        """A rate, by its blocks."""
        assert not where
        blocks = tuple(self.rates.get(name, ()))
        return Rate(fmean(blocks) if blocks else None, self.completed, blocks, blocks)

    def counts(self, where: object) -> dict[str, int]:
        """The outcomes of the requests."""
        assert not where
        return {"issued": 0, "completed": self.completed, "failed": self.failed, "cancelled": 0}

    def good(self, conditions: Sequence[Any], where: object) -> Good:
        """Those that met a single condition."""
        assert not where
        [condition] = conditions
        values = Values(self.samples[condition.metric])
        met = sum(value <= condition.bound for value in values.values)
        return Good(met, values.count + self.failed, 1.0)

    def good_in_order(self, conditions: Sequence[Any], where: object) -> list[tuple[int, float]]:
        """Each request, and whether it met a single condition."""
        assert not where
        [condition] = conditions
        return Values(self.samples[condition.metric]).in_order(condition.bound)

    def accuracy(self, name: str) -> Accuracy | None:
        """A score."""
        return self.scores.get(name)

    @property
    def completed(self) -> int:
        """How many requests completed."""
        return len(self.samples.get("ttft", ()))


@pytest.fixture(scope="session")
def numbers() -> type[Numbers]:
    """A run made of numbers: `numbers({"ttft": [...]})`."""
    return Numbers


@pytest.fixture(scope="session")
def side() -> Callable[..., Side]:
    """A side of a comparison: `side("A", run, run, metrics=("ttft:mean",))`."""

    def make(name: str, *runs: Numbers, metrics: Sequence[str] = ASKED, level: float = 0.95) -> Side:
        asked = [metric(text) for text in metrics]
        looked = (
            look(f"{name}{number}", run, LogHead(), asked, level) for number, run in enumerate(runs, start=1)
        )
        return Side(name, tuple(looked))

    return make
