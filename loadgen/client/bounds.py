"""How much a server can make this program keep, whatever it sends: everything else is `too_large`.

Time has bounds of its own (`loadgen.client.timeouts`): what sends little for ever ends with its request's.
"""

from __future__ import annotations

from typing import Final

from loadgen.client.failure import Failure, RequestFailedError

MAX_HEAD_BYTES: Final = 64 * 1024
"""Of all before the body, informational responses included: many servers stop at 8 KiB themselves."""

MAX_ERROR_BYTES: Final = 64 * 1024
"""So much of the body of an HTTP error is read: a message needs no more."""

MAX_FRAME_BYTES: Final = 16 * 2**20
"""A frame, or a line of it: it is put together before it is decoded. Long tool calls take a hundredth."""

MAX_BODY_BYTES: Final = 64 * 2**20
"""One response; `--max-response` sets another bound. At 200 bytes a token, 300,000 tokens."""

MAX_TOGETHER_BYTES: Final = 2**30
"""All open responses of one worker process: 16 of the greatest, or 5,000 of 200 kB."""

SMALL_BYTES: Final = 2**20
"""A response of no more than this is never given up for what others take."""

PIECE_BYTES: Final = 128
"""What keeping a piece takes beside its own bytes: a server that sends only the smallest is bounded too."""


class Allowance:
    """What responses may take to keep: one of them, and all together that are open.

    Args:
        each: Bytes for one.
        together: Bytes for all.

    Attributes:
        held: What all of them take at present.
    """

    __slots__ = ("_each", "_together", "held")

    def __init__(self, each: int = MAX_BODY_BYTES, together: int = MAX_TOGETHER_BYTES) -> None:
        self._each = each
        self._together = together
        self.held = 0

    def take(self, more: int, whole: int) -> None:
        """Have a response take more; with it, it takes so much as a whole.

        Raises:
            RequestFailedError: `too_large`. What was taken is to be given back all the same.
        """
        self.held += more
        if whole > self._each:
            raise RequestFailedError(
                Failure.TOO_LARGE,
                f"a response that takes more than {self._each} bytes to keep (--max-response)",
            )
        if self.held > self._together and whole > SMALL_BYTES:
            raise RequestFailedError(
                Failure.TOO_LARGE,
                f"all open responses together take more than {self._together} bytes to keep; of those that "
                f"take more than {SMALL_BYTES}, this one went on. Put on less load, or give more --workers",
            )

    def give_back(self, bytes_: int) -> None:
        """Have a response that is over take nothing any more."""
        self.held -= bytes_
