"""Two eval functions: one of the answer, one of the whole conversation."""

from __future__ import annotations

from typing import Any


def names_the_truth(solution_str: str, ground_truth: str, extra_info: dict[str, Any]) -> bool:
    """Whether the answer has the right figure."""
    return ground_truth in solution_str


async def looked_up(messages: list[dict[str, Any]], ground_truth: str, metadata: dict[str, Any]) -> float:
    """The share of the tools that the row names which the agent called."""
    called = {call["function"]["name"] for message in messages for call in message.get("tool_calls") or []}
    wanted = metadata["lookups"].split(",")
    return sum(name in called for name in wanted) / len(wanted)
