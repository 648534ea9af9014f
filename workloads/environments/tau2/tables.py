"""Databases of tau2: files of JSON or TOML, read once in each process and parsed for each episode."""

from __future__ import annotations

import gzip
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson

_GZIP_MAGIC: Final = b"\x1f\x8b"


def fresh_document(path: str) -> dict[str, Any]:
    """The document of a file, which nothing else shares."""
    content = _content(path)
    document: dict[str, Any] = (
        tomllib.loads(content.decode("utf-8")) if ".toml" in Path(path).suffixes else orjson.loads(content)
    )
    return document


@cache
def _content(path: str) -> bytes:
    stored = Path(path).read_bytes()
    return gzip.decompress(stored) if stored.startswith(_GZIP_MAGIC) else stored
