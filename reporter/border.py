"""The border between a log and this program: what a log makes go wrong is said to be the log's fault.

A log may come from anywhere, with anything in any place: text where a number should be, times beyond all
calendars, JSON of another shape. All of it ends in an error of some library. Reading and computing depend on
nothing but the log, so whichever error that is, a user is told of the log.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from recorder.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def blaming(log: Path) -> Iterator[None]:
    """Read, or compute from, a log.

    Raises:
        LogError: It is damaged, or was not written by this program.
    """
    import duckdb
    from adbc_driver_sqlite import dbapi

    try:
        yield
    except duckdb.OutOfMemoryException:
        raise
    except (
        *(dbapi.Error, duckdb.Error, OSError),
        *(ArithmeticError, AttributeError, LookupError, TypeError, ValueError),
    ) as error:
        if "KeyboardInterrupt" in str(error):
            # DuckDB wraps whatever a stream that it reads raises.
            raise KeyboardInterrupt from error
        first_line = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise LogError(f"{log}: the log is damaged and cannot be read ({first_line})") from error
