"""The end of a mock endpoint at a chosen time: streams are cut, and then no connection is accepted."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from loadgen.mock_endpoint.errors import MockOptionsError
from workloads import amounts

if TYPE_CHECKING:
    from collections.abc import Callable


class Lifetime:
    """Ends a server some time after its first completion request.

    Args:
        after_s: How long after; None for never.
        end: Stops the server; called in a separate thread.
    """

    def __init__(self, after_s: float | None, end: Callable[[], object]) -> None:
        self._end = end
        self._timer = None if after_s is None else threading.Timer(after_s, self._stop)

    def heard(self) -> None:
        """Learn of a completion request; the first one counts."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.daemon = True
            timer.start()

    def _stop(self) -> None:
        with suppress(OSError, RuntimeError):  # it has ended for another reason
            self._end()


def read(text: str | None) -> float | None:
    """Parse the time after which a server ends, in seconds.

    Raises:
        MockOptionsError: It is not a time above 0.
    """
    try:
        after_s = None if text is None else amounts.seconds(text)
    except ValueError:
        after_s = 0.0
    if after_s is not None and not 0 < after_s <= threading.TIMEOUT_MAX:
        raise MockOptionsError(f"die_after: {text!r} is not a time above 0: write 5s")
    return after_s
