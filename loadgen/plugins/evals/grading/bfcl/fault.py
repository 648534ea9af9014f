"""The fault of a call."""

from __future__ import annotations

from dataclasses import dataclass
from reprlib import Repr
from typing import Any, Final

_SHORT: Final = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80
_SHORT.maxlist = _SHORT.maxdict = _SHORT.maxtuple = 8


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault, the first that was found.

    Attributes:
        kind: The benchmark's own name of it, its `error_type`: `value_error:string`.
        detail: What it is about, for a reader.
    """

    kind: str
    detail: str


def shown(value: Any) -> str:
    """A value for a reader: Python notation, shortened if long."""
    return _SHORT.repr(value)
