"""The view of a run in progress: a rewritten block, a line per reading, or JSON."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from loadgen.cli.terminal.block import Block
from loadgen.sessions.run.watching import readings_while_it_runs
from loadgen.sessions.scoring.running_score import RunningScore
from recorder.store import log_path
from reporter.live.run_tail import RunTail
from reporter.one_line import line

if TYPE_CHECKING:
    from pathlib import Path

    from reporter.report import Report


def is_rewritable() -> bool:
    """Whether standard output is a terminal on which lines can be rewritten."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def show_block(run: Path, interval_s: float) -> None:
    """Show a run on a terminal until the end; the block is then removed."""
    from reporter.live.status_lines import Line, lines

    block = Block(sys.stdout)
    hint = Line("Ctrl-C ends the watching, not the run", "dim")
    with RunningScore(log_path(run)) as score:
        try:
            for shown in readings_while_it_runs(run, interval_s, RunTail(run).read):
                size = shutil.get_terminal_size()
                width, below = size.columns - 1, [Line(*line) for line in score.lines(size.columns)]
                below.append(hint._replace(text=hint.text[:width]))
                block.draw([*lines(shown, width, size.lines - 3), *below], size.columns)
        finally:
            block.clear()


def show_line(report: Report) -> None:
    """Write the line of a report, for a file or a pipe."""
    sys.stdout.write(line(report) + "\n")
    sys.stdout.flush()
