"""Decoded function calls: a list of `{name: {argument: value}}`."""

from __future__ import annotations

from typing import Any

Calls = list[dict[str, dict[str, Any]]]


class UndecodableError(Exception):
    """An answer is not in the form of calls; the message says why."""


def are_calls(decoded: object) -> bool:
    """Whether something that was decoded is calls: none at all, `[]`, are calls too."""
    return type(decoded) is list and all(
        type(call) is dict and len(call) == 1 and type(next(iter(call.values()))) is dict for call in decoded
    )
