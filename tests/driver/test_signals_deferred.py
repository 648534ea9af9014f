"""Signals that wait for a moment: whatever they interrupt is done whole, and they are heard all the same."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.system.signals import deferred
from loadgen.mock_endpoint.process import start_mock
from loadgen.sessions.scratch_folder import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path


def interrupted(by: Callable[[], None]) -> list[str]:
    """What is done while an interrupt comes, which is raised afterwards."""
    done: list[str] = []

    def work() -> None:
        with deferred():
            by()
            done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        work()
    return done


def test_an_interrupt_waits() -> None:
    """It is raised at the end, and the next one is heard as ever."""
    assert interrupted(lambda: signal.raise_signal(signal.SIGINT)) == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_thread_may_get_it() -> None:
    """A mask of the main thread would not keep it from being heard."""

    def elsewhere() -> None:
        thread = threading.Thread(target=lambda: signal.pthread_kill(threading.get_ident(), signal.SIGINT))
        thread.start()
        thread.join()

    assert interrupted(elsewhere) == ["all of it"]


def test_an_ignored_signal_stays_ignored() -> None:
    """What the program was started to ignore stays ignored."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with deferred():
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_no_folder_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in the usual way, nor when an interrupt comes while it is used."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with scratch_folder("a-") as folder:
        (folder / "file").write_text("")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyboardInterrupt), scratch_folder("b-"):
        signal.raise_signal(signal.SIGINT)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("make", [lambda: scratch_folder("c-"), start_mock], ids=["scratch folder", "mock"])
def test_no_folder_is_left_by_an_interrupt_while_it_is_made(
    make: Callable[[], AbstractContextManager[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exception lives on, so that no destructor tidies up instead."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = tempfile.mkdtemp

    def interrupted(*words: Any, **options: Any) -> str:
        folder = made(*words, **options)
        os.kill(os.getpid(), signal.SIGINT)
        return folder

    monkeypatch.setattr("tempfile.mkdtemp", interrupted)
    with pytest.raises(KeyboardInterrupt) as raised, make():
        pass
    assert list(tmp_path.iterdir()) == []
    assert raised.tb is not None


def test_other_threads_do_as_ever() -> None:
    """Python hears signals in its main thread alone: elsewhere there is nothing to wait for."""
    done = []

    def work() -> None:
        with deferred():
            done.append("all of it")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["all of it"]
