"""JSON objects anywhere in a text, found by braces."""

from __future__ import annotations

import json
from typing import Any


def objects_in(text: str) -> list[dict[str, Any]]:
    """The outermost objects of a text, in order, without those that are not JSON.

    Braces within strings count as well, as in the code of pinchbench and OpenJarvis.
    """
    objects = []
    for part in _braced(text):
        try:
            value = json.loads(part)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            objects.append(value)
    return objects


def _braced(text: str) -> list[str]:
    parts: list[str] = []
    start = depth = 0
    for place, character in enumerate(text):
        if character == "{":
            if depth == 0:
                start = place
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                parts.append(text[start : place + 1])
    return parts
