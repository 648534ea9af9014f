"""Progress on standard error: on a terminal one line that is rewritten, elsewhere a line now and then."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Callable

_REDRAW_S: Final = 0.25
_LINE_S: Final = 5.0
_CLEAR: Final = "\r\x1b[2K"


class StatusLine:
    """The line; a context manager that leaves none behind on a terminal.

    Args:
        quiet: Show nothing.
        rewritten: Whether a terminal's line is rewritten.

    Attributes:
        is_terminal: Whether the line is on a terminal that can rewrite it, and is to.
        interval_s: How long a line stays before the next.
    """

    def __init__(self, *, quiet: bool = False, rewritten: bool = True) -> None:
        self.is_terminal = rewritten and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.interval_s = _REDRAW_S if self.is_terminal else _LINE_S
        self._quiet = quiet
        self._is_shown = False
        self._since_s = self._shown_s = time.monotonic()

    def show(self, text: Callable[[float], str]) -> None:
        """Write the line, unless the last one was written just now.

        Args:
            text: Makes it of the seconds since the beginning.
        """
        now_s = time.monotonic()
        if now_s - self._shown_s >= self.interval_s:
            self._shown_s = now_s
            self.write(text(now_s - self._since_s))

    def write(self, text: str) -> None:
        """Write the line now."""
        if not self._quiet:
            self._is_shown = True
            sys.stderr.write(f"{_CLEAR}{text}" if self.is_terminal else f"{text}\n")
            sys.stderr.flush()

    def clear(self) -> None:
        """Remove the line from a terminal."""
        if self.is_terminal and self._is_shown:
            self._is_shown = False
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()
