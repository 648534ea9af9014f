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
