"""The scorecard: the measurements of every round, next to the requirements and the goals."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LINE: Final = "{:<46} {:>24} {:>9} {:>7} {:<4} {:<12} {}"


@dataclass(frozen=True, slots=True)
class Row:
    """One line.

    Attributes:
        work: What was done, and what of it was measured.
        values: One for each round; empty where it could not be measured.
        bounds: What the median must keep (required), and what it is hoped to keep (the aim).
        unit: Of all of them.
        least: Whether the bounds are lower ones.
        note: What else there is to know.
        doubt: Why a miss need not be the client's, such as that the mock endpoint did not keep up.
    """

    work: str
    values: Sequence[float]
    bounds: tuple[float, float]
    unit: str = ""
    least: bool = False
    note: str = ""
    doubt: str = ""

    @property
    def verdict(self) -> str:
        """How the median stands: `aim`, `met`, `MISSED`, `in doubt`, or `not measured`."""
        if not self.values:
            return "not measured"
        required, aim = map(self._meets, self.bounds)
        if aim:
            return "aim"
        return "met" if required else "in doubt" if self.doubt else "MISSED"

    def __str__(self) -> str:
        sign = "≥" if self.least else "≤"
        measured = "-"
        if self.values:
            measured = f"{median(self.values):.3g} [{min(self.values):.3g}..{max(self.values):.3g}]"
        required, aim = self.bounds
        verdict = self.verdict
        note = self.doubt if verdict == "in doubt" else self.note
        return _LINE.format(self.work, measured, f"{sign} {required:g}", f"{aim:g}", self.unit, verdict, note)

    def _meets(self, bound: float) -> bool:
        value = median(self.values)
        return value >= bound if self.least else value <= bound


def table(rows: Iterable[Row]) -> str:
    """All lines under their heading."""
    head = _LINE.format("work", "median [min..max]", "required", "aim", "unit", "verdict", "")
    return "\n".join(line.rstrip() for line in [head, *map(str, rows)])
