"""The kinds of work that a machine is calibrated with, and what came of one load of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from loadgen.sessions.calibration.truth import BesideTruth, MedianAndP99


@dataclass(frozen=True, slots=True)
class Work:
    """A kind of work, of which a step takes a certain load.

    Requests arrive at random (Poisson), streams as well: a closed loop would start with all of them at once,
    and a short run would be about little else than that.

    Attributes:
        name: What the load counts.
        at_once: Whether it counts requests in flight, on average; else requests a second.
        ttft_ms: The time to first token that the mock endpoint keeps.
        gap_ms: Its time between tokens.
        tokens: Its tokens a reply, one a chunk.
        settled_s: How long it takes until connections are open, and as many requests end as begin.
    """

    name: str
    at_once: bool
    ttft_ms: float
    gap_ms: float
    tokens: int
    settled_s: float

    def rate(self, load: int) -> float:
        """The requests a second that amount to a load."""
        answer_s = (self.ttft_ms + self.gap_ms * (self.tokens - 1)) / 1e3
        return load / answer_s if self.at_once else float(load)


REQUESTS: Final = Work("requests/s", at_once=False, ttft_ms=50.0, gap_ms=10.0, tokens=4, settled_s=0.3)
"""Short answers."""

STREAMS: Final = Work("streams", at_once=True, ttft_ms=50.0, gap_ms=10.0, tokens=64, settled_s=0.8)
"""Streams of 100 tokens a second each."""


@dataclass(frozen=True, slots=True)
class Step:
    """What came of one load.

    Attributes:
        load: How much of the work was put on.
        beside: The reported times beside the true ones, once it had settled.
        late: How late the mock endpoint was with its tokens.
        faults: Why the run cannot stand for the server, in sentences; empty for a sound one.
    """

    load: int
    beside: BesideTruth
    late: MedianAndP99 | None
    faults: tuple[str, ...]
