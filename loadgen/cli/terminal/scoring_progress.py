"""How a scoring pass is getting on, on standard error: one line that is rewritten, or a line now and then."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Final, Self

from workloads.score import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

_REDRAW_S: Final = 0.25
_LINE_S: Final = 5.0
_BAR: Final = 24
_WITHOUT_VALUE: Final = {Status.INFRA_ERROR: "infra errors", Status.JUDGE_PENDING: "waiting for a judge"}


class Progress:
    """Shows how far a pass is; a context manager that leaves no line behind.

    Args:
        total: How many gradings there are to be.
        found: How many there were before.
        quiet: Show nothing.
    """

    def __init__(self, total: int, found: int, *, quiet: bool) -> None:
        self._total = total
        self._found = found
        self._quiet = quiet
        self._terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._since_s = self._shown_s = time.monotonic()

    def show(self, done: int, graded: Mapping[str, int]) -> None:
        """Show it, where it was not shown just now.

        Args:
            done: How many gradings there are.
            graded: Those of now, by their status.
        """
        now_s = time.monotonic()
        if self._quiet or now_s - self._shown_s < (_REDRAW_S if self._terminal else _LINE_S):
            return
        self._shown_s = now_s
        text = line(self._total, done, done - self._found, graded, now_s - self._since_s)
        sys.stderr.write(f"\r\x1b[2K{text}" if self._terminal else f"{text}\n")
        sys.stderr.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal and not self._quiet and self._shown_s > self._since_s:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


def line(total: int, done: int, now: int, graded: Mapping[str, int], elapsed_s: float) -> str:
    """One line: how far, how fast, and what has no value.

    Args:
        total: How many gradings there are to be.
        done: How many there are.
        now: How many of them were made in this time.
        graded: Those by their status.
        elapsed_s: The time.
    """
    share = done / total if total else 1.0
    parts = [
        f"scoring     {'█' * round(share * _BAR):░<{_BAR}} {share:4.0%}",
        f"{done:,} of {total:,}",
        f"{now / max(elapsed_s, 1e-9):,.0f}/s",
        *(f"{graded[status]:,} {words}" for status, words in _WITHOUT_VALUE.items() if graded.get(status)),
        f"{elapsed_s:.0f} s",
    ]
    return "  ".join(parts)
