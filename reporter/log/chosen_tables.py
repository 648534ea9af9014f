"""Some of the tables and views of a log, with dependencies."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from recorder.lock import is_held
from recorder.store import log_path
from reporter.errors import blaming
from reporter.log.database import fill_windows
from reporter.log.sql_files import names_read, needed
from reporter.log.tables import ON_DEMAND, TABLES, load, load_from

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from reporter.log.opened import OpenSource

_OF_THE_SESSION: Final = (
    *("clocks", "session", "session_events", "segment_ends"),
    *("credible", "windows", "definitions"),
)
"""The names of `reporter.log.tables.TABLES` that the view `samples` needs in addition to `requests`."""


def make_views(connection: DuckDBPyConnection, run: Path, views: Collection[str]) -> None:
    """Make some of the views of docs/sql.md, with dependencies, in a connection's database.

    Raises:
        LogError: It is not a log that this version reads, or it is damaged.
        NoRoomError: Memory and temporary disk space are too small for it.
    """
    unended = "running" if is_held(log_path(run).resolve().parent) else "cut_off"
    connection.execute("SET VARIABLE unended = ?", [unended])
    tables, big_tables = tables_of(frozenset(views))
    load_only(connection, run, tables)
    if "windows" in tables:
        with blaming(log_path(run)):
            fill_windows(connection)
    load_only(connection, run, big_tables)


@cache
def tables_of(views: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The sources of views: the tables of every opened log, and the big tables."""
    made = needed(views, [*TABLES, *ON_DEMAND]) | {"clocks"}
    if made & {"windows", "measured_window"}:
        made |= needed({"windows", "measured_window", *names_read("figures/timeline")}, TABLES)
    return made & TABLES.keys(), made & ON_DEMAND.keys()


def load_only(connection: DuckDBPyConnection, run: Path, names: Collection[str]) -> None:
    """Make tables and views by names of `tables_of`.

    Raises:
        LogError: As for `reporter.log.tables.load`.
    """
    if names:
        tables = {**TABLES, **ON_DEMAND}
        load(connection, run, {name: source for name, source in tables.items() if name in names})


def load_session(connection: DuckDBPyConnection, log: OpenSource) -> None:
    """Make the tables and macros that the view `samples` needs and that requests add nothing to.

    Raises:
        LogError: As for `reporter.log.tables.load`.
    """
    load_from(connection, log, {name: TABLES[name] for name in _OF_THE_SESSION})
