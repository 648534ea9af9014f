"""The folder that is viewed: its runs, by the names that addresses have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.series_file import is_series
from loadgen.sessions.run_list import Listed, listed
from reporter.log.storage_place import has_log, source_files

if TYPE_CHECKING:
    from pathlib import Path

Identity = tuple[tuple[int, int], ...]
"""When the files of a log were changed, in ns, and their sizes: another one means another report."""


class ViewedFolder:
    """The runs below a folder."""

    def __init__(self, top: Path) -> None:
        if not top.is_dir():
            raise UsageError(f"{top}: no such folder; name the one with your runs: loadgen view DIR")
        self.top = top.resolve()

    def runs(self) -> list[Listed]:
        """All runs, the newest first."""
        return listed(self.top)[::-1]

    def run(self, name: str) -> Path:
        """The folder of a run."""
        try:
            folder = (self.top / name).resolve()
            if folder.is_relative_to(self.top) and has_log(folder):
                return folder
        except (OSError, ValueError):
            pass  # no file system has such a name
        raise UsageError(f"{name}: no run of this name in {self.top}")

    def series(self, name: str) -> Path | None:
        """The folder of a series, by its path below the folder; None where the path is another thing."""
        try:
            folder = (self.top / name).resolve()
            return folder if folder.is_relative_to(self.top) and is_series(folder) else None
        except (OSError, ValueError):
            return None

    @staticmethod
    def identity(folder: Path) -> Identity:
        """A value that changes with the log of a run, or with the file or a log of a series."""
        inside = [] if has_log(folder) else list(folder.iterdir())
        runs = [folder] if not inside else [run for run in inside if run.is_dir() and has_log(run)]
        files = [file for run in runs for file in source_files(run)]
        states = [file.stat() for file in (*files, *(file for file in inside if file.is_file()))]
        return tuple((state.st_mtime_ns, state.st_size) for state in states)
