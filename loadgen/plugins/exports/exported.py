"""The output of an export."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 (a field's type)
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Exported:
    """The output of an export.

    Attributes:
        place: What it was written to: `file`, `folder`, `url` or `tracker`.
        target: Its name.
        rows: How many requests it is about, or other things.
        details: What else a program wants to know, by name.
        unit: The noun for a row.
        invalid: Whether the run does not represent the server, and the exit code says so.
        text: What is printed instead of all that; None where the target is not standard output.
    """

    place: str
    target: str
    rows: int
    details: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = None
    unit: str = "request"
    invalid: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for `--json`."""
        return {self.place: self.target, "rows": self.rows, **self.details}
