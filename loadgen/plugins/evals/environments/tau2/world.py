"""A domain of tau2: databases, tools of the agent and of the user, and assertions."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson
from pydantic import BaseModel

from lazy_dataclasses import dataclass
from loadgen.plugins.agents.calculation import calculated
from loadgen.plugins.agents.toolset import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_UNHASHABLE: Final = re.compile(r"cannot use '\w+' as a (?:dict key|set element) \((.*)\)")


class Observation(NamedTuple):
    """The result of a tool."""

    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Kit:
    """The tools of one side.

    Attributes:
        functions: Its public methods are tools, and actions and assertions of tasks.
        schemas: The tools, in OpenAI's format.
        database: What the functions read and change.
    """

    functions: Any
    schemas: Sequence[Mapping[str, Any]]
    database: Any

    def function(self, name: str) -> Callable[..., Any]:
        """The tool, action or assertion of a name."""
        function = None if name.startswith("_") else getattr(self.functions, name, None)
        if not callable(function):
            raise _unknown(name)
        return function  # type: ignore[no-any-return]


class World:
    """A domain in one episode.

    Args:
        kits: By requestor, `assistant` or `user`.
        sync: Called after every change: copies the changes of one side to the other.
    """

    def __init__(self, kits: Mapping[str, Kit], sync: Callable[[], None] = lambda: None) -> None:
        self._kits = kits
        self._sync = sync

    def tools(self, requestor: str) -> Sequence[Mapping[str, Any]]:
        """The tools of the `assistant` or the `user`, in OpenAI's format."""
        return self._kits[requestor].schemas if requestor in self._kits else ()

    def call(self, requestor: str, name: str, arguments: Mapping[str, Any]) -> Observation:
        """Call a tool."""
        try:
            value = self._tool(requestor, name)(**deepcopy(dict(arguments)))
            self._sync()
        except Exception as error:  # noqa: BLE001 (a model can pass anything; the world says so)
            # From Python 3.14 on the interpreter's text has that of older versions in brackets.
            text = _UNHASHABLE.sub(r"\1", str(error))
            return Observation(f"Error: {text}", failed=True)
        return Observation(_rendered(value))

    def act(self, action: Mapping[str, Any]) -> None:
        """Run one of a task's own actions: `env_type` or `requestor`, `func_name` or `name`, `arguments`.

        A call that fails is left out, as in tau2's evaluation.
        """
        if "func_name" not in action:
            self.call(action.get("requestor") or "assistant", action["name"], action["arguments"])
            return
        self._kits[action["env_type"]].function(action["func_name"])(**deepcopy(dict(action["arguments"])))
        self._sync()

    def digest(self) -> str:
        """SHA-256 of the databases."""
        databases = {requestor: kit.database for requestor, kit in self._kits.items()}
        try:
            text = orjson.dumps(databases, _plain, orjson.OPT_SORT_KEYS)
        except TypeError:  # integers above 64 bits, half of a surrogate pair
            text = json.dumps(databases, default=_plain, sort_keys=True).encode()
        return sha256(text).hexdigest()

    def holds(self, assertion: Mapping[str, Any]) -> bool:
        """Whether an assertion of a task holds: `env_type`, `func_name`, `arguments`, `assert_value`."""
        check = self._kits[assertion["env_type"]].function(assertion["func_name"])
        return bool(check(**assertion["arguments"]) == assertion.get("assert_value", True))

    def _tool(self, requestor: str, name: str) -> Callable[..., Any]:
        if all(schema["function"]["name"] != name for schema in self.tools(requestor)):
            raise _unknown(name)
        return self._kits[requestor].function(name)


def declared(name: str) -> list[dict[str, Any]]:
    """The tools of a file of this package, in OpenAI's format."""
    text = files(__package__).joinpath("data", f"{name}_tools.json").read_text(encoding="utf-8")
    return [{"type": "function", "function": tool} for tool in json.loads(text)["tools"]]


def _unknown(name: str) -> Refusal:
    return Refusal(f"Tool '{name}' not found.")


def _rendered(value: Any) -> str:
    """The result of a tool as text: models as JSON, numbers outside of models as texts."""
    return value if isinstance(value, str) else json.dumps(_shown(value), default=str)


def _shown(value: Any) -> Any:
    if isinstance(value, list):
        return [_shown(item) for item in value]
    if isinstance(value, dict):
        return {name: _shown(item) for name, item in value.items()}
    return value if value is None or isinstance(value, str) else _plain(value)


def _plain(value: Any) -> Any:
    # Tools of tau2 assign what a model wrote to typed members: no warnings for them.
    return value.model_dump(warnings=False) if isinstance(value, BaseModel) else str(value)


_CHARACTERS: Final = "0123456789+-*/(). "


def calculated_text(expression: Any) -> str:
    """The value of an arithmetic expression, rounded to cents."""
    if not all(character in _CHARACTERS for character in expression):
        raise Refusal("Invalid characters in expression")
    if not isinstance(expression, str):
        raise TypeError("eval() arg 1 must be a string, bytes or code object")
    return str(round(float(calculated(expression)), 2))
