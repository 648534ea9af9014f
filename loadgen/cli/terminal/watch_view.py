"""How a run is shown while it goes on: as a block that is rewritten, as a line a reading, or as JSON."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from reporter.render.figures import figure, whole
from reporter.render.page import clean

if TYPE_CHECKING:
    from pathlib import Path

    from reporter.report import Report


def is_rewritable() -> bool:
    """Whether standard output is a terminal on which lines can be rewritten."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def show_block(run: Path, interval_s: float) -> None:
    """Show a run on a terminal until it is over; the block is then removed."""
    from loadgen.cli.terminal.block import Block
    from loadgen.sessions.run.watching import readings_while_it_runs
    from reporter.live.lines import Line, lines
    from reporter.live.tail import LogTail

    block = Block(sys.stdout)
    hint = Line("Ctrl-C ends the watching, not the run", "dim")
    try:
        for shown in readings_while_it_runs(run, interval_s, LogTail(run).read):
            size = shutil.get_terminal_size()
            width, height = size.columns - 1, size.lines - 2
            block.draw([*lines(shown, width, height), hint._replace(text=hint.text[:width])], size.columns)
    finally:
        block.clear()


def show_line(report: Report) -> None:
    """Write the line of a report, for a file or a pipe."""
    sys.stdout.write(line(report) + "\n")
    sys.stdout.flush()


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
