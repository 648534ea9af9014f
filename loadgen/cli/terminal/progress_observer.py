"""The observer of the command line: progress on standard error."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from loadgen.sessions.errors import printable
from loadgen.sessions.observer import Observer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from loadgen.cli.terminal.live import LiveView
    from loadgen.driver.judge_client import Tally
    from loadgen.driver.plan import Plan
    from loadgen.driver.progress import SessionProgress
    from loadgen.sessions.files.series_file import SeriesPoint
    from loadgen.sessions.series_outcome import PointOutcome


class Terminal(Observer):
    """Writes to standard error."""

    def __init__(self, *, quiet: bool = False, live: bool = True) -> None:
        self._quiet = quiet
        self._live = live
        self._view: LiveView | None = None

    def note(self, text: str, *, apart: bool = False) -> None:
        """Write a line, above a view that is rewritten."""
        with nullcontext() if self._view is None else self._view.interrupted():
            sys.stderr.write(f"{chr(10) * apart}{printable(text)}\n")

    def progress(self, text: str) -> None:
        """Write a line, unless in quiet mode."""
        if not self._quiet:
            self.note(text)

    @contextmanager
    def session(
        self, progress: SessionProgress, plan: Plan, log: Path | None, *, scored: bool
    ) -> Iterator[None]:
        """Show a session in progress, unless in quiet mode."""
        if self._quiet:
            yield
            return
        from loadgen.cli.terminal.live import LiveView

        with LiveView(progress, plan, log, block=self._live, scored=scored) as self._view:
            yield
        self._view = None

    @contextmanager
    def scoring(
        self, total: int, before: int
    ) -> Iterator[Callable[[int, Mapping[str, int], float | None], None]]:
        """Show how far a scoring pass is."""
        from loadgen.cli.terminal.live import StatusLine
        from loadgen.cli.terminal.progress_lines import scoring_line

        with StatusLine(quiet=self._quiet) as status:
            yield lambda done, graded, mean: status.show(
                lambda elapsed_s: scoring_line(total, done, done - before, graded, mean, elapsed_s)
            )

    @contextmanager
    def judging(self, total: int) -> Iterator[Callable[[Tally], None]]:
        """Show how many inquiries a judge has answered."""
        from loadgen.cli.terminal.live import StatusLine
        from loadgen.cli.terminal.progress_lines import judging_line

        with StatusLine(quiet=self._quiet) as status:
            yield lambda tally: status.show(
                lambda elapsed_s: judging_line(total, tally.answered, tally.failed.total(), elapsed_s)
            )

    def run_begins(self, point: SeriesPoint, number: int, total: int, pause_s: float) -> None:
        """Announce the next run, with the pause before the run."""
        from loadgen.cli.terminal.progress_lines import begins

        self._line(begins(point, number, total, pause_s))

    def run_ended(self, outcome: PointOutcome, remark: str | None) -> None:
        """Write the result of a run in a line."""
        if not self._quiet:
            from loadgen.cli.terminal.progress_lines import ended

            self._line(ended(outcome, remark))

    def _line(self, text: str) -> None:
        if not self._quiet:
            sys.stderr.write(f"{printable(text)}\n")
            sys.stderr.flush()
