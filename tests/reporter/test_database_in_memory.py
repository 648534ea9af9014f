"""How much memory DuckDB takes before it writes to the disk."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from reporter.log import database_in_memory
from reporter.log.database_in_memory import empty_database, memory_limit

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("container", "limit"),
    [("max", 2_000_000_000), ("6000000000", 1_500_000_000), ("512000000", 1_000_000_000)],
)
def test_a_quarter_of_the_memory(
    container: str, limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the machine (here 64 GB), or of the container where that has less; from 1 to 2 GB."""
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 15_625_000}
    monkeypatch.setattr("os.sysconf", sizes.get)
    (tmp_path / "memory.max").write_text(f"{container}\n")
    monkeypatch.setattr(database_in_memory, "_CGROUP_LIMIT", tmp_path / "memory.max")
    assert memory_limit() == limit


def test_the_limit_is_duckdbs(monkeypatch: pytest.MonkeyPatch) -> None:
    """In its own words."""
    monkeypatch.setattr(database_in_memory, "MOST_MEMORY", 2**30)
    with empty_database() as connection:
        assert connection.execute("SELECT current_setting('memory_limit')").fetchone() == ("1.0 GiB",)


def test_no_progress_bar_is_drawn() -> None:
    """As DuckDB does on standard output, where no file is run: in Jupyter, and with `python -c`."""
    code = """
from reporter.log.database_in_memory import empty_database
with empty_database() as connection:
    print(connection.execute("SELECT current_setting('enable_progress_bar')").fetchall())
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout == "[(False,)]\n"
