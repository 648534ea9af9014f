"""`loadgen export --perfetto`: a run as a trace for ui.perfetto.dev and the trace processor."""

from __future__ import annotations

import gzip
from typing import IO, TYPE_CHECKING, Final

from loadgen.plugins.exports.exported import Exported
from loadgen.plugins.exports.target_file import require_writable, writing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from loadgen.sessions.settings.export import ExportSettings

_FAST: Final = 1
"""Of gzip's levels: five times smaller; the best one takes ten times as long for a tenth."""


def write_trace(settings: ExportSettings, file: Path) -> Exported:
    """Write the trace, by the definitions of the rules that the run was started with.

    Raises:
        UsageError: The file exists, or its folder does not.
        SetupError: It cannot be written.
        LogError: The run cannot be read.
    """
    from loadgen.plugins.exports.render.perfetto_trace import trace
    from loadgen.plugins.exports.run_log import opened

    require_writable("--perfetto", file, force=settings.force)
    with opened(settings) as log, writing(file) as unfinished:
        ((requests,),) = log.execute("SELECT count(*) FROM requests WHERE issued_ns IS NOT NULL").fetchall()
        _write(trace(log), unfinished, compressed=file.suffix == ".gz")
    return Exported("file", str(file), requests, {"bytes": file.stat().st_size})


def _write(pieces: Iterator[bytes], file: IO[bytes], *, compressed: bool) -> None:
    if not compressed:
        file.writelines(pieces)
        return
    # Without the time of writing: the same run gives the same file.
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=_FAST, mtime=0) as packed:
        packed.writelines(pieces)
