"""The difficulty of a use case's question: three levels, common to all use cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.headlines import by_tag
from workloads.errors import ColumnError

if TYPE_CHECKING:
    from workloads.sources import FileRow

TAG: Final = "difficulty"
LEVELS: Final = ("easy", "medium", "hard")

BY_DIFFICULTY: Final = tuple(by_tag(TAG, LEVELS))
"""The score of each level."""


def difficulty(row: FileRow) -> dict[str, str]:
    """The tag of a row.

    Raises:
        ColumnError: The row has none of the three levels.
    """
    level = row[TAG]
    if level not in LEVELS:
        raise ColumnError(f"{row.place}, column {TAG!r}: {level!r}, where {', '.join(LEVELS)} are allowed")
    return {TAG: level}
