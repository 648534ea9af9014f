"""The lines of a trace, read one at a time: a trace may be much larger than the replayed part."""

from __future__ import annotations

import gzip
import stat
import zlib
from contextlib import contextmanager
from hashlib import file_digest
from typing import IO, TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from workloads.errors import MalformedError, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONGEST_LINE: Final = 2**22
"""In bytes: a request of a million tokens in blocks of 512 takes a hundredth of that."""

MOST_LINES: Final = 50_000_000
"""Blank ones and those that are passed over included; the largest published trace has half of that."""

_GZIP_MAGIC: Final = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line that is not blank.

    Attributes:
        place: Where it stands, for messages. Lines count from 1.
        text: What is in it, without its end.
    """

    place: str
    text: str


@contextmanager
def lines_of(path: Path) -> Iterator[Iterator[TextLine]]:
    """The lines of a file of UTF-8 text, gzipped or not, for as long as the context lasts.

    Raises:
        SourceError: It is missing, a folder, or may not be read.
        MalformedError: While the lines are read: one is too long or not UTF-8, or the gzip data is damaged.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise SourceError(f"{path}: not a file; name a trace, or the folder of a run")
        with path.open("rb") as stored:
            zipped = stored.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
            stored.seek(0)
            yield _lines(path, gzip.GzipFile(fileobj=stored) if zipped else stored)
    except FileNotFoundError as error:
        raise SourceError(f"{path}: the file does not exist") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise MalformedError(f"{path}: the gzip data is damaged ({error}); copy the file again") from error
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror})") from error


def checksum(path: Path) -> str:
    """SHA-256, in hexadecimal, of a file's stored bytes.

    Raises:
        SourceError: It cannot be read.
    """
    try:
        with path.open("rb") as stored:
            return file_digest(stored, "sha256").hexdigest()
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror})") from error


def _lines(path: Path, file: IO[bytes] | gzip.GzipFile) -> Iterator[TextLine]:
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        place = f"{path}, line {number}"
        if len(line) > LONGEST_LINE:
            raise MalformedError(f"{place}: longer than {LONGEST_LINE} bytes; is this a trace?")
        if number > MOST_LINES:
            raise MalformedError(f"{place}: more than {MOST_LINES} lines; name a part of it")
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError as error:
            raise MalformedError(f"{place}: not UTF-8; save the file as UTF-8") from error
        if text:
            yield TextLine(place, text)
