"""A run's tables as Parquet: samples, events and chunks, by DuckDB, which needs no table in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.log.sql_files import quoted
from reporter.sample_results import TABLES, write_results

if TYPE_CHECKING:
    from pathlib import Path

    from reporter.log.database import OpenLog
    from reporter.sample_results import ResultOptions

SAMPLES: Final = "samples.parquet"
EVENTS: Final = "events.parquet"
CHUNKS: Final = "chunks.parquet"
FILES: Final = (SAMPLES, EVENTS, CHUNKS)

_QUERIES: Final = {
    EVENTS: "SELECT * FROM events ORDER BY seq",
    CHUNKS: "SELECT * FROM chunks",
}


def write_tables(log: OpenLog, folder: Path, options: ResultOptions) -> dict[str, int]:
    """Write the tables of a run.

    Args:
        log: An opened log, by the definitions that are wanted.
        folder: Where to; it exists.
        options: What is in `samples.parquet`.

    Returns:
        How many rows each file has.

    Raises:
        OptionError: The scoring pass or price does not exist.
        OSError: A file cannot be written.
    """
    log.load((*TABLES, "events"))
    rows = {SAMPLES: write_results(log, folder / SAMPLES, options)}
    for name, query in _QUERIES.items():
        target = quoted(str(folder / name))
        ((rows[name],),) = log.execute(
            f"COPY ({query}) TO {target} (FORMAT parquet, COMPRESSION zstd)"
        ).fetchall()
    return rows
