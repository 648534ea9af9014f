"""The view of a running session, on standard error: a block that is rewritten, or a line every few seconds.

A process that reads the log makes the block (`loadgen.sessions.run.live_reader`); a thread writes it. Else,
without a terminal and with --no-live, there is a line of the counters of the session.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, Self

from loadgen.sessions.scoring.running_score import RunningScore
from reporter.number_text import bar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from loadgen.cli.terminal.block import Block
    from loadgen.driver.plan import Plan
    from loadgen.driver.progress import SessionProgress

_SOON_S: Final = 0.1  #: how long a terminal is waited for that takes no output


class LiveView:
    """The live view of a session; a context manager."""

    def __init__(
        self, progress: SessionProgress, plan: Plan, log: Path | None, *, block: bool, scored: bool
    ) -> None:
        self._progress = progress
        self._plan = plan
        self._status = StatusLine(rewritten=block)
        self._log = log if block and self._status.is_terminal else None
        self._score = RunningScore(log if scored else None)  # looking into the log delays the first request
        self._reader: subprocess.Popen[bytes] | None = None
        self._block: Block | None = None
        self._writing = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="live-view", daemon=True)

    def __enter__(self) -> Self:
        self._score.__enter__()
        if self._log is not None:
            from loadgen.cli.terminal.block import Block
            from loadgen.sessions.run.live_reader import start_reader

            self._block = Block(sys.stderr)
            with suppress(OSError):
                self._reader = start_reader(self._log)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._score.__exit__()
        if self._reader is not None:
            self._reader.kill()
        self._thread.join(timeout=1.0)
        if self._reader is not None:
            self._reader.wait()
            for pipe in (self._reader.stdin, self._reader.stdout):
                if pipe is not None and not self._thread.is_alive():
                    pipe.close()

    @contextmanager
    def interrupted(self) -> Iterator[None]:
        """Let other output be written, above the block."""
        # A terminal that takes no output holds its lock: then the text comes where it may.
        is_free = self._writing.acquire(timeout=_SOON_S)
        try:
            if is_free:
                if self._block is not None:
                    self._block.clear()
                self._status.clear()
            yield
        finally:
            if is_free:
                self._writing.release()

    def _run(self) -> None:
        from shutil import get_terminal_size

        if self._reader is not None and self._block is not None:
            self._show_blocks(self._reader, self._block)
        with self._status as status:
            while not self._ended.wait(status.interval_s):
                width = get_terminal_size().columns - 1 if status.is_terminal else PLAIN_WIDTH
                counters = (self._progress, self._plan, time.monotonic_ns())
                status.write(progress_line(*counters, width, self._score.text))

    def _show_blocks(self, reader: subprocess.Popen[bytes], block: Block) -> None:
        """Show the reader's output until the reader ends."""
        import orjson

        from reporter.live.status_lines import Line

        if reader.stdout is None:
            return
        for sent in reader.stdout:
            with self._writing, suppress(ValueError):  # the last line of a process that is killed
                if self._ended.is_set():
                    break
                width, lines = orjson.loads(sent)
                block.draw([Line(*line) for line in (*lines, *self._score.lines(width))], width)
        with self._writing:
            block.clear()


_REDRAW_S: Final = 0.25
_LINE_S: Final = 5.0
_CLEAR: Final = "\r\x1b[2K"


class StatusLine:
    """The line; a context manager that leaves none behind on a terminal."""

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


PLAIN_WIDTH: Final = 120
_SECOND_NS: Final = 1e9


def progress_line(
    progress: SessionProgress, plan: Plan, now_ns: int, width: int = PLAIN_WIDTH, score: str = ""
) -> str:
    """One line: how far, how fast, how well."""
    elapsed_s = (
        max((now_ns - progress.phase_started_ns) / _SECOND_NS, 1e-9) if progress.phase_started_ns else 0.0
    )
    ttft_ms = progress.ttft_ms()
    parts = [f"{progress.phase:<11}"]
    if progress.phase == "performance":
        parts.append(bar(_share(progress, plan, elapsed_s)))
    parts.append(f"{progress.completed} done")
    if progress.phase == "performance":
        parts.append(f"{progress.ended / elapsed_s:.1f} req/s")
    if score:
        parts.append(f"score {score}")
    parts.append(f"{progress.in_flight} in flight")
    if ttft_ms is not None:
        parts.append(f"TTFT {ttft_ms:.1f} ms")
    parts.append(f"{progress.errors.total()} errors" + _most_common(progress))
    parts.append(f"{elapsed_s:.0f} s")
    whole = "  ".join(parts)
    if len(whole) > width:
        whole = re.sub(r"[█░]+ +", "", whole)
    return whole[:width]


def _share(progress: SessionProgress, plan: Plan, elapsed_s: float) -> float:
    """The part of the plan that is done: of the limit that is nearer."""
    shares = [0.0]
    if plan.sessions is not None:
        shares.append(progress.sessions / plan.sessions)
    elif plan.requests is not None:
        shares.append(progress.ended / plan.requests)
    if plan.duration_s is not None:
        shares.append(elapsed_s / plan.duration_s)
    return min(1.0, max(shares))


def _most_common(progress: SessionProgress) -> str:
    worst = progress.errors.most_common(1)
    return f" ({worst[0][0]})" if worst else ""
