"""The writer's advisory lock on a run's folder, which the kernel releases at any death.

It says two things that the log alone cannot: that no other process may write now, and whether a log without
an end still grows or was cut off. Where the folder cannot be locked (NFS and some other network filesystems
lock files only), a run is written all the same, and a log without an end then counts as cut off.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar, Final, Self

from recorder.errors import AlreadyRecordingError, BeingWrittenError

if TYPE_CHECKING:
    from pathlib import Path

    from recorder.session import Session

PATIENCE_S: Final = 1.0
"""So long a writer tries: who only looks whether a run is held has it for a moment."""

_TRY_AGAIN_S: Final = 0.005

_HELD_HERE: Final[list[tuple[int, int]]] = []
"""The folders that this process holds, by device and inode."""


class Hold:
    """The lock on a run's folder until `release`; raises `BeingWrittenError` if another writer has it."""

    def __init__(self, folder: Path) -> None:
        self._identity: tuple[int, int] | None = None
        self._fd: int | None = os.open(folder, os.O_RDONLY)
        try:
            _take(self._fd, folder)
        except BaseException:
            self.release()
            raise
        self._identity = _identity(os.fstat(self._fd))
        _HELD_HERE.append(self._identity)

    def release(self) -> None:
        """Let go of the folder. Releasing twice is harmless."""
        fd, self._fd = self._fd, None
        if fd is not None:
            if self._identity is not None:
                _HELD_HERE.remove(self._identity)
            os.close(fd)


def is_held_here(folder: Path) -> bool:
    """Tell whether this very process writes a run."""
    try:
        return _identity(folder.stat()) in _HELD_HERE
    except OSError:
        return False


def is_held(folder: Path) -> bool:
    """Tell whether a run is being written now; False also where that cannot be known."""
    try:
        fd = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        # This gives the lock back as well.
        os.close(fd)
    return False


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _take(fd: int, folder: Path) -> None:
    give_up = time.monotonic() + PATIENCE_S
    # Whatever else it is that keeps the folder from being locked: no process can be kept from writing by it.
    with suppress(OSError):
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= give_up:
                    break
                time.sleep(_TRY_AGAIN_S)
            else:
                return
        raise BeingWrittenError(
            f"{folder}: another process is writing this run; `loadgen watch {folder}` shows how it gets on"
        )


class Active:
    """The state that the active recorder of a process owns, and no second recorder can."""

    LIVE: ClassVar[Self | None] = None  #: the recorder of this process; None without one
    #: Held while that changes, or while its writer is started.
    CLAIM: ClassVar[threading.RLock] = threading.RLock()
    session: Session

    def claim(self) -> None:
        """Become the recorder of this process, or raise `AlreadyRecordingError`."""
        kind = type(self)
        with kind.CLAIM:
            live = kind.LIVE
            if live is not None and live is not self:
                session_id = live.session.session_id
                raise AlreadyRecordingError(
                    f"a recorder is active in the process, of session {session_id}; close that recorder first"
                )
            kind.LIVE = self

    def release(self) -> None:
        """Release the claim on this process, if this recorder holds the claim."""
        if type(self).LIVE is self:
            type(self).LIVE = None
