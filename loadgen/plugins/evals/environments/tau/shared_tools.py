"""Tools that both domains have."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agents.calculation import calculated
from loadgen.plugins.agents.toolset import Refusal, State, Toolset

if TYPE_CHECKING:
    from collections.abc import Mapping

ENDING: Final = "transfer_to_human_agents"
"""The tool that ends an episode."""

_CHARACTERS: Final = frozenset("0123456789+-*/(). ")


def calculate(_state: State, expression: str) -> str:
    """The value of an arithmetic expression, rounded to cents."""
    if not _CHARACTERS.issuperset(expression):
        raise Refusal("invalid characters in expression")
    return str(round(float(calculated(expression)), 2))


def think(_state: State, thought: str) -> str:  # noqa: ARG001 (a tool's arguments are named in its schema)
    """Nothing: the thought is in the log."""
    return ""


def transfer_to_human_agents(_state: State, summary: str) -> str:  # noqa: ARG001 (as above)
    """The end of the episode."""
    return "Transfer successful"


def get_user_details(state: State, user_id: str) -> str:
    """The profile of a user."""
    return json.dumps(user_of(state, user_id))


def user_of(state: State, user_id: str) -> Any:
    """The profile of a user."""
    if user_id not in state["users"]:
        raise Refusal("user not found")
    return state["users"][user_id]


def toolset(domain: str, functions: Mapping[str, Any]) -> Toolset:
    """The tools of a domain, in schema order: functions of the domain, or of this module.

    Messages about wrong arguments name a function by what the benchmark calls it, `GetUserDetails.invoke`.
    """
    text = files(__package__).joinpath("data", f"{domain}_tools.json").read_text(encoding="utf-8")
    declared = json.loads(text)["tools"]
    named = {}
    for tool in declared:
        function = functions.get(tool["name"]) or globals()[tool["name"]]
        title = "".join(word.capitalize() for word in tool["name"].split("_"))
        function.__qualname__ = f"{title}.invoke"
        named[tool["name"]] = function
    schemas = tuple({"type": "function", "function": tool} for tool in declared)
    return Toolset(named, schemas, frozenset({ENDING}))
