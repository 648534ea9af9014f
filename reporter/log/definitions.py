"""Definitions as DuckDB's variables, which the views read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from rulesets.definitions import Definitions

READ_BY_VIEWS: Final = (
    "latency_origin",
    "tpot_denominator",
    "tpot_end",
    "tpot_n1",
    "token_source",
    "token_categories",
)
"""The other definitions are of what is done with the values of the views."""


def define(connection: DuckDBPyConnection, definitions: Definitions) -> None:
    """Set the variables of a connection that nothing has been asked of."""
    for name in READ_BY_VIEWS:
        value = getattr(definitions, name)
        connection.execute(f"SET VARIABLE {name} = ?", [list(value) if isinstance(value, tuple) else value])
