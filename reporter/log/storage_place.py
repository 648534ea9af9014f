"""A folder, or a prefix in an object store, by pyarrow's filesystems: where archives and shards are."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from recorder.errors import LogError
from recorder.shards import FOLDER as SHARDS
from recorder.store import LOG_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

_ADDRESS: Final = re.compile(r"(s3|gs):/+(.*)", re.DOTALL)
"""Of an object store; `pathlib` keeps one of its two slashes."""

_OTHER_STORE: Final = re.compile(r"(az|abfss?|adl|wasbs?|gcs|s3a|s3n|hdfs|https?):/+.")

FOLDER: Final = "archive"
"""What the archive of a run is called in the run's folder."""

MANIFEST: Final = "archive.json"
"""What an archive has, written last: without it, there is none."""


UNFINISHED: Final = "unfinished.json"
"""What an archive has until it has its manifest."""


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of a filesystem.

    Attributes:
        address: As a user names it.
        filesystem: pyarrow's.
        path: The folder in it.
    """

    address: str
    filesystem: Any
    path: str

    @property
    def is_local(self) -> bool:
        """Whether the place is a folder of this machine."""
        return _ADDRESS.match(self.address) is None

    def file(self, name: str) -> str:
        """The path of a file in this place."""
        return f"{self.path}/{name}"

    def has(self, name: str) -> bool:
        """Whether there is such a file.

        Raises:
            LogError: The place cannot be reached.
        """
        from pyarrow.fs import FileType

        with self.blamed():
            return bool(self.filesystem.get_file_info(self.file(name)).type == FileType.File)

    def read(self, name: str) -> bytes:
        """The content of a small file.

        Raises:
            LogError: It cannot be read.
        """
        with self.blamed(), self.filesystem.open_input_stream(self.file(name)) as stream:
            return bytes(stream.read())

    def write(self, name: str, content: bytes) -> None:
        """Write a small file atomically.

        Raises:
            LogError: It cannot be written.
        """
        # Object stores show a file when it is whole.
        there = f"{name}.part" if self.is_local else name
        with self.blamed():
            with self.filesystem.open_output_stream(self.file(there)) as stream:
                stream.write(content)
            if there != name:
                self.filesystem.move(self.file(there), self.file(name))

    def upload(self, file: Path, name: str) -> None:
        """Write a large file from one of this machine.

        Raises:
            LogError: It cannot be written, or did not arrive as a whole.
        """
        from pyarrow import fs

        size = file.stat().st_size
        with self.blamed():
            fs.copy_files(str(file), self.file(name), fs.LocalFileSystem(), self.filesystem)
            arrived = self.filesystem.get_file_info(self.file(name)).size
        if arrived != size:
            raise LogError(f"{self.address}: {name} is {arrived} of {size} bytes after it was written")

    def download(self, name: str, to: Path) -> None:
        """Read a large file into one of this machine, in a folder that exists.

        Raises:
            LogError: It cannot be read.
        """
        from pyarrow import fs

        with self.blamed():
            fs.copy_files(self.file(name), str(to), self.filesystem, fs.LocalFileSystem())

    def sizes(self) -> dict[str, int]:
        """The files in this place and in subfolders: bytes by name; empty for a missing folder.

        Raises:
            LogError: The place cannot be reached.
        """
        from pyarrow.fs import FileSelector, FileType

        with self.blamed():
            infos = self.filesystem.get_file_info(
                FileSelector(self.path, recursive=True, allow_not_found=True)
            )
        return {
            info.path.removeprefix(f"{self.path}/"): info.size for info in infos if info.type == FileType.File
        }

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Report errors of the filesystem as the place's.

        Raises:
            LogError: In place of them.
        """
        from pyarrow import ArrowException

        try:
            yield
        except (OSError, ArrowException) as error:
            from reporter.log.storage_errors import reason

            raise LogError(f"{self.address}: {reason(error, self.address)}") from error


def is_remote(place: Path | str) -> bool:
    """Whether a place is in an object store."""
    return _ADDRESS.match(str(place)) is not None


def store_address(named: Path | str) -> str | None:
    """The address in an object store that a user named; None for a folder.

    Raises:
        LogError: The address has no bucket, or credentials in it, or is of a store that is not supported.
    """
    if other := _OTHER_STORE.match(str(named)):
        raise LogError(f"{other[1]}://…: name a folder, s3://BUCKET/PREFIX or gs://BUCKET/PREFIX")
    matched = _ADDRESS.match(str(named))
    if matched is None:
        return None
    scheme, rest = matched[1], matched[2].strip("/")
    if "@" in rest.partition("/")[0] or "?" in rest:
        raise LogError(
            f"{scheme}://…: credentials and options do not belong into an address; set them in the "
            "environment"
        )
    if not rest:
        raise LogError(f"{scheme}://: an address has a bucket: {scheme}://BUCKET/PREFIX")
    return f"{scheme}://{rest}"


def place(named: Path | str) -> Place:
    """The place that a user named.

    Credentials are those of the usual places: environment variables, files of the AWS and Google Cloud
    command lines, roles of the machine. `AWS_ENDPOINT_URL` names another store than Amazon's.

    Raises:
        LogError: As for `store_address`, or the store cannot be reached.
    """
    from pyarrow import fs

    address = store_address(named)
    if address is None:
        return Place(str(named), fs.LocalFileSystem(), str(Path(named).absolute()))
    from reporter.log.object_stores import filesystem

    return Place(address, filesystem(address), address.partition("://")[2])


def has_log(folder: Path) -> bool:
    """Whether a folder has the log of a run, or an archive."""
    return any((folder / name).is_file() for name in (LOG_NAME, MANIFEST, f"{FOLDER}/{MANIFEST}"))


def source_files(folder: Path) -> list[Path]:
    """The files that change whenever a log does: those of SQLite and of shards, or an archive's manifest."""
    names = (
        (LOG_NAME, f"{LOG_NAME}-wal") if (folder / LOG_NAME).exists() else (MANIFEST, f"{FOLDER}/{MANIFEST}")
    )
    return [
        *(folder / name for name in names if (folder / name).exists()),
        *sorted(folder.glob(f"{SHARDS}/*/{LOG_NAME}")),
    ]


def archive_of(run: Path) -> Place | None:
    """The archive that a run is read from: where there is no log, but the manifest of an archive.

    Raises:
        LogError: The place cannot be reached.
    """
    if is_remote(run):
        there = place(run)
        return there if there.has(MANIFEST) else None
    if (run / MANIFEST).is_file():
        return place(run)
    return place(run / FOLDER) if (run / FOLDER / MANIFEST).is_file() else None
