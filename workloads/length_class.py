"""Classes of lengths that double: the groups of long contexts."""

from __future__ import annotations


def length_class(count: int, unit: str, least: int = 1) -> str:
    """The class of a length: `8192-16384 tokens` for more than 8,192 and at most 16,384."""
    limit = 1 << (max(count, least + 1) - 1).bit_length()
    return f"{limit // 2}-{limit} {unit}"
