"""Whether a log is still where it was made: SQLite goes on writing to a file that has no name any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorder.errors import LogGoneError

if TYPE_CHECKING:
    import os
    from pathlib import Path


class Presence:
    """Knows the files of a log: they stay the same, and never get shorter while the log is written.

    Args:
        log: The log; with it goes what SQLite has not folded into it yet.
    """

    def __init__(self, log: Path) -> None:
        self._seen: dict[Path, os.stat_result | None] = {log: None, log.with_name(f"{log.name}-wal"): None}

    def require(self) -> None:
        """Look again. What was there at any earlier look is missed when it is not there now.

        Raises:
            LogGoneError: One of the files is gone, is another one, or was cut short.
        """
        for path, before in self._seen.items():
            try:
                found = path.stat()
            except FileNotFoundError:
                if before is None:
                    continue
                raise LogGoneError(f"{path.name} was moved or deleted") from None
            if before is not None and not _goes_on(before, found):
                raise LogGoneError(f"{path.name} was replaced or cut short")
            self._seen[path] = found


def _goes_on(before: os.stat_result, found: os.stat_result) -> bool:
    same = (before.st_dev, before.st_ino) == (found.st_dev, found.st_ino)
    return same and found.st_size >= before.st_size
