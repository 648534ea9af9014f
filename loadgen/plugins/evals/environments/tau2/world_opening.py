"""Opens the world of a domain in the initial state of a task."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from loadgen.plugins.evals.environments.tau2.airline import open_airline
from loadgen.plugins.evals.environments.tau2.retail import open_retail
from loadgen.plugins.evals.environments.tau2.telecom import open_telecom
from workloads.sources import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.plugins.evals.environments.tau2.world import World


def open_world(domain: str, paths: Mapping[str, str], initial: Sequence[Mapping[str, Any]]) -> World:
    """The world of a domain.

    Args:
        domain: `airline`, `retail` or `telecom`.
        paths: The files of its databases by their names.
        initial: The actions that a task begins with.
    """
    if domain == "telecom":
        world = open_telecom(_document(paths["db"]), _document(paths["user_db"])["device"])
    else:
        world = {"airline": open_airline, "retail": open_retail}[domain](_content(paths["db"]))
    for action in initial:
        world.act(action)
    return world


def _document(path: str) -> dict[str, Any]:
    content = _content(path)
    if ".toml" in Path(path).suffixes:
        return tomllib.loads(content.decode("utf-8"))
    document: dict[str, Any] = orjson.loads(content)
    return document


@cache
def _content(path: str) -> bytes:
    return plain(Path(path), Path(path).read_bytes())
