"""The text of a rule's or setting's value in a sentence."""

from __future__ import annotations

from collections.abc import Mapping


def in_words(value: object) -> str:
    """Write any plain value: `5`, `true`, `min 4, max 32`; nested values are in brackets."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_part(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_part, value))
    return f"{value:,.10g}" if isinstance(value, float) else str(value)


def _part(value: object) -> str:
    return f"({in_words(value)})" if isinstance(value, Mapping | list | tuple) else in_words(value)
