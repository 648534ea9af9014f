"""A stall: for a while the whole server stands still, as if it had been stopped, and then goes on."""

from __future__ import annotations

from typing import Final

from loadgen.mock_endpoint.errors import MockOptionsError
from workloads import distribution
from workloads.errors import DistributionError

_SECOND: Final = 1_000_000_000


class Stall:
    """When nothing leaves and nothing is begun. What was due meanwhile leaves when it is over.

    Args:
        after_ns: When it begins, counted from the first completion request.
        for_ns: How long it lasts; 0 for never.
    """

    def __init__(self, after_ns: int = 0, for_ns: int = 0) -> None:
        self._after_ns = after_ns
        self._for_ns = for_ns
        self._begin_ns: int | None = None

    def heard(self, received_ns: int) -> None:
        """Learn when a completion request was received, in ns of CLOCK_MONOTONIC; the first one counts."""
        if self._begin_ns is None:
            self._begin_ns = received_ns + self._after_ns

    def left_s(self, now_ns: int) -> float:
        """How long what wants to leave at a moment has to wait, in seconds; 0 outside of the stall."""
        if self._begin_ns is None or not self._begin_ns <= now_ns < self._begin_ns + self._for_ns:
            return 0.0
        return (self._begin_ns + self._for_ns - now_ns) / _SECOND


def read(text: str | None) -> Stall:
    """Read a stall as it is written: `2s,500ms` is one of half a second, two seconds after the first request.

    Args:
        text: It; None for none.

    Raises:
        MockOptionsError: It is not two times above 0.
    """
    if text is None:
        return Stall()
    after, _, lasting = text.partition(",")
    try:
        times = [distribution.duration(part) for part in (after, lasting)]
    except DistributionError:
        times = []
    spans = [round(time.value * _SECOND) for time in times if isinstance(time, distribution.Constant)]
    if len(spans) != len((after, lasting)) or min(spans) <= 0:
        raise MockOptionsError(
            f"stall: {text!r} is not two times above 0, after which and for how long: write 2s,500ms"
        )
    return Stall(*spans)
