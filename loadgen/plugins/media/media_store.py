"""The encoded media of a run: one file for all worker processes, in the form that requests have."""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from lazy_dataclasses import dataclass

PREFIXED: Final = ("image", "video")
"""The kinds whose form in a request is a `data:` URL; audio is base64 alone."""


@dataclass(frozen=True, slots=True)
class StoredMedia:
    """An encoded image, clip or video, by place in the store.

    Attributes:
        place: The store's file, and its inode: the number of a descriptor is used again.
        offset: The first byte in the file.
        length: The bytes in the file: a JSON string with quotes.
        mime: The media type, such as `image/jpeg`.
        size: The bytes of the encoded media.
        digest: The first 16 hexadecimal digits of SHA-256 of the encoded media.
    """

    place: tuple[str, int]
    offset: int
    length: int
    mime: str
    size: int
    digest: str

    def quoted(self) -> bytes:
        """The JSON string that a request carries."""
        return _mapped(self.place)[self.offset : self.offset + self.length]

    @property
    def reference(self) -> str:
        """A short text that identifies the media in the log."""
        return f"{self.mime};bytes={self.size};sha256={self.digest}"


class MediaStore:
    """Encoded media in a file without a name, which lives as long as this value."""

    def __init__(self) -> None:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
        weakref.finalize(self, os.close, descriptor)
        self._file = open(descriptor, "wb", closefd=False)  # noqa: SIM115 (a descriptor, closed above)
        self.place = f"/proc/{os.getpid()}/fd/{descriptor}", os.fstat(descriptor).st_ino
        self.bytes = 0
        self._stored: dict[str, StoredMedia] = {}

    def __len__(self) -> int:
        return len(self._stored)

    def add(self, encoded: bytes, mime: str) -> StoredMedia:
        """Store media, once for equal bytes."""
        digest = sha256(encoded).hexdigest()[:16]
        if digest not in self._stored:
            prefix = f"data:{mime};base64," if mime.startswith(PREFIXED) else ""
            quoted = b'"%b%b"' % (prefix.encode(), b64encode(encoded))
            self._file.write(quoted)
            self._stored[digest] = StoredMedia(
                self.place, self.bytes, len(quoted), mime, len(encoded), digest
            )
            self.bytes += len(quoted)
        return self._stored[digest]

    def flush(self) -> None:
        """Write what is buffered, so that other processes can read it."""
        self._file.flush()


@lru_cache(2)
def _mapped(place: tuple[str, int]) -> mmap.mmap:
    """The file of a store, mapped once per process and run."""
    with Path(place[0]).open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
