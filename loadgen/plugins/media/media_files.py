"""Media from files and columns: what a name stands for, and what is at it."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as Base64Error
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from loadgen.plugins.media.media_sample import Media
    from loadgen.plugins.media.media_store import MediaStore

KINDS: Final = ("image", "audio", "video")
_DATA_URL: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,")
_USUAL_TYPES: Final = {"audio/x-wav": "audio/wav", "audio/mpeg": "audio/mp3"}
_MAGIC: Final = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG": "image/png", b"RIFF": "audio/wav"}


def mime_of(name: str) -> str | None:
    """The media type of a file or URL by its suffix; None for one that is not a medium."""
    mime = guess_type(name.partition("?")[0])[0] or ""
    mime = _USUAL_TYPES.get(mime, mime)
    return mime if mime.partition("/")[0] in KINDS else None


def files_in(folder: Path, kind: str, option: str) -> list[Path]:
    """The files of a kind in a folder, by name.

    Raises:
        UsageError: The folder cannot be read, or has no such file.
    """
    try:
        names = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    except OSError as error:
        raise UsageError(f"--media-folder {folder}: {error.strerror}") from error
    if files := [path for path in names if (mime_of(path.name) or "").startswith(f"{kind}/")]:
        return files
    raise UsageError(f"--media-folder {folder}: has no {kind} file for {option}; leave {option} out")


def stored_file(store: MediaStore, path: Path) -> Media:
    """Store the media of a file; raise `UsageError` where that cannot be read."""
    try:
        return store.add(path.read_bytes(), mime_of(path.name) or "")
    except OSError as error:
        raise UsageError(
            f"{path}: {error.strerror}; give the right --media-folder or --media-column"
        ) from error


def cell_media(text: str, place: str, folder: Path, store: MediaStore) -> list[tuple[str, Media]]:
    """The media of a cell, each with its kind.

    Args:
        text: A file's name, a URL, or JSON: a list of them, or an object with `bytes` (base64) or `path`.
        place: Where the cell is, for messages.
        folder: The folder that names are relative to.
        store: Where media go.

    Raises:
        UsageError: The cell has something else.
    """
    values = orjson.loads(text) if text.startswith(("[", "{")) else text
    return [
        _medium(value, place, folder, store) for value in (values if isinstance(values, list) else [values])
    ]


def _medium(value: Any, place: str, folder: Path, store: MediaStore) -> tuple[str, Media]:
    if isinstance(value, dict):
        value = value.get("bytes") or value.get("path") or value.get("url")
    if not isinstance(value, str):
        raise UsageError(f"{place}: {value!r:.60}, where a file, a URL or a list of them should be")
    if match := _DATA_URL.match(value):
        return match[1].partition("/")[0], store.add(_decoded(value[match.end() :], place), match[1])
    mime = mime_of(value)
    if value.startswith(("http://", "https://")):
        return (mime or "image").partition("/")[0], value
    if mime is not None:
        return mime.partition("/")[0], stored_file(store, folder / value)
    encoded = _decoded(value, place)
    magic = next((kind for start, kind in _MAGIC.items() if encoded.startswith(start)), None)
    if magic is None:
        raise UsageError(f"{place}: {value[:60]!r} is not the name of an image, audio or video file")
    return magic.partition("/")[0], store.add(encoded, magic)


def _decoded(text: str, place: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except Base64Error as error:
        raise UsageError(
            f"{place}: {text[:60]!r} is neither the name of a media file, nor a URL, nor base64"
        ) from error
