"""What a session is to do, checked before the first request leaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from loadgen.budget import ErrorBudget
from loadgen.client.bounds import MAX_BODY_BYTES, MAX_TOGETHER_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.client.codec import Generation
    from loadgen.client.timeouts import Timeouts


MOST_REQUESTS: Final = 10**12
MOST_SECONDS: Final = 366 * 86_400.0
MOST_RETRIES: Final = 1000

LEAST_RESPONSE: Final = 1024
"""Bytes: the least that a response has to be allowed; an answer of one token takes about as much."""


class PlanError(ValueError):
    """Two settings contradict each other, or one is out of its range."""


class LoadKind(StrEnum):
    """How load is put on the endpoint."""

    CLOSED = "closed"
    """A number of requests in flight: the next leaves when one ends."""
    CONSTANT = "constant"
    """Open loop, equal distances."""
    POISSON = "poisson"
    """Open loop, a Poisson process."""
    OFFLINE = "offline"
    """Everything at once."""


@dataclass(frozen=True, slots=True)
class Load:
    """A kind of load with its one number.

    Attributes:
        kind: How.
        concurrency: Requests in flight, for the closed loop.
        rate: Requests a second, for the open loop.
    """

    kind: LoadKind
    concurrency: int | None = None
    rate: float | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a session is to do.

    Attributes:
        load: How requests leave.
        requests: How many are measured; None where only time ends the run.
        duration_s: For how long; None where only the count ends it. What is reached first counts.
        warmup: Requests before the measured ones, which no figure counts.
        generation: What each request asks for.
        protocol: Its name, see `loadgen.workers.parts`.
        seed: Of everything random on this side.
        timeouts: How long each part of a request may take.
        retries: How many attempts may follow the first at a request that failed.
        budget: How much may fail.
        max_response_bytes: What one response may take to keep.
        protocol_options: What the user says of a protocol, all JSON; see `loadgen.workers.parts.codec_of`.
    """

    load: Load
    requests: int | None
    duration_s: float | None
    warmup: int
    generation: Generation
    protocol: str
    seed: int
    timeouts: Timeouts
    retries: int = 0
    budget: ErrorBudget = field(default_factory=ErrorBudget)
    max_response_bytes: int = MAX_BODY_BYTES
    protocol_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.requests is None and self.duration_s is None:
            raise PlanError("nothing ends the run: give --requests or --duration")
        if self.load.kind is LoadKind.OFFLINE and self.requests is None:
            raise PlanError("--offline sends a fixed number of requests at once: give --requests")
        _within("--requests", self.requests, 1, MOST_REQUESTS)
        _within("--duration", self.duration_s, 0.001, MOST_SECONDS)
        _within("--concurrency", self.load.concurrency, 1, MOST_REQUESTS)
        _within("--rate", self.load.rate, 1e-6, 1e6)
        for option, seconds in self.timeouts.by_option().items():
            _within(option, seconds, 0.001, MOST_SECONDS)
        _within("--retry", self.retries, 0, MOST_RETRIES)
        _within("--max-errors", self.budget.errors, 1, MOST_REQUESTS)
        _within("--max-error-rate", self.budget.rate, 0, 1)
        _within("--max-response", self.max_response_bytes, LEAST_RESPONSE, MAX_TOGETHER_BYTES)
        _within("--warmup", self.warmup, 0, MOST_REQUESTS)
        _within("--max-tokens", self.generation.max_tokens, 1, MOST_REQUESTS)
        _within("--temperature", self.generation.temperature, 0, 1000)
        _within("--seed", self.seed, 0, 2**63 - 1)

    def settings(self) -> Mapping[str, Any]:
        """What the log keeps of it."""
        return {
            "protocol": self.protocol,
            "protocol_options": dict(self.protocol_options),
            "model": self.generation.model,
            "load": {
                "kind": self.load.kind.value,
                "concurrency": self.load.concurrency,
                "rate": self.load.rate,
            },
            "requests": self.requests,
            "duration_s": self.duration_s,
            "warmup": self.warmup,
            "max_tokens": self.generation.max_tokens,
            "temperature": self.generation.temperature,
            "stream": self.generation.stream,
            "extra_body": dict(self.generation.extra_body),
            "seed": self.seed,
            "timeout_s": self.timeouts.total_s,
            "connect_timeout_s": self.timeouts.connect_s,
            "first_byte_timeout_s": self.timeouts.first_byte_s,
            "idle_timeout_s": self.timeouts.idle_s,
            "retry": self.retries,
            "max_errors": self.budget.errors,
            "max_error_rate": self.budget.rate,
            "max_response_bytes": self.max_response_bytes,
        }


def _within(option: str, value: float | None, least: float, most: float) -> None:
    # NaN is within nothing.
    if value is not None and not least <= value <= most:
        raise PlanError(f"{option} {value:g}: must be from {least:g} to {most:g}")
