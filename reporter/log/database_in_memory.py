"""A DuckDB in memory that spills to disk: a log may be larger than memory."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from reporter.errors import NoDatabaseError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LEAST_MEMORY: Final = 10**9
MOST_MEMORY: Final = 2 * 10**9
"""DuckDB keeps a quarter of the memory, within these bounds, before it moves tables to a temporary file.

The process takes some 0.5 GB more.
"""

_CGROUP_LIMIT: Final = Path("/sys/fs/cgroup/memory.max")

_CPUS: Final = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1

THREADS: Final = min(4, _CPUS)
"""Reading is one thread's work; more than a few that count only take memory."""


def memory_limit() -> int:
    """The memory limit of DuckDB, in bytes."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    # A container may have less than its machine; without a limit the file says `max`.
    with suppress(OSError, ValueError):
        memory = min(memory, int(_CGROUP_LIMIT.read_text()))
    return min(max(LEAST_MEMORY, memory // 4), MOST_MEMORY)


def empty_database() -> DuckDBPyConnection:
    """A DuckDB in memory, with a limit above which a temporary file is used.

    Raises:
        NoDatabaseError: DuckDB cannot be started here.
    """
    import duckdb

    try:
        return _quiet(
            duckdb.connect(
                config={
                    "memory_limit": f"{memory_limit()}B",
                    "threads": THREADS,
                    # DuckDB makes the folder when it needs it, and removes it.
                    "temp_directory": str(Path(gettempdir()) / f"loadgen-{uuid4().hex}"),
                    "preserve_insertion_order": False,
                    "autoinstall_known_extensions": False,
                },
            )
        )
    except duckdb.Error as error:
        raise NoDatabaseError(f"DuckDB {duckdb.__version__} cannot be started: {error}") from error


def _quiet(connection: DuckDBPyConnection) -> DuckDBPyConnection:
    """The connection without a progress bar, which DuckDB draws in the interpreter and in some notebooks.

    In a notebook without ipywidgets there is none, and to set any of its options is an error.
    """
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]:
        connection.execute("SET enable_progress_bar = false")
    return connection
