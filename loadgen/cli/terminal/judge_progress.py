"""How asking a judge is getting on, on standard error: one line that is rewritten, or a line now and then."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from loadgen.driver.judge_client import Tally

_REDRAW_S: Final = 0.25
_LINE_S: Final = 5.0
_BAR: Final = 24


class Progress:
    """Shows how many inquiries are answered; a context manager that leaves no line behind.

    Args:
        total: How many are open.
        quiet: Show nothing.
    """

    def __init__(self, total: int, *, quiet: bool) -> None:
        self._total = total
        self._quiet = quiet
        self._terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._since_s = self._shown_s = time.monotonic()

    def show(self, tally: Tally) -> None:
        """Show it, where it was not shown just now."""
        now_s = time.monotonic()
        if self._quiet or now_s - self._shown_s < (_REDRAW_S if self._terminal else _LINE_S):
            return
        self._shown_s = now_s
        text = line(self._total, tally.answered, tally.failed.total(), now_s - self._since_s)
        sys.stderr.write(f"\r\x1b[2K{text}" if self._terminal else f"{text}\n")
        sys.stderr.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal and not self._quiet and self._shown_s > self._since_s:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


def line(total: int, answered: int, failed: int, elapsed_s: float) -> str:
    """One line: how many are answered, how fast, and how many failed."""
    share = (answered + failed) / total
    parts = [
        f"judging     {'█' * round(share * _BAR):░<{_BAR}} {share:4.0%}",
        f"{answered:,} of {total:,}",
        f"{(answered + failed) / max(elapsed_s, 1e-9):,.1f}/s",
        *([f"{failed:,} failed"] if failed else []),
        f"{elapsed_s:.0f} s",
    ]
    return "  ".join(parts)
