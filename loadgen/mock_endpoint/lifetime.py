"""The end of a server at a chosen time: of the mock endpoint itself, or of one behind it.

Where the mock endpoint ends, streams are cut, and then no connection is accepted. A gateway lives on without
its server, and refuses all requests.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from loadgen.mock_endpoint.ask import RefusedRequest
from loadgen.mock_endpoint.errors import MockOptionsError
from workloads import units

if TYPE_CHECKING:
    from collections.abc import Callable


_BAD_GATEWAY: Final = 502


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


class Outage:
    """A gateway whose server ends some time after the first completion request.

    Args:
        after_s: How long after.
    """

    def __init__(self, after_s: float) -> None:
        self._after_s = after_s
        self._begin_s: float | None = None

    def refusal(self) -> RefusedRequest | None:
        """Learn of a completion request; return its refusal after the end."""
        now_s = time.monotonic()
        if self._begin_s is None:
            self._begin_s = now_s + self._after_s
        if now_s < self._begin_s:
            return None
        return RefusedRequest(_BAD_GATEWAY, "The server behind this gateway is gone", kind="bad_gateway")


def read(name: str, text: str | None) -> float | None:
    """Parse the time after which a server ends, in seconds.

    Raises:
        MockOptionsError: It is not a time above 0.
    """
    try:
        after_s = None if text is None else units.seconds(text)
    except ValueError:
        after_s = 0.0
    if after_s is not None and not 0 < after_s <= threading.TIMEOUT_MAX:
        raise MockOptionsError(f"{name}: {text!r} is not a time above 0: write 5s")
    return after_s
