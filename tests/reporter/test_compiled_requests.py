"""Requests joined by compiled code: the table is that of the SQL, which joins what is odd itself."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from recorder import Event, EventType, schema
from recorder.session import Session
from recorder.store import Store
from reporter.log import requests_table
from reporter.log.opened import opened
from reporter.log.tables import load_tables
from tests.reporter.conftest import BASE_NS, WALL_NS
from tests.reporter.sharding import sharded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reporter.conftest import Run

pytestmark = pytest.mark.skipif(not requests_table.COMPILED, reason="compiled code is not built")


def tables_of(run: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Types of columns and rows of the table as compiled code joins it, and as SQL does."""
    tables = []
    for compiled in (True, False):
        monkeypatch.setattr(requests_table, "COMPILED", compiled)
        with duckdb.connect() as connection:
            connection.execute("SET VARIABLE unended = 'cut_off'")
            load_tables(connection, run)
            columns = [column[:2] for column in connection.execute("DESCRIBE requests").fetchall()]
            rows = connection.execute("FROM requests ORDER BY sample_uuid").fetchall()
            tables.append((columns, rows))
    return tables


def is_joined(run: Path) -> bool:
    """Whether compiled code joins the events of a log."""
    with duckdb.connect() as connection:
        connection.execute("SET VARIABLE unended = 'cut_off'")
        load_tables(connection, run)
        connection.execute("DROP TABLE requests; DROP TABLE client_tokens")
        with opened(run) as log:
            requests = requests_table.compiled_requests(log)
            assert requests is not None
            return requests.are_joined(connection)


def varied(a_run: Callable[..., Run]) -> Run:
    """Requests of many kinds: retried, sent again, failed, in flight, with texts in their payloads."""
    run = a_run()
    run.answers(50, 60, 70, usage=(10, 3), first_chunk=["content", {"x": [1, None, True]}], cached_tokens=0)
    about = {
        "tags": {"class": "é \U0001f600", "n": 3},
        "conversation": 'a "quoted"\n\\text\x1b\x7f',
        "turn": 0,
    }
    run.answers(80, at_ms=10, issue={"about": about, "connect_ms": 0.1234567890123, "reused": False})
    run.answers(90, late_chunks=[0, 1, 250], first_token_low_ns=BASE_NS + 5, issue={"reused": True})
    run.issues(20).happens(EventType.RETRY, 25, attempt=1, error="http_500")
    run.happens(EventType.REQUEST_SENT, 30, sent_high_ns=BASE_NS + 31_000_000, retried=True)
    run.happens(EventType.FIRST_CHUNK, 40).happens(EventType.COMPLETE, 50, status=200, stream=True)
    run.fails("http_429", at_ms=30, failed=35, status=429, unknown={"deep": [[1.5e-7, -0.0], "\\u00e9"]})
    run.issues(40).happens(EventType.CANCELLED, 45, reason="drain")
    run.issues(50, sent=-1)
    run.happens(EventType.ERROR, 60, "never issued", error="client_bug")
    return run.issues(60).happens(EventType.FIRST_CHUNK, 70).ends()


def test_the_table_is_that_of_the_sql(a_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """Value for value, type for type."""
    run = varied(a_run).write()
    assert is_joined(run)
    by_code, by_sql = tables_of(run, monkeypatch)
    assert by_code == by_sql
    assert len(by_code[1]) == 9


def test_shards_are_on_one_clock(a_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the times within payloads; each request is of the node whose log has it."""
    run = sharded(varied(a_run), {"node-0": 0, "node-1": 7_000_000_000}, lambda uuid: f"node-{len(uuid) % 2}")
    assert is_joined(run)
    by_code, by_sql = tables_of(run, monkeypatch)
    assert by_code == by_sql


def test_segments_are_on_one_clock(a_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock began again with the machine before the second one."""
    run = varied(a_run).write()
    store = Store.reopen(run / "events.db", Session("", 1000, WALL_NS + 10**12, {}, {}, "another boot"))
    issue = {"scheduled_ns": 1500, "phase": "performance"}
    later = [
        Event(EventType.LOADGEN_ISSUE_CALLED, 2000, "later", issue),
        Event(EventType.REQUEST_SENT, 3000, "later", {"sent_high_ns": 3100}),
        Event(EventType.COMPLETE, 9000, "later", {"first_byte_ns": 8000, "last_token_ns": 8500}),
    ]
    store.append([schema.row(event) for event in later])
    store.close()
    assert is_joined(run)
    by_code, by_sql = tables_of(run, monkeypatch)
    assert by_code == by_sql


@pytest.mark.parametrize(
    "odd",
    [
        "UPDATE events SET code = 20 WHERE code = 22",  # issued twice
        "INSERT INTO events SELECT 99, 22, at_ns, sample_uuid, NULL, NULL, NULL FROM events WHERE code = 23",
        "UPDATE events SET data = replace(data, '\"chunks\":3', '\"chunks\":3.0')",
        'UPDATE events SET data = replace(data, \'"chunks":3\', \'"chunks":"3"\')',
        'UPDATE events SET data = replace(data, \'"chunks":3\', \'"chunks":3,"chunks":4\')',
        "UPDATE events SET data = replace(data, ':', ' : ')",
        "UPDATE events SET data = '[]' WHERE code = 20",
    ],
)
def test_sql_joins_what_is_odd(a_run: Callable[..., Run], odd: str) -> None:
    """The compiled code does not guess."""
    run = a_run().answers(50, 60, 70, usage=(10, 3)).ends().write()
    with closing(sqlite3.connect(run / "events.db")) as log:
        assert log.execute(odd).rowcount
        log.commit()
    assert not is_joined(run)
