"""How a run is shown while it goes on: as a page that is redrawn, as a line a reading, or as JSON."""

from __future__ import annotations

import shutil
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Self

from reporter.render.figures import figure, whole
from reporter.render.page import clean

if TYPE_CHECKING:
    from types import TracebackType

    from reporter.report import Report


class Lines:
    """A line for each reading, for a file or a pipe."""

    def show(self, report: Report) -> None:
        """Write the line of a report."""
        sys.stdout.write(line(report) + "\n")
        sys.stdout.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Screen:
    """The whole report on a page of its own; afterwards what stood on the terminal before is back again."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        console = Console(file=sys.stdout)
        self._live = Live(console=console, screen=True, auto_refresh=False, vertical_overflow="crop")

    def show(self, report: Report) -> None:
        """Draw a report over the one before; what does not fit on the screen is left out."""
        from rich.text import Text

        from loadgen.cli.terminal.show import page
        from reporter.render.console import render

        height = shutil.get_terminal_size().lines
        drawn = render(report, **page())
        if drawn.count("\n") >= height:
            drawn = render(report, summary_only=True, **page())
        hint = f"as of {datetime.now().astimezone():%H:%M:%S}; Ctrl-C ends the watching, not the run"
        self._live.update(Text.from_ansi(f"{hint}\n\n{drawn}"), refresh=True)

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.__exit__(kind, error, trace)


def line(report: Report) -> str:
    """How far, how fast, how well, in one line."""
    counts, window = report.counts, report.window
    first_error = f" ({clean(next(iter(counts.by_error)))})" if counts.by_error else ""
    parts = [
        clean(report.run.ended),
        f"{window.duration_s or 0.0:.0f} s",
        f"{whole(counts.completed)} of {whole(counts.issued)} completed",
        f"{whole(counts.in_flight)} in flight",
        f"{whole(counts.failed)} failed{first_error}",
    ]
    if report.throughput.qps is not None:
        parts.append(f"{figure(report.throughput.qps, 4)} requests/s")
    for name, summary in (("TTFT", report.ttft_ms), ("latency", report.latency_ms)):
        if summary is not None:
            parts.append(f"{name} p50 {figure(summary.p50)} p99 {figure(summary.p99)} ms")
    return "  ".join(parts)


def json_line(report: Report) -> str:
    """A report as `report.json` has it, in one line."""
    from reporter.render.json import render

    return render(report, indented=False)
