"""A stall: the whole server pauses for a while, as if stopped, and then continues."""

from __future__ import annotations

from typing import Final

from loadgen.mock_endpoint.errors import MockOptionsError
from workloads import distribution_notation
from workloads.errors import DistributionError

_SECOND: Final = 1_000_000_000


class Stall:
    """A period without sends and starts. Overdue sends leave at the end.

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
        """The rest of the stall for a send at a given time, in seconds; 0 outside the stall."""
        if self._begin_ns is None or not self._begin_ns <= now_ns < self._begin_ns + self._for_ns:
            return 0.0
        return (self._begin_ns + self._for_ns - now_ns) / _SECOND


def read(text: str | None) -> Stall:
    """Parse a stall: `2s,500ms` lasts half a second, from two seconds after the first request.

    Args:
        text: It; None for none.

    Raises:
        MockOptionsError: It is not two times above 0.
    """
    if text is None:
        return Stall()
    after, _, lasting = text.partition(",")
    try:
        times = [distribution_notation.duration(part) for part in (after, lasting)]
    except DistributionError:
        times = []
    spans = [
        round(time.value * _SECOND) for time in times if isinstance(time, distribution_notation.Constant)
    ]
    if len(spans) != len((after, lasting)) or min(spans) <= 0:
        raise MockOptionsError(
            f"stall: {text!r} is not two times above 0, after which and for how long: write 2s,500ms"
        )
    return Stall(*spans)
