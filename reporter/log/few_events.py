"""Rare events, as a small log: found once, and queried several times."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from reporter.log.event_codes import with_event_codes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from duckdb import DuckDBPyConnection

    from reporter.log.segments import Part

_AS_A_LOG: Final = """
    CREATE TEMP VIEW stream AS
    WITH events AS (SELECT seq, code, at_ns, data FROM few_events),
    event_types AS (SELECT DISTINCT code, name FROM few_events)
"""


class FewEvents:
    """The events of a table `few_events` of the database, open for reading."""

    @contextmanager
    def stream(self, connection: DuckDBPyConnection, selection: str, part: Part = "run") -> Iterator[None]:  # noqa: ARG002
        """Let the table `stream` of a database have the rows of a selection, as `Source.stream` does."""
        connection.execute(_AS_A_LOG + with_event_codes(selection))
        yield
        connection.execute("DROP VIEW stream")
