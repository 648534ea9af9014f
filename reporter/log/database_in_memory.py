"""A DuckDB in memory, which moves what does not fit to the disk: a log may be larger than memory."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Final
from uuid import uuid4

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY_LIMIT: Final = "1GB"
"""What DuckDB keeps in memory before it moves tables to a temporary file; the process takes some more."""

THREADS: Final = min(4, os.cpu_count() or 1)
"""Reading is one thread's work; more than a few that count only take memory."""


def empty_database() -> DuckDBPyConnection:
    """A DuckDB in memory, with a limit beyond which it uses a temporary file."""
    import duckdb

    return duckdb.connect(
        config={
            "memory_limit": MEMORY_LIMIT,
            "threads": THREADS,
            # DuckDB makes the folder when it needs it, and removes it.
            "temp_directory": str(Path(gettempdir()) / f"loadgen-{uuid4().hex}"),
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
        },
    )
