"""A report that can show itself: what `MetricsReporter` makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reporter.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class DisplayedReport(Report):
    """A `Report` with the console as a method."""

    def display(
        self,
        fn: Callable[[str], Any] = print,
        summary_only: bool = False,  # noqa: FBT001, FBT002 (the published interface)
    ) -> None:
        """Show the report as plain text.

        Args:
            fn: What takes the text.
            summary_only: Show only what a reader looks at first.
        """
        from reporter.render.console import render

        fn(render(self, summary_only=summary_only))
