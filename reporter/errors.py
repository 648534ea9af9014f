"""The exceptions of the reporter.

    ReporterError
    ├── QueryError    the SQL is wrong, or needs more memory than there is
    ├── OptionError   an option of the report that does not exist
    ├── NotARunError  a path that is not a run, a report of one, or a folder of them
    ├── PriceError    a file that is not a table of prices
    ├── HeadlineError a figure of a benchmark whose SQL is not an aggregate of its scores
    ├── NoRoomError   no memory, and no disk in its place, for what is computed
    └── NoDatabaseError  DuckDB cannot be started, whatever the log

Errors of a log are `recorder.errors.LogError`.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from tempfile import gettempdir
from typing import TYPE_CHECKING

from recorder.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class ReporterError(Exception):
    """The base of the reporter's exceptions."""


class QueryError(ReporterError):
    """The SQL is wrong, or needs more memory than there is."""


class OptionError(ReporterError):
    """An option of the report that does not exist."""


class NotARunError(ReporterError):
    """A path that is not a run, a report of one, or a folder of them."""


class HeadlineError(ReporterError):
    """A figure of a benchmark whose SQL is not an aggregate of its scores."""


class PriceError(ReporterError):
    """A file that is not a table of prices."""


class NoRoomError(ReporterError):
    """No memory, and no disk in its place, for what is computed."""


class NoDatabaseError(ReporterError):
    """DuckDB cannot be started, whatever the log."""


@contextmanager
def blaming(log: Path) -> Iterator[None]:
    """Translate errors of libraries that read a log, or compute from it.

    Raises:
        LogError: It is damaged, or was not written by this program.
        NoRoomError: The disk has no space for temporary data.
    """
    try:
        yield
    except Exception as error:
        import duckdb  # not before: a log is being read while DuckDB is imported

        if isinstance(error, duckdb.OutOfMemoryException | duckdb.IOException):
            raise NoRoomError(
                f"{log}: too little temporary disk space to compute its figures ({_first_line(error)}); "
                f"free some in {gettempdir()}, or set TMPDIR to another folder",
            ) from error
        # DuckDB raises its base class for an error of a stream that it reads.
        if not isinstance(error, _damages()) and type(error) is not duckdb.Error:
            raise
        # A library's message about bytes that are not UTF-8 may quote them, and then cannot be decoded.
        if isinstance(error, OSError) and error.errno is not None:
            # Arrow wraps an error of the driver that it reads from as one without a number.
            raise
        if "KeyboardInterrupt" in str(error):
            # DuckDB wraps errors of a stream that it reads.
            raise KeyboardInterrupt from error
        raise LogError(f"{log}: the log is damaged and cannot be read ({_first_line(error)})") from error


def _damages() -> tuple[type[Exception], ...]:
    """The errors of libraries that read a damaged log."""
    import duckdb
    from adbc_driver_manager import Error as DriverError

    # Those of values, and of columns that have the type of a wrong value. Other errors of DuckDB are bugs.
    of_values = (duckdb.DataError, duckdb.InvalidInputException, duckdb.BinderException)
    errors = (DriverError, *of_values, OSError, UnicodeDecodeError)
    if "pyarrow" not in sys.modules:
        # It takes long to import, and has raised nothing where nothing has imported it.
        return errors
    from pyarrow import ArrowException

    return (*errors, ArrowException)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
