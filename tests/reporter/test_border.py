"""What is the log's fault, what the machine's, and what is a bug."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest
from pyarrow import ArrowInvalid

from loadgen.sessions.error_exit_codes import exit_code
from recorder.errors import LogError
from reporter import MetricsReporter, metrics
from reporter.errors import NoDatabaseError, NoRoomError, blaming
from reporter.json_values import document
from reporter.log.all_events import rows
from reporter.log.database import open_log
from reporter.log.query import query
from reporter.replayed_requests import texts_asked
from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.conftest import Run

LOG = Path("events.db")


@pytest.mark.parametrize("error", [KeyError, TypeError, ZeroDivisionError, AttributeError])
def test_a_bug_is_not_reported_as_a_damaged_log(
    a_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    """It comes out as it is, to be reported with its traceback."""
    run = a_run().answers(5).stops(10).ends(10).write()

    def fail(*_: object) -> None:
        raise error("of ours")

    monkeypatch.setattr(metrics, "_throughput", fail)
    with pytest.raises(error), MetricsReporter(run) as reporter:
        reporter.create_report()
    assert exit_code(error("of ours")) is None


def test_an_error_of_the_system_is_not_reported_as_a_damaged_log() -> None:
    """Errors of the operating system are passed on."""
    with pytest.raises(OSError, match="No space left") as raised, blaming(LOG):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert exit_code(raised.value) == ExitCode.SETUP


@pytest.mark.parametrize(
    "error",
    [duckdb.CatalogException, duckdb.ParserException, duckdb.InternalException, duckdb.ConnectionException],
)
def test_an_error_of_duckdb_itself_is_not_reported_as_a_damaged_log(error: type[Exception]) -> None:
    """Only errors of values are the log's."""
    with pytest.raises(error), blaming(LOG):
        raise error("of ours")


@pytest.mark.parametrize(
    "read", [lambda run: query(run, "SELECT 1"), texts_asked, lambda run: list(rows(run))]
)
def test_a_duckdb_that_does_not_start_is_not_a_damaged_log(
    a_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, read: Callable[[Path], object]
) -> None:
    """As in a notebook that refuses one of its settings: the message says that it is DuckDB."""
    run = a_run().answers(5).stops(10).ends(10).write()

    def refuse(**_: object) -> None:
        raise duckdb.InvalidInputException("required package is missing")

    monkeypatch.setattr(duckdb, "connect", refuse)
    with pytest.raises(NoDatabaseError, match="cannot be started: required package is missing") as raised:
        read(run)
    assert exit_code(raised.value) == ExitCode.SETUP
    with pytest.raises(NoDatabaseError), MetricsReporter(run) as reporter:
        reporter.create_report()


@pytest.mark.slow
def test_no_room_for_tables_that_do_not_fit_into_memory(
    a_run: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither is that: it is said where room is needed."""
    monkeypatch.setattr("reporter.log.database_in_memory.MOST_MEMORY", 40_000_000)
    (tmp_path / "file").touch()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    run = a_run()
    for number in range(30_000):
        run.issues(uuid=f"{number:032}" + "x" * 300)
    with pytest.raises(
        NoRoomError, match=r"too little temporary disk space .* set TMPDIR to another"
    ) as raised:
        open_log(run.write())
    assert exit_code(raised.value) == ExitCode.SETUP


@pytest.mark.parametrize(
    "error",
    [duckdb.ConversionException("x\ny"), ArrowInvalid("x\ny"), OSError("x\ny")],
    ids=type,
)
def test_what_the_libraries_cannot_read_is(error: Exception) -> None:
    """Arrow's errors of a stream are among them, which have no number."""
    with (
        pytest.raises(LogError, match=r"^events\.db: the log is damaged and cannot be read \(x\)$"),
        blaming(LOG),
    ):
        raise error


def test_an_interrupt_that_duckdb_wrapped_is_unwrapped() -> None:
    """DuckDB raises an exception of a stream that it reads as its own error."""
    with pytest.raises(KeyboardInterrupt), blaming(LOG):
        raise duckdb.InvalidInputException("Python exception: KeyboardInterrupt")


def test_invalid_json_is_reported_as_a_damaged_log() -> None:
    """As DuckDB reports it for text that it parses itself."""
    with pytest.raises(LogError, match="invalid JSON"):
        document("{")
