"""The recorder with an event loop: a disk that does not answer is reported, and waited for with a limit."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.cli.terminal.progress_observer import Terminal
from loadgen.driver.stop import Stop
from loadgen.sessions import loop_recorder as module
from loadgen.sessions.loop_recorder import recording
from recorder.errors import LogExistsError, WriterStalledError
from recorder.event import Event, EventType
from recorder.store import Store
from recorder.writer import EventRecorder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes seconds takes moments."""
    monkeypatch.setattr(module, "WARN_AFTER_S", 0.1)
    monkeypatch.setattr(module, "GIVE_UP_AFTER_S", 0.2)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where a log is made."""
    return tmp_path / "run" / "events.db"


@pytest.fixture
def no_answer(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A disk that takes no rows until the event is set."""
    answer, append = threading.Event(), Store.append

    def hanging(store: Store, *batch: Any) -> None:
        answer.wait()
        append(store, *batch)

    monkeypatch.setattr(Store, "append", hanging)
    yield answer
    answer.set()
    for thread in threading.enumerate():
        if thread.name == "event-writer":
            thread.join(30)


def test_what_is_recorded_is_in_the_log(log: Path) -> None:
    """The usual way: the log is there from the start of the context, and whole at its end."""
    there: list[bool] = []

    async def scenario() -> None:
        recorder = EventRecorder(path=log)
        async with recording(recorder, Stop(), Terminal()):
            there.append(log.exists())  # noqa: ASYNC240 (the file of a test)
            recorder.put(Event(EventType.TEST_STARTED, 7))

    asyncio.run(scenario())
    assert there == [True]
    with closing(sqlite3.connect(log)) as connection:
        assert connection.execute("SELECT at_ns FROM events WHERE code = 1").fetchall() == [(7,)]
    assert EventRecorder.LIVE is None


def test_a_log_that_is_there_already(log: Path) -> None:
    """It is an error before anything is recorded, and another recorder can be active afterwards."""

    async def scenario() -> None:
        async with recording(EventRecorder(path=log), Stop(), Terminal()):
            pass

    asyncio.run(scenario())
    with pytest.raises(LogExistsError):
        asyncio.run(scenario())
    assert EventRecorder.LIVE is None


def test_a_slow_disk(log: Path, no_answer: threading.Event, capsys: pytest.CaptureFixture[str]) -> None:
    """Warnings repeat how long and how many events; when it answers, nothing is lost."""

    async def scenario() -> None:
        recorder = EventRecorder(path=log)
        async with recording(recorder, Stop(), Terminal()):
            for at_ns in range(100):
                recorder.put(Event(EventType.FIRST_CHUNK, at_ns, "a"))
            while sum(bool(re.search(r"about 10\d events", line)) for line in lines) < 2:
                await asyncio.sleep(0.01)
                lines.extend(capsys.readouterr().err.splitlines())
            assert 1 <= recorder.unwritten <= 101
            no_answer.set()
        assert recorder.health.lost == 0

    lines: list[str] = []
    # A busy machine warns before the events are there.
    warning = re.compile(r"warning: the disk has not taken anything for \d+ s; about \d+ events")
    asyncio.run(scenario())
    assert all(map(warning.match, lines)), lines
    with closing(sqlite3.connect(log)) as connection:
        assert connection.execute("SELECT count(*) FROM events WHERE code = 22").fetchone() == (100,)


def test_a_disk_that_never_answers(log: Path, no_answer: threading.Event) -> None:
    """After two interrupts the run ends, with the number of lost events."""

    async def scenario() -> None:
        recorder, stop = EventRecorder(path=log), Stop()
        async with recording(recorder, stop, Terminal()):
            for at_ns in range(100):
                recorder.put(Event(EventType.FIRST_CHUNK, at_ns, "a"))
            stop.ask()
            stop.ask()

    with pytest.raises(
        WriterStalledError, match=r"events\.db: the disk has not taken anything.*about 10\d events"
    ):
        asyncio.run(scenario())
    assert not no_answer.is_set()
    assert EventRecorder.LIVE is None


def test_a_disk_on_which_no_log_can_be_begun(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That counts as not answering, too: nothing is recorded, and so nothing is begun."""
    answer, create = threading.Event(), Store.create

    def hanging(*arguments: object) -> Store:
        answer.wait()
        return create(*arguments)  # type: ignore[arg-type]  # what it was given

    monkeypatch.setattr(Store, "create", hanging)
    begun = False

    async def scenario() -> None:
        nonlocal begun
        stop = Stop()
        stop.ask()
        stop.ask()
        async with recording(EventRecorder(path=log), stop, Terminal()):
            begun = True

    with pytest.raises(WriterStalledError):
        asyncio.run(scenario())
    answer.set()
    for thread in threading.enumerate():
        if thread.name == "event-writer":
            thread.join(30)
    assert not begun
