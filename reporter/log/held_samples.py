"""The rows of the view `samples` in a table, while a report asks for them.

DuckDB plans the view for every query: 50 ms for all of its columns, whichever a query needs. With few
requests this is most of the time that a report takes; with many it does not count, and the table would take
memory.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from duckdb import DuckDBPyConnection

FEW_REQUESTS: Final = 50_000
"""Their rows take 30 MB."""

_HOLD: Final = "CREATE OR REPLACE TEMP TABLE samples AS FROM memory.main.samples"


@contextmanager
def held_samples(connection: DuckDBPyConnection) -> Iterator[None]:
    """Let queries of `samples` read a table meanwhile, where there are few requests.

    Args:
        connection: An opened log. Its definitions stay as they are meanwhile; its windows may change.
    """
    ((requests,),) = connection.execute("SELECT count(*) FROM requests").fetchall()
    if requests > FEW_REQUESTS:
        yield
        return
    connection.execute(_HOLD)
    connection.execute("SET VARIABLE samples_are_held = true")
    try:
        yield
    finally:
        connection.execute("RESET VARIABLE samples_are_held")
        connection.execute("DROP TABLE temp.main.samples")


def renew_samples(connection: DuckDBPyConnection) -> None:
    """Compute the rows again where they are held, because the windows have changed."""
    ((held,),) = connection.execute("SELECT getvariable('samples_are_held')").fetchall()
    if held:
        connection.execute(_HOLD)
