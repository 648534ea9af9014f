"""A domain of tau2: a database, tools of the agent and of the user, and assertions."""

from __future__ import annotations

import json
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import orjson

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.environments.toolset import State


class Observation(NamedTuple):
    """The result of a tool.

    Attributes:
        text: As the model reads it.
        failed: Whether it is an error.
    """

    text: str
    failed: bool = False


class World(Protocol):
    """A domain in one episode."""

    def tools(self, requestor: str) -> Sequence[Mapping[str, Any]]:
        """The tools of the `assistant` or the `user`, in OpenAI's format."""

    def call(self, requestor: str, name: str, arguments: Mapping[str, Any]) -> Observation:
        """Call a tool."""

    def act(self, action: Mapping[str, Any]) -> None:
        """Run one of a task's own actions: `env_type` or `requestor`, `func_name` or `name`, `arguments`."""

    def digest(self) -> str:
        """SHA-256 of the databases."""

    def holds(self, assertion: Mapping[str, Any]) -> bool:
        """Whether an assertion of a task holds: `env_type`, `func_name`, `arguments`, `assert_value`."""


def declared(name: str) -> list[dict[str, Any]]:
    """The tools of a file of this package, in OpenAI's format."""
    text = files(__package__).joinpath("data", f"{name}_tools.json").read_text(encoding="utf-8")
    return [{"type": "function", "function": tool} for tool in json.loads(text)["tools"]]


def digest_of(state: State) -> str:
    """SHA-256 of a database, independent of key order."""
    return sha256(orjson.dumps(state, option=orjson.OPT_SORT_KEYS)).hexdigest()
