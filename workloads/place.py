"""Places of values, `module:attribute`, for tables whose values are imported on use."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def at(place: str) -> Any:
    """The value at a place, `module:attribute` or `module`, imported here."""
    module, _, attributes = place.partition(":")
    value: Any = import_module(module)
    for attribute in filter(None, attributes.split(".")):
        value = getattr(value, attribute)
    return value
