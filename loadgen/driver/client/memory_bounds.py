"""Bounds on the memory that a server can make this program hold: beyond is `too_large`.

Time has its own bounds (`timeouts.py`): an endless trickle ends with its request's time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.driver.client.failure import Failure
from loadgen.driver.errors import RequestFailedError

if TYPE_CHECKING:
    from collections.abc import Callable

UPLOAD_BYTES: Final = 64 * 1024
"""The size from which on a request's upload is observed, for four system calls; `_wire.c` has the same."""

MAX_HEAD_BYTES: Final = 64 * 1024
"""Of all before the body, informational responses included: many servers stop at 8 KiB themselves."""

MAX_ERROR_BYTES: Final = 64 * 1024
"""So much of the body of an HTTP error is read: a message needs no more."""

MAX_FRAME_BYTES: Final = 16 * 2**20
"""A frame, or a line of it: it is put together before it is decoded. Long tool calls take a hundredth."""

MAX_BODY_BYTES: Final = 64 * 2**20
"""One response; `--max-response` sets another bound. At 200 bytes a token, 300,000 tokens."""

MAX_TOGETHER_BYTES: Final = 2**30
"""All responses in a worker process, open or on their way to the log: 8 of the largest, 2,500 of 200 kB."""

SMALL_BYTES: Final = 2**20
"""A response of no more than this is never given up for what others take."""

SHIP_BYTES: Final = 2**16
"""The end of a larger response is sent to the log at once: none of it stays in memory twice."""

PIECE_BYTES: Final = 128
"""What keeping a piece takes in addition to its own bytes, so that tiny pieces are bounded too."""


class Allowance:
    """The memory allowance of responses: for one, and for all open ones together."""

    __slots__ = ("_each", "_queued", "_together", "held")

    def __init__(
        self, each: int = MAX_BODY_BYTES, together: int = MAX_TOGETHER_BYTES, queued: Callable[[], int] = int
    ) -> None:
        self._each = each
        self._together = together
        self._queued = queued
        self.held = 0

    def take(self, more: int, whole: int) -> None:
        """Add to a response's memory, now `whole`, to be given back also where this raises `too_large`."""
        if self.takes(more, whole):
            return
        self.held += more
        if whole > self._each:
            raise RequestFailedError(
                Failure.TOO_LARGE,
                f"a response that takes more than {self._each} bytes to keep (--max-response)",
            )
        raise RequestFailedError(
            Failure.TOO_LARGE,
            "all open responses together, and those on their way to the log, take more than "
            f"{self._together} bytes to keep; of those that take more than {SMALL_BYTES}, this one went "
            "on. Put on less load, or give more --workers",
        )

    def takes(self, more: int, whole: int) -> bool:
        """As `take`, but return False in place of raising."""
        if whole > self._each:
            return False
        # When a response ends it is copied on its way to the log: what is held is needed twice.
        if whole > SMALL_BYTES and 2 * (self.held + more) + self._queued() > self._together:
            return False
        self.held += more
        return True

    def give_back(self, bytes_: int) -> None:
        """Have a response that is over take nothing any more."""
        self.held -= bytes_
