"""Databases of the tau benchmarks: read once in each process, and one of its own for each episode."""

from __future__ import annotations

import gzip
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workloads.environments.toolset import State

_GZIP_MAGIC: Final = b"\x1f\x8b"
_CONSTANT: Final = frozenset({"flights", "products"})
"""Tables that no tool changes: all episodes share them."""


def fresh(files: Mapping[str, str]) -> State:
    """A copy of a database for one episode.

    Args:
        files: The JSON files of the tables by their names.
    """
    return {
        name: _parsed(path) if name in _CONSTANT else orjson.loads(_content(path))
        for name, path in files.items()
    }


def digest(state: State) -> str:
    """SHA-256 of the tables that tools can change, whatever the order of their keys."""
    tables = {name: table for name, table in state.items() if name not in _CONSTANT}
    return sha256(orjson.dumps(tables, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)).hexdigest()


@cache
def _content(path: str) -> bytes:
    stored = Path(path).read_bytes()
    return gzip.decompress(stored) if stored.startswith(_GZIP_MAGIC) else stored


@cache
def _parsed(path: str) -> Any:
    return orjson.loads(_content(path))
