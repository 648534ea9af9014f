"""One point of an exported curve."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMELESS: Final = "system"
"""The folder of a system without a name."""


@dataclass(frozen=True, slots=True)
class ExportedPoint:
    """One point of the curve.

    Attributes:
        name: What the series calls it.
        disclosure: The content of its point.yaml.
        files: Its other files, by their names.
        missing: What it lacks, a sentence each.
        invalid: Why its run cannot stand for the server.
    """

    name: str
    disclosure: dict[str, Any]
    files: Mapping[str, bytes]
    missing: list[str] = field(default_factory=list)
    invalid: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """The name of the point's folder."""
        return f"r{self.disclosure['concurrency']}"

    @property
    def model(self) -> str:
        """The official name of the model, and the folder of the curve."""
        return str(self.disclosure["model_name"] or "")
