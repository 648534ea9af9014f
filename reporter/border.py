"""The border between a log and this program: what a log makes go wrong is said to be the log's fault.

A log may come from anywhere, with anything in any place: text where a number should be, times beyond all
calendars, JSON of another shape. The libraries that read it and compute from it fail at that in their own
ways, which are known by their errors. What this program itself makes of a log's values asks for their kind
(`reporter.kinds`), so that any other error is a bug, and keeps its traceback.
"""

from __future__ import annotations

from contextlib import contextmanager
from tempfile import gettempdir
from typing import TYPE_CHECKING

from recorder.errors import LogError
from reporter.errors import NoRoomError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def blaming(log: Path) -> Iterator[None]:
    """Have libraries read a log, or compute from it.

    Raises:
        LogError: It is damaged, or was not written by this program.
        NoRoomError: There is no room for what they keep meanwhile.
    """
    import duckdb
    from adbc_driver_sqlite import dbapi
    from pyarrow import ArrowException

    try:
        yield
    except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
        raise NoRoomError(
            f"there is no room to report {log} ({_first_line(error)}): make some in {gettempdir()}, "
            "or set TMPDIR to another folder",
        ) from error
    except (dbapi.Error, duckdb.Error, ArrowException, OSError, UnicodeDecodeError) as error:
        # What a library says of bytes that are no UTF-8 may quote them, and is then not to be decoded either.
        if isinstance(error, OSError) and error.errno is not None:
            # Only one without a number is what Arrow makes of an error of the driver that it reads from.
            raise
        if "KeyboardInterrupt" in str(error):
            # DuckDB wraps whatever a stream that it reads raises.
            raise KeyboardInterrupt from error
        raise LogError(f"{log}: the log is damaged and cannot be read ({_first_line(error)})") from error


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
