"""Callable tools: schemas in OpenAI's format, and functions of a state and arguments."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

State = dict[str, Any]
"""What tools read and change: JSON values by name."""


class Refusal(Exception):  # noqa: N818 (an answer of the world to the agent, not a fault of the program)
    """A tool refuses a call; the observation has the reason."""


@dataclass(frozen=True, slots=True)
class Toolset:
    """The tools of an environment.

    Attributes:
        functions: By the tool's name: `function(state, **arguments) -> observation`.
        schemas: `{"type": "function", "function": {"name", "description", "parameters"}}` of each tool.
        ending: Tools after which an episode ends.
    """

    functions: Mapping[str, Callable[..., str]]
    schemas: Sequence[Mapping[str, Any]]
    ending: frozenset[str] = frozenset()

    def observe(self, state: State, name: str, arguments: Mapping[str, Any] | str) -> str:
        """Call a tool, which may change the state.

        Args:
            state: The world; it changes in place.
            name: The tool's.
            arguments: By name, or as the JSON text that a model wrote.

        Returns:
            What the agent reads: the result; `Error: …` for arguments that the tool does not take and for a
            refusal; `Unknown action …` for a tool that there is not.
        """
        function = self.functions.get(name)
        if function is None:
            return f"Unknown action {name}"
        try:
            values = json.loads(arguments) if isinstance(arguments, str) else deepcopy(dict(arguments))
            return function(state, **values)
        except Exception as error:  # noqa: BLE001 (a model can pass anything; the world says so and goes on)
            return f"Error: {error}"
