"""Runs to judge, written by hand: what their log would say, and nothing measured."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pytest

from rulesets.definitions import Definitions
from rulesets.evidence import Accuracy, Good, Rate
from rulesets.quantity import COMPARE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from fractions import Fraction

    from rulesets.evidence import Where
    from rulesets.target import Condition, Op

BLOCKS = 10
SPREAD = [100.0 + 37 * i % 50 for i in range(1000)]
"""A thousand latencies from 100 to 149 ms, in no order."""


@dataclass(frozen=True)
class Values:
    """A sample in the order of issue."""

    values: Sequence[float]
    method: str = "linear"

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.values)

    def mean(self) -> float | None:
        """Of the finite ones."""
        finite = [value for value in self.values if math.isfinite(value)]
        return fmean(finite) if finite else None

    def percentile(self, p: Fraction) -> float | None:
        """By two of the methods."""
        if not self.values:
            return None
        if self.method == "loadgen_floor":
            return self.at(math.floor(self.count * p))
        rank = (self.count - 1) * p
        below, above = self.at(math.floor(rank)), self.at(math.ceil(rank))
        return below if below == above else below + (above - below) * float(rank % 1)

    def at(self, rank: int) -> float:
        """Of a rank."""
        return sorted(self.values)[rank]

    def unmet(self, op: Op, bound: float) -> int:
        """How many do not meet a bound."""
        return sum(not COMPARE[op](value, bound) for value in self.values)

    def block_means(self) -> tuple[float, ...]:
        """The means of parts of equal size."""
        return tuple(fmean(block) for block in self._blocks())

    def in_order(self, edge: float | None = None) -> list[tuple[int, float]]:
        """One by one."""
        return [(1, value if edge is None else float(value <= edge)) for value in self.values]

    def _blocks(self) -> list[Sequence[float]]:
        size = len(self.values) // BLOCKS
        return [self.values[block * size : (block + 1) * size] for block in range(BLOCKS)] if size else []


@dataclass(frozen=True)
class Run:
    """A run that is known by what it says."""

    report: Mapping[str, Any]
    samples: Mapping[str, Sequence[float]] = field(default_factory=dict)
    rates: Mapping[str, Rate] = field(default_factory=dict)
    goods: Good = field(default_factory=lambda: Good(0, 0, None))
    scores: Mapping[str, Accuracy] = field(default_factory=dict)
    definitions: Definitions = field(default_factory=Definitions)

    def sample(self, metric: str, where: Where) -> Values:
        """The values of a metric; none of a part of the requests."""
        return Values(() if where else self.samples.get(metric, ()), self.definitions.percentile_method)

    def rate(self, metric: str, where: Where) -> Rate:
        """A rate; none of a part of the requests."""
        return Rate(None, 0) if where else self.rates.get(metric, Rate(None, 0))

    def counts(self, where: Where) -> Mapping[str, int]:
        """As the report has them; none of a part of the requests."""
        counted: Mapping[str, int] = self.report["counts"]
        return dict.fromkeys(counted, 0) if where else counted

    @property
    def ends(self) -> tuple[Any, ...]:
        """Nothing is in doubt."""
        return ()

    def good(self, conditions: Sequence[Condition], where: Where) -> Good:
        """Whatever the conditions are."""
        assert conditions
        return Good(0, 0, None) if where else self.goods

    def accuracy(self, name: str) -> Accuracy | None:
        """A score."""
        return self.scores.get(name)


FACTS: Mapping[str, Any] = {
    "ended": "completed",
    "stream": True,
    "load": {"kind": "closed", "concurrency": 8, "rate": None},
    "seed": 7,
    "salt": True,
    "dataset": {"name": "questions.jsonl", "rows": 100, "sha256": "ab12"},
    "generation": {"max_tokens": 128, "temperature": 0, "seed": 3},
    "gpus": 4,
}


def _run(
    *,
    facts: Mapping[str, Any] | None = None,
    counts: Mapping[str, int] | None = None,
    window: Mapping[str, Any] | None = None,
    steady: Mapping[str, Any] | None = None,
    tokens: Mapping[str, Any] | None = None,
    reasons: Sequence[str] = (),
    samples: Mapping[str, Sequence[float]] | None = None,
    rates: Mapping[str, float] | None = None,
    good: Good | None = None,
    scores: Mapping[str, Accuracy] | None = None,
    definitions: Definitions | None = None,
    sessions: Mapping[str, Any] | None = None,
) -> Run:
    """A run of a thousand requests that all went well, but for what is said otherwise."""
    per_second = {"qps": 10.0, "output_tps": 1000.0, "total_tps": 4000.0, "hit_rate": 0.9} | dict(rates or {})
    steps = [1 + 0.01 * ((7 * i) % BLOCKS - 4.5) for i in range(BLOCKS)]
    return Run(
        report={
            "run": {**FACTS, **(facts or {})},
            "validity": {"valid": not reasons, "reasons": list(reasons)},
            "counts": {"issued": 1000, "completed": 1000, "failed": 0, "cancelled": 0, "warmup": 16}
            | dict(counts or {}),
            "window": {"kind": "duration", "duration_s": 100.0, "issuing_s": 100.0} | dict(window or {}),
            "steady_state": {"found": True, "reason": None, "blocks": 10} | dict(steady or {}),
            "tokens": {"usage_output": 100_000, "recounted_output": 100_000} | dict(tokens or {}),
            "sessions": sessions,
        },
        samples={
            "ttft": SPREAD,
            "latency": SPREAD,
            "tpot": [value / 5 for value in SPREAD],
            "output_tokens": [value * 10 for value in SPREAD],
            "generation_tps": SPREAD,
            "prompt_tps": SPREAD,
        }
        | dict(samples or {}),
        rates={
            name: Rate(value, 1000, tuple(value * step for step in steps))
            for name, value in per_second.items()
        },
        goods=Good(990, 1000, 100.0) if good is None else good,
        scores={"gsm8k": Accuracy(0.95, 1000, 0.007)} if scores is None else scores,
        definitions=definitions or Definitions(),
    )


@pytest.fixture(scope="session")
def make_run() -> Callable[..., Run]:
    """Give the maker of runs."""
    return _run
