"""Opens the world of a domain in the initial state of a task."""

from __future__ import annotations

import gzip
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from workloads.environments.tau2.counter import Counter
from workloads.environments.tau2.telecom import Telecom

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.environments.tau2.world import World


def open_world(domain: str, paths: Mapping[str, str], initial: Sequence[Mapping[str, Any]]) -> World:
    """The world of a domain.

    Args:
        domain: `airline`, `retail` or `telecom`.
        paths: The files of its databases by their names.
        initial: The actions that a task begins with.
    """
    database = fresh_document(paths["db"])
    world: World
    if domain == "telecom":
        world = Telecom(database, fresh_document(paths["user_db"])["device"])
    else:
        world = Counter(domain, database)
    for action in initial:
        world.act(action)
    return world


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
