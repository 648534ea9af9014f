"""JSON as other programs write it: `NaN` and `Infinity`, of pandas and Python, stand for a missing value."""

from __future__ import annotations

import json
from typing import Any

import orjson


def parse_json_text(text: str) -> Any:
    """The value of a text, None for `NaN`, `Infinity` and `-Infinity`; or an `orjson.JSONDecodeError`."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        if "NaN" not in text and "Infinity" not in text:
            raise
        try:
            return json.loads(text, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            pass
        raise
