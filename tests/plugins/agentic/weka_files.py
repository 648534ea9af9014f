"""Small inputs in Weka's format, with a truth that is computed by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def request(t: float, ids: Sequence[int], *, tail: int = 0, took: float = 1.0, **more: Any) -> dict[str, Any]:
    """A request with blocks of 4 tokens."""
    members = {"t": t, "type": "s", "model": "m", "in": 4 * len(ids) + tail, "out": 4, "hash_ids": [*ids]}
    return {**members, "api_time": took, **more}


def subagent(
    t: float, name: str, requests: Sequence[dict[str, Any]], status: str = "completed"
) -> dict[str, Any]:
    """A subagent."""
    return {
        "t": t,
        "type": "subagent",
        "agent_id": name,
        "subagent_type": "Explore",
        "status": status,
        "tool_tokens": 4,
        "system_tokens": 0,
        "requests": [*requests],
    }


def conversation(*entries: dict[str, Any], name: str = "one") -> dict[str, Any]:
    """A conversation of which tool definitions and system prompt are the first two blocks."""
    return {
        "id": name,
        "block_size": 4,
        "hash_id_scope": "local",
        "tool_tokens": 5,
        "system_tokens": 3,
        "requests": [*entries],
    }


def written(path: Path, *conversations: dict[str, Any]) -> Path:
    """The path of a new file with conversations, as JSON Lines."""
    path.write_text("".join(f"{json.dumps(each)}\n" for each in conversations), encoding="utf-8")
    return path


def with_two_agents(shift_s: float) -> dict[str, Any]:
    """A main agent of three requests, the second of which waits for two subagents.

    Args:
        shift_s: What times of subagents count from: 0 for the spawn, 10 for the start.
    """
    return conversation(
        request(0, [1, 2, 3], took=5),
        subagent(10, "a", [request(shift_s + 0, [20, 21]), request(shift_s + 3, [20, 21, 22], took=2)]),
        subagent(10, "b", [request(shift_s + 1, [20, 30])]),
        request(20, [1, 2, 3, 4, 5, 6]),
        request(30, [1, 2, 3, 4, 5, 6, 7], tail=2),
    )
