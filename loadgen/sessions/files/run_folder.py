"""The folder of a run: the log, and derived files."""

from __future__ import annotations

import re
import shlex
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final
from uuid import uuid4

from loadgen.sessions.errors import SetupError, UsageError
from recorder.errors import BeingWrittenError, LogExistsError
from recorder.store import LOG_NAME, log_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

REPORT: Final = "report.json"
_BEGINS_A_LOG: Final = b"SQLite format 3\0"


def new_run_folder(out: Path | None, model: str) -> Path:
    """Choose the folder of a new run; `runs/<time>-<model>`, which is created, where none is named.

    Raises:
        LogExistsError: The folder holds a run already.
        UsageError: The folder is not empty, such as the folder of all runs.
        OSError: None can be made.
    """
    name = f"{datetime.now().astimezone():%Y%m%d-%H%M%S}-{model_folder(model)}"
    if out is None:
        return claim(Path("runs") / name)
    if (out / LOG_NAME).exists():
        raise LogExistsError(
            f"{out} holds a run already, and a run is never overwritten: choose another --out, "
            f"or look at it with `loadgen report {out}`",
        )
    require_empty(out, name)
    return out


def require_empty(out: Path, name: str) -> None:
    """Refuse to write a run into a folder of other things, which would hide other runs in it."""
    _require_local("--out", out, "folder")
    if out.exists() and not out.is_dir():
        raise UsageError(
            f"--out {out}: a file, not a folder; type --out {shlex.quote(str(out.parent / name))}"
        )
    if out.is_dir() and any(out.iterdir()):
        raise UsageError(
            f"--out {out}: the folder is not empty, and a run needs a new folder; "
            f"type --out {shlex.quote(str(out / name))}"
        )


def folder_of(run: Path) -> Path:
    """The folder of a run, given by folder, log, or archive address."""
    if run.is_dir():
        return run
    from reporter.log.storage_place import is_remote

    return run if is_remote(run) else run.parent


def require_log(run: Path, remedy: str) -> None:
    """Refuse a run that is only an archive, where the log must be writable."""
    if log_path(run).exists():
        return
    from reporter.log.storage_place import archive_of

    if archive_of(run) is not None:
        raise UsageError(f"{run}: an archive, which is only read: {remedy}")


def still_running(run: Path) -> BeingWrittenError:
    """The error about a run in progress, where an ended run is required."""
    return BeingWrittenError(
        f"{run} is still running; `loadgen watch {run}` shows its progress "
        "(or it is being scored: wait until that has ended)"
    )


def _require_local(option: str, path: Path, kind: str) -> None:
    if path.parts[:1] in {("s3:",), ("gs:",)}:
        raise UsageError(f"{option} {path}: not written into object stores; name a {kind}")


def require_distinct(runs: Iterable[Path]) -> None:
    """Refuse a run named twice: a run does not differ from itself."""
    seen: dict[Path, Path] = {}
    for run in runs:
        place = run.resolve()
        place = place.parent if place.name in {LOG_NAME, REPORT} else place
        if place in seen:
            raise UsageError(f"{run}: named twice, also as {seen[place]}; a run is compared with other runs")
        seen[place] = run


def require_no_log(option: str, path: Path | None) -> None:
    """Refuse to overwrite a log, which cannot be restored, and an address in an object store."""
    if path is None:
        return
    _require_local(option, path, "file")
    if not path.is_file():
        return
    with path.open("rb") as file:
        if file.read(len(_BEGINS_A_LOG)) == _BEGINS_A_LOG:
            raise UsageError(f"{option} {path}: names a log, and a log is never overwritten")


def model_folder(model: str) -> str:
    """A folder name for a model: the last part of the name, without special characters of shells."""
    last = model.rstrip("/").rsplit("/", 1)[-1]
    return re.sub(r"[^A-Za-z0-9._-]+", "-", last).strip("-.")[:60] or "model"


_ATTEMPTS: Final = 100

_claimed: Final[list[Path]] = []
"""The folders that this process has made, parents first."""


def claim(folder: Path) -> Path:
    """Make a folder, or the first free one of `folder-2`, `folder-3`…: runs may start in the same second."""
    further = (folder.with_name(f"{folder.name}-{number}") for number in count(2))
    for name in chain([folder], further):
        try:
            _make(name)
        except FileExistsError:
            continue
        except OSError as error:
            raise SetupError(f"{name}: cannot be made ({error.strerror}); give --out a folder") from error
        return name
    raise AssertionError  # there is always another name


def is_claimed(folder: Path) -> bool:
    """Whether this process has made a folder, and may remove the folder."""
    return folder in _claimed


def give_back() -> None:
    """Take away the folders that nothing was put into."""
    while _claimed:
        with suppress(OSError):
            _claimed.pop().rmdir()


def _make(folder: Path) -> None:
    """Make a missing folder, with a missing parent."""
    for attempt in range(_ATTEMPTS):
        if not folder.parent.exists():
            with suppress(FileExistsError):
                folder.parent.mkdir(parents=True)
                _claimed.append(folder.parent)
        try:
            folder.mkdir()
        except FileNotFoundError:
            # Another process may just have taken the parent away, which was empty.
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            _claimed.append(folder)
            return


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically: on failure the old one stays, without a temporary file next to it.

    A link is replaced, not followed, as it could lead out of the folder.
    """
    with writing_whole(path) as file:
        file.write(content)


@contextmanager
def writing_whole(path: Path) -> Iterator[IO[bytes]]:
    """Write a file piece by piece: it takes the place of the old one when the block ends without an error."""
    # A unique name: a killed process with the same id may have left a temporary file.
    unfinished = path.with_name(f".{uuid4().hex}.tmp")
    try:
        with unfinished.open("xb") as file:
            yield file
        unfinished.replace(path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
