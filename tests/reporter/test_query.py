"""SQL as a public interface: what docs/sql.md says is what there is."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from loadgen.sessions.sql_query import findings_asked
from recorder import Event, EventType, schema
from recorder.continued_log import reopen
from recorder.errors import NotALogError
from recorder.session import Session
from reporter import MetricsReporter
from reporter.errors import QueryError
from reporter.log.query import VIEWS, queries, query, query_series
from reporter.report import Finding
from tests.for_each import for_each
from tests.reporter.conftest import ns

if TYPE_CHECKING:
    from collections.abc import Callable

    from reporter.log.query import QueryResult
    from tests.reporter.conftest import Run

DOCS = (Path(__file__).parents[2] / "docs" / "sql.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##)", DOCS, re.MULTILINE | re.DOTALL))


def blocks(language: str) -> list[str]:
    """The code blocks of the page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", DOCS, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(a_run: Callable[..., Run]) -> Path:
    """A run that has something for every view to show."""
    texts = {"output": "hello", "reasoning": None, "tool_calls": None}
    run = a_run()
    run.session(EventType.QUESTION, 0, prompt_id=1, task="sums", id="one", tags={"category": "easy"})
    run.answers(5, 7, 9, usage=(1, 3), texts=texts, issue={"prompt": {"prompt": "hi"}}, complete=10)
    scored = run.fails("http_429", status=429).ends().write()
    for number, value in enumerate((0.0, 1.0), start=1):
        _score(scored, number, value)
    return scored


def _score(run: Path, number: int, value: float) -> None:
    """Append a scoring pass of one answer."""
    at_ns = ns(2000 + number)
    started = {"pass": number, "scorers": [{"task": "sums", "scorer": "official", "version": 1}]}
    graded = {"pass": number, "scorer": "official", "value": value, "status": "scored"}
    judged = {"phase": "judge", "judges": "request 1"}
    events = [
        Event(EventType.SCORING_STARTED, at_ns, None, started),
        Event(EventType.LOADGEN_ISSUE_CALLED, at_ns, f"judge {number}", judged),
        Event(EventType.SCORED, at_ns, "request 1", graded),
        Event(EventType.SCORING_ENDED, at_ns, None, {"pass": number, "reason": "completed"}),
    ]
    segment = Session(started_at_ns=at_ns, environment={"kind": "scoring"})
    store = reopen(run / "events.db", segment)
    store.append([schema.row(event) for event in events])
    store.close()


def test_every_view_is_documented() -> None:
    """The page has a section for each public view, and for no other."""
    assert sorted(SECTIONS) == sorted(VIEWS)


@for_each("view", VIEWS)
def test_every_column_is_documented(folder: Path, ask: Callable[..., QueryResult], view: str) -> None:
    """A view has the columns that the page describes, in that order; metrics have a separate table."""
    own, _, metrics = SECTIONS[view].partition("<!-- metrics -->")
    cells = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", own, re.MULTILINE)
    documented = re.findall(r"`(\w+)`", "".join(cells))
    made = re.findall(r"`(\w+)`", metrics)
    columns = ask(folder, f"FROM {view}").columns
    assert [column for column in columns if column not in made] == documented
    assert set(made) <= set(columns)


@pytest.mark.parametrize("sql", blocks("sql"))
def test_the_queries_of_the_page_answer(folder: Path, sql: str) -> None:
    """Each query that the page shows runs and finds something."""
    assert query(folder, sql).rows


@pytest.mark.parametrize("sql", blocks("sqlite"))
def test_the_log_can_be_read_without_us(folder: Path, sql: str) -> None:
    """Each query that the page shows for sqlite3 runs on the log itself and finds something."""
    with closing(sqlite3.connect(folder / "events.db")) as connection:
        assert connection.execute(sql).fetchall()


@pytest.mark.parametrize("program", blocks("python"))
def test_the_programs_of_the_page_run(
    folder: Path,
    program: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """Each Python program of the page runs where there is a run of that name, and prints something."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "20260102-030405-my-model").symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "docs/sql.md", "exec"), {})  # noqa: S102 (our own page)
    assert capsys.readouterr().out


def test_an_answer_is_columns_and_rows(folder: Path) -> None:
    """Values come as Python values, under the names that the query gives."""
    answer = query(folder, "SELECT status, ttft_ms AS first FROM samples ORDER BY status")
    assert (answer.columns, answer.rows) == (["status", "first"], [("completed", 5.0), ("failed", None)])


@pytest.mark.parametrize("zone", ["", "SET TimeZone = 'UTC'; "])
def test_a_time_with_a_zone_is_a_value_too(folder: Path, zone: str) -> None:
    """DuckDB by itself would ask for another package; what else the row has stays as it is."""
    sql = "SELECT now() - INTERVAL 1 HOUR AS t, 1 AS t, [to_timestamp(0)] AS l, NULL::TIMESTAMPTZ AS n"
    answer = query(folder, f"{zone}{sql} FROM samples")
    assert answer.columns == ["t", "t", "l", "n"]
    assert len(answer.rows) == 2
    (then, number, listed, nothing) = answer.rows[0]
    assert abs((datetime.now(tz=UTC) - then) - timedelta(hours=1)) < timedelta(minutes=5)
    assert (number, listed, nothing) == (1, [datetime(1970, 1, 1, tzinfo=UTC)], None)


def test_a_time_that_python_does_not_have(folder: Path) -> None:
    """One line says so."""
    with pytest.raises(QueryError, match=r"VARCHAR"):
        query(folder, "SELECT 'infinity'::TIMESTAMPTZ")


def test_several_statements_answer_with_the_last(folder: Path) -> None:
    """A query may make something to ask of, and its own memory limit."""
    sql = (
        "SET memory_limit = '1GB'; CREATE TABLE t AS SELECT status FROM samples; SELECT count(*) AS n FROM t"
    )
    assert query(folder, sql).rows == [(2,)]


def test_wrong_sql_is_explained(folder: Path) -> None:
    """An error says what DuckDB says, and which views there are."""
    views = "Available views: session, phases, segments, nodes, samples"
    with pytest.raises(QueryError, match=rf"(?s)sampels.*{views}"):
        query(folder, "SELECT * FROM sampels")


def test_a_missing_run(tmp_path: Path) -> None:
    """The log is looked for before the SQL is."""
    with pytest.raises(NotALogError):
        query(tmp_path, "SELECT nonsense")


@pytest.mark.slow
def test_views_of_a_series_are_those_of_the_whole_log(a_run: Callable[..., Run]) -> None:
    """Of many runs only what a query needs is made; two runs are put together in one way for all views."""
    run = a_run().answers(5, 7).session(EventType.TELEMETRY, 60, source="client", worker=0)
    folder = run.session(EventType.FINDING, 70, code="c", severity="info", message="m").ends().write()
    whole = queries(folder, [f"FROM {view} ORDER BY ALL" for view in VIEWS])
    for view, answer in zip(VIEWS, whole, strict=True):
        names = "ab" if view == next(iter(VIEWS)) else "a"
        series = query_series(dict.fromkeys(names, folder), f"FROM {view} ORDER BY ALL")
        assert series.rows == [(name, *row) for name in names for row in answer.rows]


def test_the_time_of_day_of_a_request(folder: Path) -> None:
    """In the main view, with the seconds since the window began."""
    sql = """
        SELECT issued_at_utc = wall_time(issued_ns), issued_s = (issued_ns - start_ns) / 1e9,
            year(issued_at_utc) = year(started_at_utc)
        FROM samples, measured_window, session"""
    assert set(query(folder, sql).rows) == {(True, True, True)}


@pytest.mark.parametrize("sql", ["SHOW TABLES", "show all tables;", " show tables ; "])
def test_the_tables_that_are_shown_are_the_public_views(folder: Path, sql: str) -> None:
    """All of them, with what they have, and no table that they are made of."""
    assert query(folder, sql).rows == list(VIEWS.items())
    assert query_series({"a": folder}, sql).rows == list(VIEWS.items())


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM events",
        "UPDATE session SET ended = 'x'",
        "INSERT INTO phases VALUES (1)",
        "DROP VIEW samples",
        "SELECT 1; TRUNCATE events",
        "ALTER TABLE events RENAME TO others",
    ],
)
def test_nothing_is_written(folder: Path, sql: str) -> None:
    """It would change the tables in memory only, and look as if it had changed the log."""
    for ask in (query, lambda run, sql: query_series({"a": run}, sql)):
        with pytest.raises(QueryError, match="is refused: the log is only read; use SELECT"):
            ask(folder, sql)


def test_the_findings_of_the_report(a_run: Callable[..., Run]) -> None:
    """What the load generator logged has its time; what follows from the figures has none."""
    run = a_run().answers(5, 7).session(EventType.FINDING, 70, code="c", severity="info", message="m").write()
    reported = [Finding("c", "info", "m", ""), Finding("d", "warning", "n", "r")]
    sql = "SELECT code, severity, message, remedy, at_utc IS NOT NULL FROM findings ORDER BY code"
    rows = [("c", "info", "m", "", True), ("d", "warning", "n", "r", False)]
    assert query(run, sql, reported).rows == rows
    assert query_series({"a": run}, sql, lambda _: reported).rows == rows
    assert query(run, sql, []).rows == []
    asked = findings_asked(run, sql)
    with MetricsReporter(run) as reporter:
        assert asked == reporter.create_report().findings
    assert findings_asked(run, "FROM samples") is None
