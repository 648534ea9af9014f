"""SQL names events and payload types as `recorder` does, and holds none of their codes and columns."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import reporter
from recorder.event import EventType
from reporter.log.sql_files import sql_file, with_columns, with_event_codes
from tests.for_each import for_each

PACKAGE = Path(reporter.__file__).parent
A_CODE = re.compile(r"\bcode\b[\s(,]*(?:=|<>|<|>|<=|>=|IN|BETWEEN|WHEN)[\s(]*\d|endings\.code, \d")


@for_each("event", EventType)
def test_each_event_has_its_code(event: EventType) -> None:
    """Whatever else is in the statement."""
    assert with_event_codes(f"code = EventType.{event.name}, 'a'") == f"code = {event.value}, 'a'"


def test_a_name_that_does_not_exist_is_an_error() -> None:
    """It would otherwise be a column that DuckDB does not find."""
    with pytest.raises(KeyError, match="FINISHED"):
        with_event_codes("code = EventType.FINISHED")


def test_no_statement_holds_a_code() -> None:
    """Neither a file of SQL nor a text in Python."""
    files = [*PACKAGE.rglob("*.sql"), *PACKAGE.rglob("*.py")]
    assert [str(path) for path in files if A_CODE.search(path.read_text(encoding="utf-8"))] == []
    assert A_CODE.search("WHERE code = 20")
    assert A_CODE.search("CASE ended.code WHEN 23 THEN")


def test_the_statements_of_tables_have_numbers() -> None:
    """No name is left in them."""
    assert "EventType." in (PACKAGE / "sql" / "marks.sql").read_text(encoding="utf-8")
    names = [path.stem for path in (PACKAGE / "sql").glob("*.sql")]
    assert [name for name in names if re.search(r"EventType\.|(columns|moments)_of", sql_file(name))] == []


def test_payloads_have_their_columns() -> None:
    """All of a type, chosen ones, or moments with what is added; keys without a column are left out."""
    assert "salt" not in with_columns("columns_of(Issued)")
    assert with_columns("columns_of(Issued, turn, tags)") == """'{"turn":"BIGINT","tags":"JSON"}'"""
    assert with_columns("(moments_of(Sent, shift_of(seq)))") == (
        "(sent_high_ns + shift_of(seq) AS sent_high_ns)"
    )
    with pytest.raises(AttributeError, match="Finished"):
        with_columns("columns_of(Finished)")
