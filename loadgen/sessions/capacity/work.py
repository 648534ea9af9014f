"""The kinds of work that a machine is calibrated with, and the result of one load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from loadgen.sessions.capacity.true_times import ComparedTimes, MedianAndP99


@dataclass(frozen=True, slots=True)
class Work:
    """A kind of work, with a load per step.

    Requests arrive at random (Poisson), streams as well: a closed loop would start with all of them at once,
    and a short run would be about little else than that.

    Attributes:
        name: What the load counts.
        at_once: Whether it counts requests in flight, on average; else requests/s.
        ttft_ms: The time to first token that the mock endpoint keeps.
        gap_ms: Its time between tokens.
        tokens: Its tokens per reply, one per chunk.
        settled_s: How long it takes until connections are open, and as many requests end as begin.
    """

    name: str
    at_once: bool
    ttft_ms: float
    gap_ms: float
    tokens: int
    settled_s: float

    def rate(self, load: int) -> float:
        """The requests/s of a load."""
        answer_s = (self.ttft_ms + self.gap_ms * (self.tokens - 1)) / 1e3
        return load / answer_s if self.at_once else float(load)


REQUESTS: Final = Work("requests/s", at_once=False, ttft_ms=50.0, gap_ms=10.0, tokens=4, settled_s=0.3)
"""Short answers."""

STREAMS: Final = Work("streams", at_once=True, ttft_ms=50.0, gap_ms=10.0, tokens=64, settled_s=0.8)
"""Streams of 100 tokens/s each."""


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one load.

    Attributes:
        load: How much of the work was put on.
        times: The reported and the true times, once it had settled.
        late: How late the mock endpoint was with its tokens.
        faults: Why the run does not represent the server, in sentences; empty if it does.
    """

    load: int
    times: ComparedTimes
    late: MedianAndP99 | None
    faults: tuple[str, ...]
