"""`loadgen export --parquet`: the tables of a run as Parquet files in a folder."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from loadgen.plugins.exports.exported import Exported
from loadgen.sessions.errors import SetupError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.sessions.settings.export import ExportSettings

_OPTION: Final = "--parquet"


def write_folder(settings: ExportSettings, folder: Path) -> Exported:
    """Write `samples.parquet`, `events.parquet` and `chunks.parquet` completely, or not at all.

    Raises:
        UsageError: The folder has one of them, or is a file.
        SetupError: A file cannot be written.
        OptionError: The scoring pass or price does not exist.
        LogError: The run cannot be read.
    """
    from pathlib import Path

    from loadgen.plugins.exports.render.parquet_tables import FILES, SAMPLES, write_tables
    from loadgen.plugins.exports.run_log import opened
    from loadgen.sessions.settings.price_options import load as load_prices
    from reporter.sample_results import ResultOptions

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
