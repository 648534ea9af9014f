"""The cost of a run: `cost` in report.json."""

from __future__ import annotations

from typing import Any

from lazy_dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TaskCost:
    """The cost of the answers to a benchmark, by one scorer.

    Attributes:
        total: Of its measured requests, in dollars.
        correct: How many of its answers are correct: their value reaches the threshold of a pass. None where
            values are not shares, or some answers have none.
        per_correct: Dollars for each of them; None where there are none.
    """

    task: str
    scorer: str | None
    total: float | None
    correct: int | None
    per_correct: float | None


@dataclass(frozen=True, slots=True)
class Cost:
    """Dollars, by the counted tokens; None without a price or counts.

    Attributes:
        price: The applied price, as in `Price`; None where the table has none for the model.
        total: Of all requests, with warm-up, failures and retries; without the judge.
        measured: Of the measured requests that completed.
        per_request: The mean of those whose tokens are known.
        priced: How many these are.
        unknown: How many measured requests completed without a count of their tokens.
        judge: Of the requests to judges; None where there are none, or a judge has no price.
        judges: The price of each judge, by its model.
        tasks: Of each benchmark and scorer.
    """

    model: str
    price: dict[str, Any] | None
    table: str
    total: float | None = None
    measured: float | None = None
    per_request: float | None = None
    priced: int = 0
    unknown: int = 0
    judge: float | None = None
    judges: dict[str, dict[str, Any]] = field(default_factory=dict)
    tasks: list[TaskCost] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
