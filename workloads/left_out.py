"""Rows of a file that cannot be asked: how many, by reason, and where the first of each stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workloads.errors import WorkloadError

_MOST_REASONS: Final = 20
_LONGEST: Final = 200


@dataclass(slots=True)
class LeftOut:
    """The count of rows that were left out."""

    #: By reason, a clause such as `the prompt is empty`: how many rows.
    rows: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, reason: str, place: str) -> None:
        """Count a row."""
        if reason not in self.rows and len(self.rows) == _MOST_REASONS:
            reason = "other reasons"
        self.rows[reason] = self.rows.get(reason, 0) + 1
        self.first.setdefault(reason, place.rpartition("/")[2])

    def add_error(self, error: WorkloadError, place: str) -> None:
        """Count a row for the reason in an error, without place and remedy."""
        clause = str(error).removeprefix(place).partition(": ")[2].partition(";")[0]
        self.add(clause[:_LONGEST] or str(error)[:_LONGEST], place)

    @property
    def total(self) -> int:
        """How many rows were left out, whatever the reason."""
        return sum(self.rows.values())

    def facts(self) -> Mapping[str, Any]:
        """The counts as JSON, for the log; empty where no row was left out."""
        if not self.rows:
            return {}
        return {
            "left_out": {
                reason: {"rows": rows, "first": self.first[reason]} for reason, rows in self.rows.items()
            }
        }
