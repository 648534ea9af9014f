"""What a caller hears while something runs."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from loadgen.driver.judge_client import Tally
    from loadgen.driver.plan import Plan
    from loadgen.driver.progress import SessionProgress
    from loadgen.sessions.files.series_file import SeriesPoint
    from loadgen.sessions.series_outcome import PointOutcome


class Observer:
    """Hears how a session, a scoring pass or a series gets on. This one does nothing; override what you need.

    Methods are called from the thread that runs the session, between its requests: they must return at once.
    """

    def note(self, text: str, *, apart: bool = False) -> None:
        """Take a warning, or a hint at what to do next.

        Args:
            text: A sentence.
            apart: Whether it concerns the whole rather than the step before it: set it apart.
        """

    def progress(self, text: str) -> None:
        """Take a line about how far things are, which a quiet caller leaves out."""

    def session(
        self, progress: SessionProgress, plan: Plan, log: Path | None, *, scored: bool
    ) -> AbstractContextManager[object]:
        """Follow a session while the context lasts; `scored`: answers are scored on arrival."""
        del progress, plan, log, scored
        return nullcontext()

    def stoppable(self, ask: Callable[[], None]) -> None:
        """Take what asks the session to stop: once, it drains; twice, it gives up what is in flight."""

    def scoring(
        self, total: int, before: int
    ) -> AbstractContextManager[Callable[[int, Mapping[str, int], float | None], None]]:
        """Follow a scoring pass while the context lasts.

        Returns:
            A context whose value is called with the number of gradings so far, those made now by status, and
            the mean of their scores.
        """
        del total, before
        return nullcontext(lambda _done, _graded, _mean: None)

    def judging(self, total: int) -> AbstractContextManager[Callable[[Tally], None]]:
        """Follow the calls of a judge while the context lasts.

        Returns:
            A context whose value is called with what was answered so far.
        """
        del total
        return nullcontext(lambda _tally: None)

    def run_begins(self, point: SeriesPoint, number: int, total: int, pause_s: float) -> None:
        """Hear that a run of a series begins."""

    def run_ended(self, outcome: PointOutcome, remark: str | None) -> None:
        """Hear that a run of a series has ended."""


SILENT: Final = Observer()
"""For a caller that wants to hear nothing."""
