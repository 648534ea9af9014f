"""What a session is to do, checked before the first request leaves."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.client.codec import Generation


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

    def __str__(self) -> str:
        if self.kind is LoadKind.CLOSED:
            return f"closed loop, {self.concurrency} in flight"
        if self.kind is LoadKind.OFFLINE:
            return "offline, all at once"
        return f"open loop, {self.rate:g} requests/s, {self.kind.value}"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a session is to do.

    Attributes:
        load: How requests leave.
        requests: How many are measured; None where only time ends the run.
        duration_s: For how long; None where only the count ends it. What is reached first counts.
        warmup: Requests before the measured ones, which no figure counts.
        generation: What each request asks for.
        protocol: `chat` or `completions`.
        seed: Of everything random on this side.
        timeout_s: For each request, from its issue to its end.
    """

    load: Load
    requests: int | None
    duration_s: float | None
    warmup: int
    generation: Generation
    protocol: str
    seed: int
    timeout_s: float

    def __post_init__(self) -> None:
        if self.requests is None and self.duration_s is None:
            raise PlanError("nothing ends the run: give --requests or --duration")
        if self.load.kind is LoadKind.OFFLINE and self.requests is None:
            raise PlanError("--offline sends a fixed number of requests at once: give --requests")
        _positive("--requests", self.requests)
        _positive("--duration", self.duration_s)
        _positive("--concurrency", self.load.concurrency)
        _positive("--rate", self.load.rate)
        _positive("--timeout", self.timeout_s)
        _positive("--max-tokens", self.generation.max_tokens)
        if self.warmup < 0:
            raise PlanError(f"--warmup {self.warmup}: must not be negative")
        if self.generation.temperature is not None and self.generation.temperature < 0:
            raise PlanError(f"--temperature {self.generation.temperature:g}: must not be negative")

    def settings(self) -> Mapping[str, Any]:
        """What the log keeps of it."""
        return {
            "protocol": self.protocol,
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
            "timeout_s": self.timeout_s,
        }


def _positive(option: str, value: float | None) -> None:
    if value is not None and not 0 < value < float("inf"):
        raise PlanError(f"{option} {value:g}: must be more than 0")
