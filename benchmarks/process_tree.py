"""What a process and its descendants use, sampled from /proc while they run (Linux only)."""

from __future__ import annotations

import os
import threading
import time
from bisect import bisect_left
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

PROC: Final = Path("/proc")
POSSIBLE: Final = (PROC / "self" / "smaps_rollup").exists()
_TICKS_S: Final = os.sysconf("SC_CLK_TCK")
_MB: Final = 1e6


@dataclass(frozen=True, slots=True)
class Usage:
    """One sample.

    Attributes:
        at_ns: CLOCK_MONOTONIC.
        cpu_s: Processor time of all of them so far, of those that have ended as well.
        memory_mb: Their proportional set sizes (PSS) together: a page that several share counts once. 0 where
            it was not asked for.
    """

    at_ns: int
    cpu_s: float
    memory_mb: float


class Watch:
    """Samples a process tree while the context lasts.

    Args:
        pid: Its root.
        memory: Whether to look at memory, which holds up the processes for a moment each time.
        interval_s: Between two samples.
    """

    def __init__(self, pid: int, *, memory: bool, interval_s: float = 0.2) -> None:
        self.samples: list[Usage] = []
        self._pid = pid
        self._memory = memory
        self._interval_s = interval_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        if POSSIBLE:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if POSSIBLE:
            self._thread.join()

    def cpu_s(self, start_ns: int, end_ns: int) -> float | None:
        """Processor time that passed between two moments, interpolated; None without samples."""
        start, end = self._cpu_at(start_ns), self._cpu_at(end_ns)
        return None if start is None or end is None else end - start

    def share(self) -> float | None:
        """Processor time over all samples, as a share of one core; None without samples."""
        if not self.samples:
            return None
        first, last = self.samples[0], self.samples[-1]
        return (last.cpu_s - first.cpu_s) / max(last.at_ns - first.at_ns, 1) * 1e9

    def peak_mb(self, start_ns: int = 0, end_ns: int = 2**63) -> float | None:
        """The most memory between two moments; None without samples."""
        seen = (
            sample.memory_mb
            for sample in self.samples
            if start_ns <= sample.at_ns <= end_ns and sample.memory_mb
        )
        return max(seen, default=None)

    def _cpu_at(self, at_ns: int) -> float | None:
        after = bisect_left(self.samples, at_ns, key=lambda sample: sample.at_ns)
        if not 0 < after < len(self.samples):
            return None
        low, high = self.samples[after - 1], self.samples[after]
        return low.cpu_s + (high.cpu_s - low.cpu_s) * (at_ns - low.at_ns) / (high.at_ns - low.at_ns)

    def _run(self) -> None:
        is_over = False
        while not is_over:
            # Once more after the end: what happened until then has a sample on both sides.
            is_over = self._over.wait(self._interval_s if self.samples else 0.0)
            # A process that ends while it is looked at spoils the sample; the next one goes without it.
            with suppress(FileNotFoundError, ProcessLookupError):
                self.samples.append(self._look())

    def _look(self) -> Usage:
        pids = list(tree(self._pid))
        cpu_s = sum(map(_cpu_s, pids))
        memory_mb = sum(map(memory_of, pids)) if self._memory else 0.0
        return Usage(time.monotonic_ns(), cpu_s, memory_mb)


def tree(pid: int) -> Iterator[int]:
    """A process and its descendants."""
    yield pid
    for children in PROC.joinpath(str(pid), "task").glob("*/children"):
        for child in children.read_text().split():
            yield from tree(int(child))


def _cpu_s(pid: int) -> float:
    """Of a process and of those of its children that it has waited for (proc(5): utime to cstime)."""
    fields = PROC.joinpath(str(pid), "stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS_S


def memory_of(pid: int) -> float:
    """The proportional set size of a process, in MB."""
    for line in PROC.joinpath(str(pid), "smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024 / _MB
    return 0.0
