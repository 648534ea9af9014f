"""The JSON documents of an input: of a file, of JSON Lines, or of all files of a folder."""

from __future__ import annotations

import gzip
from hashlib import sha256
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from workloads.errors import MalformedError, SourceError, TraceError
from workloads.sources import parse_json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

LARGEST_DOCUMENT: Final = 2**30
"""In bytes: the largest published session takes a tenth of that."""

SUFFIXES: Final = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
_GZIP: Final = b"\x1f\x8b"


class Document(NamedTuple):
    """One JSON object of an input.

    Attributes:
        place: Where it is, for messages.
        members: Its members.
        file: The file.
        offset: Where its text begins in the file; None where the text is compressed, or an element of a list.
        length: The bytes of its text.
    """

    place: str
    members: Mapping[str, Any]
    file: Path
    offset: int | None = None
    length: int = 0


def files_of(path: Path) -> list[Path]:
    """The files of an input: the file, or the JSON files of a folder by name.

    Raises:
        SourceError: The path does not exist, or the folder has no JSON file.
    """
    if not path.is_dir():
        if not path.exists():
            raise SourceError(f"{path}: the file does not exist")
        return [path]
    files = sorted(each for each in path.iterdir() if each.name.endswith(SUFFIXES))
    if not files:
        raise SourceError(f"{path}: the folder has no file {' or '.join(SUFFIXES[:2])}; name a trace")
    return files


def documents(path: Path) -> Iterator[Document]:
    """The JSON objects of an input, one after the other.

    Raises:
        SourceError: A file cannot be read.
        MalformedError: A file is not UTF-8, or the gzip data is damaged.
        TraceError: A line is not a JSON object.
    """
    for file in files_of(path):
        yield from _of_file(file)


def checksum(path: Path) -> str:
    """SHA-256 of the stored bytes of all files of an input, in hexadecimal."""
    digest = sha256()
    for file in files_of(path):
        with file.open("rb") as stored:
            while piece := stored.read(2**20):
                digest.update(piece)
    return digest.hexdigest()


def _of_file(path: Path) -> Iterator[Document]:
    try:
        with path.open("rb") as stored:
            zipped = stored.read(len(_GZIP)) == _GZIP
            stored.seek(0)
            lines: IO[bytes] | gzip.GzipFile = gzip.GzipFile(fileobj=stored) if zipped else stored
            first, offset = b"", 0
            while not first.strip() and (first := lines.readline(LARGEST_DOCUMENT)):
                offset += len(first)
            if not first:
                return
            if (members := _parsed(first)) is None:
                # The first line is not a document: the file is one, over several lines.
                text = first + lines.read(LARGEST_DOCUMENT)
                members, first, offset = _value(str(path), text), text, offset - len(first) + len(text)
            for document in _lines(path, members, first, offset, lines):
                yield document._replace(offset=None) if zipped else document
    except (gzip.BadGzipFile, EOFError) as error:
        raise MalformedError(f"{path}: the gzip data is damaged ({error}); copy the file again") from error
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror})") from error


def _lines(path: Path, members: Any, first: bytes, offset: int, lines: Iterable[bytes]) -> Iterator[Document]:
    if isinstance(members, list):
        for number, each in enumerate(members, start=1):
            place = f"{path}, element {number}"
            yield Document(place, _mapping(place, each), path)
        return
    place = f"{path}, line 1"
    yield Document(place, _mapping(place, members), path, offset - len(first), len(first))
    for number, line in enumerate(lines, start=2):
        if line.strip():
            place = f"{path}, line {number}"
            yield Document(place, _mapping(place, _value(place, line)), path, offset, len(line))
        offset += len(line)


def _parsed(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _value(place: str, text: bytes) -> Any:
    try:
        return parse_json_text(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise MalformedError(f"{place}: not UTF-8; save the file as UTF-8") from error
    except orjson.JSONDecodeError as error:
        raise TraceError(f"{place}, column {error.colno}: not JSON ({error.msg})") from error


def _mapping(place: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TraceError(f"{place}: not a JSON object")
    return value
