"""The observer of the command line: what goes on, on standard error."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from loadgen.sessions.errors import printable
from loadgen.sessions.observer import Observer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from loadgen.driver.judge_client import Tally
    from loadgen.driver.plan import Plan
    from loadgen.driver.progress import Progress
    from loadgen.sessions.series.outcome import PointOutcome
    from loadgen.sessions.series.series import SeriesPoint


class Terminal(Observer):
    """Writes to standard error.

    Args:
        quiet: Write notes only.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._in_session = False

    def note(self, text: str, *, apart: bool = False) -> None:
        """Write a line; a view that is rewritten ends first."""
        before = "\n" if apart or self._in_session else ""
        sys.stderr.write(f"{before}{printable(text)}\n")

    def progress(self, text: str) -> None:
        """Write a line, unless it is quiet."""
        if not self._quiet:
            self.note(text)

    @contextmanager
    def session(self, progress: Progress, plan: Plan) -> Iterator[None]:
        """Show the counters of a session while it runs."""
        from loadgen.cli.terminal.live import LiveView

        self._in_session = True
        try:
            with LiveView(progress, plan, quiet=self._quiet):
                yield
        finally:
            self._in_session = False

    @contextmanager
    def scoring(self, total: int, before: int) -> Iterator[Callable[[int, Mapping[str, int]], None]]:
        """Show how far a scoring pass is."""
        from loadgen.cli.terminal.scoring_progress import scoring_line
        from loadgen.cli.terminal.status_line import StatusLine

        with StatusLine(quiet=self._quiet) as status:
            yield lambda done, graded: status.show(
                lambda elapsed_s: scoring_line(total, done, done - before, graded, elapsed_s)
            )

    @contextmanager
    def judging(self, total: int) -> Iterator[Callable[[Tally], None]]:
        """Show how many inquiries a judge has answered."""
        from loadgen.cli.terminal.scoring_progress import judging_line
        from loadgen.cli.terminal.status_line import StatusLine

        with StatusLine(quiet=self._quiet) as status:
            yield lambda tally: status.show(
                lambda elapsed_s: judging_line(total, tally.answered, tally.failed.total(), elapsed_s)
            )

    def run_begins(self, point: SeriesPoint, number: int, total: int, pause_s: float) -> None:
        """Say which run comes next, and which pause comes before it."""
        from loadgen.cli.terminal.series_progress import begins

        self._line(begins(point, number, total, pause_s))

    def run_ended(self, outcome: PointOutcome, remark: str | None) -> None:
        """Write the result of a run in a line."""
        if not self._quiet:
            from loadgen.cli.terminal.series_progress import ended

            self._line(ended(outcome, remark))

    def _line(self, text: str) -> None:
        if not self._quiet:
            sys.stderr.write(f"{printable(text)}\n")
            sys.stderr.flush()
