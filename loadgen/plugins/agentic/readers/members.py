"""Members of JSON objects that other programs wrote: read if plain, else None."""

from __future__ import annotations

from array import array
from datetime import UTC, datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from workloads.lengths import MOST_TOKENS

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_S: Final = 1e10


def tokens_in(members: Mapping[str, Any], name: str) -> int | None:
    """A number of tokens."""
    value = members.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def ns_in(members: Mapping[str, Any], name: str, scale: int = 1_000_000_000) -> int | None:
    """A time as ns.

    Args:
        members: The object.
        name: The member.
        scale: The ns of its unit.
    """
    value = members.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return round(value * scale) if abs(value) * scale <= _LONGEST_S * 1e9 else None


def moment_in(members: Mapping[str, Any], name: str) -> int | None:
    """A date and time in ISO 8601 as ns since 1970."""
    value = members.get(name)
    try:
        date = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if date is None:
        return None
    since = (date if date.tzinfo else date.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000


def text_in(members: Mapping[str, Any], name: str) -> str:
    """A text or a number as text; empty where neither is there."""
    value = members.get(name)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def ids_in(members: Mapping[str, Any], name: str) -> array[int] | None:
    """A list of ids of 64 bits."""
    value = members.get(name)
    try:
        return array("Q", value) if isinstance(value, list) else None
    except (TypeError, OverflowError):
        return None


def object_in(members: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object; empty where it is missing."""
    value = members.get(name)
    return value if isinstance(value, dict) else {}


def objects_in(members: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects of a list; empty where there are none."""
    value = members.get(name)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
