"""Definitions as DuckDB's variables, which the views read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.log.sql_files import quoted
from rulesets.definitions import Definitions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from duckdb import DuckDBPyConnection

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


def as_sql(chosen: Mapping[str, Any]) -> str:
    """The variables as SQL, without the default definitions.

    Args:
        chosen: Definitions in plain types, as report.json has them.
    """
    usual = Definitions().to_dict()
    return "".join(
        f"SET VARIABLE {name} = {_literal(chosen[name])};\n"
        for name in READ_BY_VIEWS
        if name in chosen and _literal(chosen[name]) != _literal(usual[name])
    )


def _literal(value: str | list[str] | None) -> str:
    if value is None:
        return "NULL"
    return quoted(value) if isinstance(value, str) else f"[{', '.join(map(quoted, value))}]"
