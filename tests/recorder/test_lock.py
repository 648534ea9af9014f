"""Who writes a run holds it."""

from __future__ import annotations

import errno
import fcntl
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, NoReturn

import pytest

from recorder import lock
from recorder.errors import BeingWrittenError
from recorder.event import EventType
from recorder.lock import Hold, is_held
from recorder.writer import EventRecorder

if TYPE_CHECKING:
    from pathlib import Path

HOLDS = """
import sys
from pathlib import Path
from recorder.lock import Hold
hold = Hold(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""
"""A process that holds a folder until a caller kills it."""


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process waits for a folder."""
    monkeypatch.setattr(lock, "PATIENCE_S", 0.0)


@pytest.mark.usefixtures("impatient")
def test_a_folder_has_one_writer(tmp_path: Path) -> None:
    """The second one is notified of what is going on, and how to look at it."""
    hold = Hold(tmp_path)
    assert is_held(tmp_path)
    with pytest.raises(BeingWrittenError, match=r"another process is writing this run; `loadgen watch "):
        Hold(tmp_path)
    hold.release()
    hold.release()
    assert not is_held(tmp_path)
    Hold(tmp_path).release()


def test_a_recorder_holds_its_run(tmp_path: Path) -> None:
    """From before there is a log until after it is closed."""
    with EventRecorder(path=tmp_path / "run" / "events.db"):
        assert is_held(tmp_path / "run")
    assert not is_held(tmp_path / "run")


@pytest.mark.usefixtures("impatient")
def test_no_log_begins_where_another_is_beginning(tmp_path: Path) -> None:
    """Also while there is no log yet that could be found."""
    hold = Hold(tmp_path)
    with pytest.raises(BeingWrittenError), EventRecorder(path=tmp_path / "events.db"):
        pass
    hold.release()
    assert list(tmp_path.iterdir()) == []
    assert EventRecorder.LIVE is None


def test_the_kernel_gives_back_what_a_killed_process_held(tmp_path: Path) -> None:
    """Whatever the process died of."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert is_held(tmp_path)
        holder.kill()
    assert not is_held(tmp_path)


def test_readers_of_the_lock_do_not_block_writers(tmp_path: Path) -> None:
    """A writer gets its folder while others look at it without a pause."""
    enough = threading.Event()

    def look() -> None:
        while not enough.is_set():
            is_held(tmp_path)

    lookers = [threading.Thread(target=look) for _ in range(2)]
    for looker in lookers:
        looker.start()
    try:
        for _ in range(50):
            Hold(tmp_path).release()
    finally:
        enough.set()
        for looker in lookers:
            looker.join()


def test_a_folder_that_cannot_be_locked_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some network filesystems lock no directories; whether a run is running is unknown then."""

    def refuse(*_: object) -> NoReturn:
        raise OSError(errno.EBADF, "no directories here")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with EventRecorder(path=tmp_path / "events.db") as recorder:
        recorder.record_event(EventType.TEST_STARTED, 1)
        assert not is_held(tmp_path)
    assert recorder.health.lost == 0


def test_what_is_not_there_is_not_held(tmp_path: Path) -> None:
    """A folder that a caller will make later, for instance."""
    assert not is_held(tmp_path / "nowhere")
