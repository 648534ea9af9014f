"""Reading JSON from an untrusted server: a value of the wanted shape, or why it is not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.errors import MalformedResponseError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_TOKENS: Final = 2**53
"""A greater count is logged as this one: it would not survive JSON."""


def members(payload: Any, what: str = "the payload") -> dict[str, Any]:
    """A JSON object.

    Raises:
        MalformedError: It is something else.
    """
    if not isinstance(payload, dict):
        raise MalformedResponseError(f"{what} is not a JSON object")
    return payload


def event_type(payload: Any) -> str:
    """The `type` of an event; empty for an object without members, which says nothing.

    The event's name in the stream says the same, but some proxies leave it out.

    Raises:
        MalformedError: It has none.
    """
    kind = type_of(members(payload))
    if payload and not kind:
        raise MalformedResponseError("it has no `type`")
    return kind


def type_of(payload: Mapping[str, Any]) -> str:
    """The `type` of an object, empty where it has none."""
    kind = payload.get("type")
    return kind if isinstance(kind, str) else ""


def objects(value: Any, what: str) -> Sequence[dict[str, Any]]:
    """A list of JSON objects; null and missing are empty.

    Raises:
        MalformedError: It is something else.
    """
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        raise MalformedResponseError(f"{what} is not a list of objects")
    return value


def text(value: Any) -> str:
    """A text member: null and missing are empty.

    Raises:
        MalformedError: It is something else than a text.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        raise MalformedResponseError(f"a text was expected, not {type(value).__name__}")
    return value


def written(value: Any) -> str:
    """A value as JSON, where a text belongs: what a tool is called with is an object for some servers.

    Raises:
        MalformedError: It is nested more deeply than anybody reads.
    """
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError as error:
        raise MalformedResponseError("it is nested too deeply") from error


def count(counts: Any, key: str) -> int | None:
    """The count of tokens under a key; None where there is none."""
    return counted(counts.get(key)) if isinstance(counts, dict) else None


def counted(value: Any) -> int | None:
    """A count of tokens; None for what is not a count.

    The log has also what cannot be true, for the report to refuse; orjson reads more than 64 bits as a float.
    """
    if type(value) is float and value >= MOST_TOKENS:
        return MOST_TOKENS
    return min(value, MOST_TOKENS) if type(value) is int and value >= 0 else None
