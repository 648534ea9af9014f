"""A line of `loadgen check`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One line of the output: a check, the status, and details."""

    check: str
    status: Literal["ok", "warning", "failed"]
    detail: str
