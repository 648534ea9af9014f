"""A table as a value: the subject's module makes it once, and every format writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Tone = Literal["", "good", "bad", "doubt", "dim"]
"""The meaning of a color, which words repeat: met, not met, in doubt or accepted, minor."""


_TONES: Final[Mapping[str, Tone]] = {
    **dict.fromkeys(("PASS", "pass", "correct", "better"), "good"),
    **dict.fromkeys(("FAIL", "INVALID", "OVERLOADED", "missed", "invalid", "error", "incorrect"), "bad"),
    **dict.fromkeys(("INFO", "SKIP", "info", "no significant difference", "not tested"), "dim"),
}
"""By verdict, severity, outcome and finding; any other is in doubt."""


def tone(word: str) -> Tone:
    """The tone of a verdict, severity, outcome or finding."""
    return _TONES.get(word, "doubt")


@dataclass(frozen=True, slots=True)
class Mark:
    """A word or a figure with a tone, such as a verdict."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A text that leads to another page."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class IntervalBar:
    """An interval as text, which a page also draws as a bar.

    Attributes:
        place: Of the figure, where 0 is an equal figure and 1 the end of the drawing; beyond it, an arrow.
        low: The place of the lower end; None if unknown, as for `high`.
        zone: The half-width of what is too small to be detected; None if unknown.
    """

    text: str
    tone: Tone
    place: float
    low: float | None
    high: float | None
    zone: float | None


Cell = str | Mark | Link | IntervalBar

_FOLDED: Final = 24
_SHORT: Final = 28
"""Characters of a cell that stays on one line of an HTML page."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        rank: 0 is never left out; of the others the highest goes first when a terminal is too narrow.
        justify: `left` for words, `right` for figures.
        folds: Its cells may be broken into several lines.
        least: What one that folds asks for before others are left out.
        is_dim: Its cells are of less interest.
    """

    title: str
    rank: int = 0
    justify: Literal["left", "right"] = "right"
    folds: bool = False
    least: int = _FOLDED
    is_dim: bool = False

    @property
    def has_words(self) -> bool:
        """Whether the cells are words, not figures."""
        return self.justify == "left"

    def kind(self, cells: Iterable[Cell]) -> str:
        """`words`, `short words`, or empty for figures."""
        if not self.has_words:
            return ""
        return "short words" if all(len(plain(cell)) <= _SHORT for cell in cells) else "words"


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        rows: As many cells each as there are columns; a row without cells separates two groups.
        sql: The query that has the figures.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    sql: str = ""

    @property
    def kinds(self) -> list[str]:
        """The kind of each column."""
        return kinds(self.columns, self.rows)


def kinds(columns: Iterable[Column], rows: Iterable[tuple[Cell, ...]]) -> list[str]:
    """The kind of each column of a table with these rows."""
    rows = list(rows)
    return [column.kind(row[index] for row in rows) for index, column in enumerate(columns)]


def headed(*titles: str, words: int = 1) -> tuple[Column, ...]:
    """Columns of which only the first `words` hold text."""
    return tuple(
        Column(title, justify="left" if index < words else "right") for index, title in enumerate(titles)
    )


def plain(cell: Cell) -> str:
    """The text of a cell."""
    return cell if isinstance(cell, str) else cell.text
