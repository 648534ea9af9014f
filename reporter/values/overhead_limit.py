"""The limit of client overhead in a figure, and its form in a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class OwnLimit:
    """How much client overhead a figure may have until it makes a run invalid (docs/metrics.md).

    Attributes:
        share: This share of it, and
        ms: this many milliseconds, so that a server of 2 ms is judged fairly.
        tail_ms: Where no rule asks for a percentile and the median is not affected, this many milliseconds of
            the p99: Linux takes the CPU from a process for about 4 ms at a time (a tick at 250 Hz), on an
            idle machine too.
    """

    share: float
    ms: float
    tail_ms: float = 4.0


OWN_TTFT_LIMIT: Final = OwnLimit(share=0.1, ms=1.0)


@dataclass(frozen=True, slots=True)
class OwnEffect:
    """The client overhead in a figure that counts from the schedule, without the set-up of connections.

    Attributes:
        own_ms: The client overhead in it, in ms.
        of_ms: The figure with that, in ms.
        share: Of the one in the other.
        share_low: The least that the share can be, where stamps are in doubt; None where they are exact.
        share_high: The most.
        in_doubt: Whether the part is above the limit at one of these ends, and not at the other.
    """

    own_ms: float
    of_ms: float
    share: float
    share_low: float | None = None
    share_high: float | None = None
    in_doubt: bool = False
