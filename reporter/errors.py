"""What can be wrong with a question to the reporter.

    ReporterError
    ├── QueryError    the SQL is wrong, or asks for more than there is room for
    ├── OptionError   an option of the report that there is none of
    ├── NotARunError  what should be a run, a report of one, or a folder of them, is none
    ├── PriceError    what should be a table of prices is none
    ├── HeadlineError a figure of a benchmark whose SQL is no aggregate of its scores
    └── NoRoomError   no memory, and no disk in its place, for what is computed

What is wrong with a log is told by `recorder.errors.LogError`.
"""

from __future__ import annotations


class ReporterError(Exception):
    """Anything that the reporter raises of its own."""


class QueryError(ReporterError):
    """The SQL is wrong, or asks for more than there is room for."""


class OptionError(ReporterError):
    """An option of the report that there is none of."""


class NotARunError(ReporterError):
    """What should be a run, a report of one, or a folder of them, is none."""


class HeadlineError(ReporterError):
    """A figure of a benchmark whose SQL is no aggregate of its scores."""


class PriceError(ReporterError):
    """What should be a table of prices is none."""


class NoRoomError(ReporterError):
    """No memory, and no disk in its place, for what is computed."""
