"""Rows of a file: JSON Lines, JSON, CSV (with commas or tabs) or Parquet, plain or gzipped.

The suffix names the format; a `.gz` after it is passed over, because the first bytes tell whether a file is
gzipped. Text is UTF-8, with or without a byte order mark. Every error names the file and the place in it.

A file may come from anywhere: how much of it is read, and how much may come out of it, has bounds.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import stat
import zlib
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import orjson

from lazy_dataclasses import dataclass
from workloads.errors import ColumnError, MalformedError, SourceError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

MOST_BYTES: Final = 2**30
"""A file of more bytes, as it is stored or decompressed, is not read unless more are allowed."""

MOST_TIMES: Final = 200
"""gzip makes text a tenth of its size at best: what grows more often than this is not text."""

ALWAYS_BYTES: Final = 64 * 2**20
"""But up to this many bytes it may grow whatever its size."""

_AT_ONCE: Final = 2**20
_BATCH_ROWS: Final = 1024
_GZIP_MAGIC: Final = b"\x1f\x8b"
_LONGEST_CELL: Final = 2**31 - 1
_KINDS: Final[Mapping[type, str]] = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class FileRow:
    """One row of a file.

    Attributes:
        place: Where it stands, for messages: `questions.jsonl, line 3`. Lines and rows count from 1.
        value: Its columns by name, or a text when the rows of the file are plain strings.
    """

    place: str
    value: Mapping[str, Any] | str

    def __getitem__(self, column: str) -> Any:
        """The cell in a column.

        Raises:
            ColumnError: The column does not exist.
        """
        if isinstance(self.value, str):
            raise ColumnError(f"{self.place}: a plain string, where an object with {column!r} should be")
        if column not in self.value:
            names = ", ".join(self.value) or "none"
            raise ColumnError(
                f"{self.place}: no column {column!r} (columns: {names}){did_you_mean(column, self.value)}"
            )
        return self.value[column]


def read_stored(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """Read the stored bytes of a file; raise `SourceError` if missing, empty, too large or forbidden."""
    try:
        about = path.stat()
        if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
            raise SourceError(f"{path}: not a file with an end; write the prompts to one and name that")
        with path.open("rb") as file:
            stored = b"" if about.st_size > most_bytes else file.read(most_bytes + 1)
    except FileNotFoundError as error:
        raise SourceError(f"{path}: the file does not exist{_nearest_file(path)}") from error
    except IsADirectoryError as error:
        raise SourceError(f"{path}: a folder; name one of the files in it") from error
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror})") from error
    if max(about.st_size, len(stored)) > most_bytes:
        raise SourceError(f"{path}: more than {most_bytes} bytes, which is too large; name a part of it")
    if not stored:
        raise SourceError(f"{path}: the file is empty")
    return stored


def read_rows(
    path: Path, stored: bytes, most_bytes: int = MOST_BYTES, columns: Collection[str] = ()
) -> Iterator[FileRow]:
    """Decode the rows of a file; a JSON object with all `columns` is a row, and not one that holds rows.

    Raises:
        SourceError: The suffix is of no known format, or there are no rows.
        MalformedError: The content does not fit the suffix; what came before the bad row has been yielded.
    """
    suffix = format_of(path)
    if suffix is None:
        formats = ", ".join(_FORMATS)
        raise SourceError(f"{path}: unknown format; the name must end in one of {formats} (.gz may follow)")
    content = plain(path, stored, most_bytes)
    decode = _TEXTS.get(suffix)
    if decode is None:
        rows = _parquet(path, content, most_bytes)
    else:
        rows = _json(path, content, columns) if suffix == ".json" else decode(path, content)
    first = next(rows, None)
    if first is None:
        raise SourceError(f"{path}: there are no rows in the file")
    yield first
    yield from rows


def format_of(path: Path) -> str | None:
    """The suffix that names the format of a file; None for an unknown format."""
    suffix = _suffix(path)
    return suffix if suffix in _FORMATS else None


def kind(value: object) -> str:
    """Name the kind of a value for a message."""
    return _KINDS.get(type(value), type(value).__name__)


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return next((suffix for suffix in reversed(suffixes) if suffix != ".gz"), "")


def _nearest_file(path: Path) -> str:
    if not path.parent.is_dir():
        return f", nor is there a folder {path.parent}"
    return did_you_mean(path.name, (entry.name for entry in path.parent.iterdir()))


def one_text(path: Path, content: bytes) -> Iterator[FileRow]:
    """A file that is one text: a row with the column `text` (see `Source.read`)."""
    yield FileRow(str(path), {"text": decoded(path, content)})


def one_document(path: Path, content: bytes) -> Iterator[FileRow]:
    """A file that is one JSON object: a row with the column `document` (see `Source.read`)."""
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise MalformedError(f"{path}, line {error.lineno}: not JSON ({error.msg})") from error
    if not isinstance(document, dict):
        raise MalformedError(f"{path}: {kind(document)}, where an object should be")
    yield FileRow(str(path), {"document": document})


# Bytes…


def plain(path: Path, stored: bytes, most_bytes: int = MOST_BYTES) -> bytes:
    """The bytes of a file, decompressed if gzipped; raise `MalformedError` if damaged, or more than that."""
    if not stored.startswith(_GZIP_MAGIC):
        return stored
    limit = min(most_bytes, max(ALWAYS_BYTES, MOST_TIMES * len(stored)))
    pieces, count = [], 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(stored)) as file:
            while piece := file.read(_AT_ONCE):
                pieces.append(piece)
                if (count := count + len(piece)) > limit:
                    raise MalformedError(
                        f"{path}: the gzip data becomes more than {limit} bytes; name a part of it"
                    )
        return b"".join(pieces)
    except EOFError as error:
        raise MalformedError(f"{path}: the gzip data ends too early; copy the file again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise MalformedError(f"{path}: the gzip data is damaged ({error}); copy the file again") from error


def decoded(path: Path, content: bytes) -> str:
    """The text of a file; raise `MalformedError` unless UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        byte = error.object[error.start]
        raise MalformedError(
            f"{path}, line {line}: not UTF-8 (byte 0x{byte:02x}); save the file as UTF-8"
        ) from error


# Formats…


def _json_lines(path: Path, content: bytes) -> Iterator[FileRow]:
    # Not splitlines(): JSON strings may hold U+2028 and its like as they are.
    for number, line in enumerate(_lines(decoded(path, content)), start=1):
        if line.strip():
            place = f"{path}, line {number}"
            try:
                value = parse_json_text(line)
            except orjson.JSONDecodeError as error:
                raise MalformedError(
                    f"{place}, column {error.colno}: not JSON ({error.msg}); "
                    "every line must be one JSON object or string"
                ) from error
            yield _row(place, value)


def _lines(text: str) -> Iterator[str]:
    """The lines one by one: a list would take many times the memory of short lines."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def _json(path: Path, content: bytes, columns: Collection[str] = ()) -> Iterator[FileRow]:
    text = decoded(path, content)
    try:
        document = parse_json_text(text)
    except orjson.JSONDecodeError as error:
        if _is_json(text.lstrip().partition("\n")[0]):  # JSON Lines are often called .json
            yield from _json_lines(path, content)
            return
        raise MalformedError(
            f"{path}, line {error.lineno}, column {error.colno}: not JSON ({error.msg})"
        ) from error
    if isinstance(document, dict) and columns and all(column in document for column in columns):
        yield _row(f"{path}, line 1", document)
        return
    for number, value in enumerate(_only_list(path, document), start=1):
        yield _row(f"{path}, row {number}", value)


def _is_json(text: str) -> bool:
    try:
        parse_json_text(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _only_list(path: Path, document: object) -> list[Any]:
    """Find the rows in a document: a list, or an object with one list member."""
    if isinstance(document, list):
        return document
    if not isinstance(document, dict):
        raise MalformedError(f"{path}: {kind(document)}, where a list of rows should be")
    lists = {name: value for name, value in document.items() if isinstance(value, list)}
    if len(lists) != 1:
        names = ", ".join(map(repr, lists)) or "none"
        raise MalformedError(
            f"{path}: an object, so exactly one of its members must be the list of rows; lists are: {names}"
        )
    return next(iter(lists.values()))


def _row(place: str, value: object) -> FileRow:
    if not isinstance(value, dict | str):
        raise MalformedError(f"{place}: {kind(value)}, where an object or a string should be")
    return FileRow(place, value)


def _csv(path: Path, content: bytes, delimiter: str = ",") -> Iterator[FileRow]:
    csv.field_size_limit(_LONGEST_CELL)  # the default of 128 KiB is shorter than long-context prompts
    reader = csv.reader(io.StringIO(decoded(path, content), newline=""), strict=True, delimiter=delimiter)
    header: list[str] | None = None
    number = 1
    try:
        for cells in reader:
            place = f"{path}, line {number}"
            if header is None:
                header = _header(place, cells) if cells else None
            elif cells:
                yield FileRow(place, _named(place, header, cells))
            number = reader.line_num + 1
    except csv.Error as error:
        raise MalformedError(
            f"{path}, in the row that starts at line {number}: not CSV ({error}); is there a stray quote?"
        ) from error


def _header(place: str, cells: list[str]) -> list[str]:
    name, times = Counter(cells).most_common(1)[0]
    if times > 1:
        raise MalformedError(f"{place}: {times} columns are called {name!r}; give each its own name")
    return cells


def _named(place: str, header: list[str], cells: list[str]) -> dict[str, str]:
    if len(cells) != len(header):
        raise MalformedError(
            f"{place}: {len(cells)} cells, where the header has {len(header)}; "
            "a cell with a comma in it needs quotes around it"
        )
    return dict(zip(header, cells, strict=True))


def _parquet(path: Path, content: bytes, most_bytes: int) -> Iterator[FileRow]:
    import pyarrow as pa
    from pyarrow import parquet

    number = size = 0
    try:
        file = parquet.ParquetFile(pa.BufferReader(content))
        groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
        if sum(group.total_byte_size for group in groups) > most_bytes:
            raise SourceError(f"{path}: more than {most_bytes} bytes when decompressed")
        for batch in file.iter_batches(_BATCH_ROWS):
            if (size := size + batch.nbytes) > most_bytes:
                raise SourceError(f"{path}: more than {most_bytes} bytes when decompressed")
            for value in batch.to_pylist():
                number += 1
                yield FileRow(f"{path}, row {number}", value)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise MalformedError(f"{path}: not a Parquet file that can be read ({error})") from error


_TEXTS: Final[Mapping[str, Callable[[Path, bytes], Iterator[FileRow]]]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json,
    ".csv": _csv,
    ".tsv": partial(_csv, delimiter="\t"),
}
_FORMATS: Final = (*_TEXTS, ".parquet")


def parse_json_text(text: str) -> Any:
    """The value of a text, None for `NaN`, `Infinity` and `-Infinity`; or an `orjson.JSONDecodeError`."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        if "NaN" not in text and "Infinity" not in text:
            raise
        try:
            return json.loads(text, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            pass
        raise
