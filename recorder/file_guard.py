"""The check that an open log still has its name: SQLite keeps writing to a deleted file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorder.errors import LogCutError, LogGoneError
from recorder.write_ahead import SUFFIX, has_hole

if TYPE_CHECKING:
    import os
    from pathlib import Path


class Presence:
    """The files of a log, which must stay in place and must not shrink while the log is written.

    Args:
        log: The log; with it goes what SQLite has not folded into it yet.
    """

    def __init__(self, log: Path) -> None:
        self._wal = log.with_name(log.name + SUFFIX)
        self._seen: dict[Path, os.stat_result | None] = {log: None, self._wal: None}

    def require(self) -> None:
        """Check the files again: every file seen before must still exist.

        To be called before a batch, which makes a file that was cut short long again, and after it.

        Raises:
            LogGoneError, LogCutError: One of the files is gone, is another one, or was cut short.
        """
        for path, before in self._seen.items():
            try:
                current = path.stat()
            except FileNotFoundError:
                if before is None:
                    continue
                raise LogGoneError(f"{path.name} was moved or deleted") from None
            if before is not None:
                _require_same(path, before, current)
            self._seen[path] = current

    def require_whole(self) -> None:
        """Check the files again, including a truncation during the write of a batch.

        Raises:
            LogGoneError, LogCutError: As for `require`.
        """
        self.require()
        if self._seen[self._wal] is not None and has_hole(self._wal):
            raise LogCutError(f"{self._wal.name} was cut short while it was written to")


def _require_same(path: Path, before: os.stat_result, current: os.stat_result) -> None:
    if (before.st_dev, before.st_ino) != (current.st_dev, current.st_ino):
        raise LogGoneError(f"{path.name} was replaced")
    if current.st_size < before.st_size:
        raise LogCutError(f"{path.name} was cut short, from {before.st_size:,} to {current.st_size:,} bytes")
