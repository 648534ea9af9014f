"""`loadgen export --parquet`: the tables of a run as Parquet files in a folder."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from loadgen.plugins.exports.exported import Exported, opened
from loadgen.sessions.errors import SetupError, UsageError
from reporter.log.sql_files import quoted
from reporter.sample_results import TABLES, ResultOptions, write_results

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.sessions.settings.export import ExportSettings
    from reporter.log.database import OpenLog

_OPTION: Final = "--parquet"

SAMPLES: Final = "samples.parquet"
EVENTS: Final = "events.parquet"
CHUNKS: Final = "chunks.parquet"
FILES: Final = (SAMPLES, EVENTS, CHUNKS)
_QUERIES: Final = {
    EVENTS: "SELECT * FROM events ORDER BY seq",
    CHUNKS: "SELECT * FROM chunks",
}


def write_folder(settings: ExportSettings, folder: Path) -> Exported:
    """Write `samples.parquet`, `events.parquet` and `chunks.parquet` completely, or not at all."""
    from pathlib import Path

    from loadgen.sessions.settings.price_options import load as load_prices

    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{_OPTION} {folder}: is a file; name a folder")
    existing = [name for name in FILES if (folder / name).exists()]
    if existing and not settings.force:
        raise UsageError(f"{_OPTION} {folder}: has {existing[0]}; choose another folder, or --force")
    options = ResultOptions(
        texts=settings.texts,
        scoring_pass=settings.scoring_pass,
        prices=load_prices(settings.prices),
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with opened(settings) as log, TemporaryDirectory(dir=folder, prefix=".") as unfinished:
            rows = write_tables(log, Path(unfinished), options)
            for name in FILES:
                (Path(unfinished) / name).replace(folder / name)
    except OSError as error:
        raise SetupError(f"{folder} cannot be written ({error.strerror})") from error
    return Exported("folder", str(folder), rows[SAMPLES], {"files": rows})


def write_tables(log: OpenLog, folder: Path, options: ResultOptions) -> dict[str, int]:
    """Write the tables of a run; return the number of rows of each file."""
    log.load((*TABLES, "events"))
    rows = {SAMPLES: write_results(log, folder / SAMPLES, options)}
    for name, query in _QUERIES.items():
        target = quoted(str(folder / name))
        ((rows[name],),) = log.execute(
            f"COPY ({query}) TO {target} (FORMAT parquet, COMPRESSION zstd)"
        ).fetchall()
    return rows
