"""Values of a log's JSON by type; a value of another type counts as missing."""

from __future__ import annotations

from typing import Any

import orjson

from recorder.errors import LogError


def document(stored: str) -> Any:
    """The value of a JSON text.

    Raises:
        LogError: It is not JSON.
    """
    try:
        return orjson.loads(stored)
    except ValueError as error:
        raise LogError(f"the log is damaged: invalid JSON ({error})") from error


def text(value: Any) -> str | None:
    """A text."""
    return value if isinstance(value, str) else None


def texts(value: Any) -> list[str]:
    """The texts of a list; none of anything else."""
    return [item_text for item_text in value if isinstance(item_text, str)] if isinstance(value, list) else []


def whole(value: Any) -> int | None:
    """A whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number(value: Any) -> float | None:
    """Any number."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def members(value: Any) -> dict[str, Any]:
    """The members of an object; none of anything else."""
    return value if isinstance(value, dict) else {}
