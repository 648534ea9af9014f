"""The tables that a query needs, by the SQL that makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reporter.log.chosen_tables import load_only, tables_of
from reporter.log.database_in_memory import empty_database
from reporter.log.tables import BIG_TABLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.conftest import Run


def test_a_named_subquery_is_not_a_table() -> None:
    """`judge_calls` has subqueries `events` and `asked`, and reads no table of these names."""
    assert tables_of(frozenset({"judge_calls"})) == ({"clocks", "credible"}, {"judge_calls"})


@pytest.mark.slow
def test_what_a_table_needs_is_enough(a_run: Callable[..., Run]) -> None:
    """Each table can be made with only its sources."""
    run = a_run().answers(50, 60).ends().write()
    for name in BIG_TABLES:
        with empty_database() as connection:
            tables, big_tables = tables_of(frozenset({name}))
            load_only(connection, run, tables | big_tables)
            assert connection.table(name).columns
