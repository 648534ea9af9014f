"""The CPU time of this process, and the time spent waiting for a CPU."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import Any, Final

_TASKS: Final = "/proc/self/task"
_NS: Final = 1e9


class CpuTime:
    """The CPU use of this process, over all threads, between two readings."""

    def __init__(self) -> None:
        self._wall_s = time.monotonic()
        self._used_s = time.process_time()
        self._waited_s = waited_s()

    def reading(self) -> dict[str, Any]:
        """The shares since the last reading: `cpu_share`, of one core, and `cpu_wait_share`.

        The latter is the share of the time that threads were ready to run and had no CPU; None where unknown.
        """
        before = self._wall_s, self._used_s, self._waited_s
        self._wall_s, self._used_s, self._waited_s = time.monotonic(), time.process_time(), waited_s()
        wall_s = max(self._wall_s - before[0], 1e-9)
        wait_share = None
        if self._waited_s is not None and before[2] is not None:
            # The wait of a thread that has ended since is not in the sum any more.
            wait_share = round(max(0.0, self._waited_s - before[2]) / wall_s, 3)
        return {"cpu_share": round((self._used_s - before[1]) / wall_s, 3), "cpu_wait_share": wait_share}


def waited_s() -> float | None:
    """How long the threads of this process have waited for a CPU so far; None where the system does not say.

    Linux counts it in the second field of a thread's `schedstat`, in nanoseconds.
    """
    waited_ns: list[int] = []
    with suppress(OSError):
        for task in os.listdir(_TASKS):  # noqa: PTH208 (a worker starts without pathlib)
            with suppress(OSError), open(f"{_TASKS}/{task}/schedstat", "rb") as figures:  # noqa: PTH123 (likewise)
                waited_ns.append(int(figures.read().split()[1]))
    return sum(waited_ns) / _NS if waited_ns else None
