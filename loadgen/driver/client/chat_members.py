"""The parts of OpenAI's chat messages and tools that other protocols can express."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.errors import CannotAskError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workloads.sample import Message

_STANDARD: Final = frozenset({"role", "content", "refusal", "tool_calls", "tool_call_id"})
_LEFT_OUT: Final = frozenset({"reasoning", "reasoning_content", "annotations"})
"""What a model sends in addition to its answer; it is not sent to any server again."""


def only_known(message: Message, protocol: str) -> None:
    """Raise `CannotAskError` for a message with a member that other protocols do not know."""
    other = message.keys() - _STANDARD - _LEFT_OUT
    if message["role"] == "tool":
        other -= {"name"}  # of the function: the call that it answers has it
    if other:
        raise CannotAskError(
            f"a message of {message['role']} has `{min(other)}`, which --protocol {protocol} has no place for"
        )


def function_of(tool: Mapping[str, Any], protocol: str) -> Mapping[str, Any]:
    """The function of a tool (name, description, parameters); raise `CannotAskError` for other kinds."""
    function = tool.get("function")
    if tool.get("type") != "function" or not isinstance(function, dict) or not function.get("name"):
        raise CannotAskError(
            'a tool that is not {"type": "function", "function": {"name": …}}, the only kind that '
            f"--protocol {protocol} is given here"
        )
    return function
