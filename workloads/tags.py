"""Tags: what rows say of their questions, and figures are grouped by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workloads.columns import cell
from workloads.errors import ColumnError
from workloads.sources import kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.sources import FileRow

_NAMES: Final = {True: "true", False: "false"}


def read_tags(row: FileRow, columns: Sequence[str]) -> Mapping[str, str]:
    """The tags of a row as texts; a column that is null is not a tag of it.

    Raises:
        ColumnError: The column does not exist, or something in it that is not a single text or number.
    """
    tags = {}
    for column in columns:
        value, place = cell(row, column)
        if isinstance(value, dict | list):
            raise ColumnError(f"{place}: {kind(value)}, where the text or number of a tag should be")
        if value is not None:
            tags[column] = _NAMES[value] if isinstance(value, bool) else str(value)
    return tags
