"""A few lines at the end of a terminal's output that are rewritten in place.

Only lines that changed are written, in one write, so that nothing flickers. The cursor stays visible, at the
block's last line: whatever ends the program leaves the terminal as it should be.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.live.status_lines import Line, Tone

_COLORS: Final[dict[Tone, str]] = {"bad": "\x1b[31m", "warn": "\x1b[33m", "dim": "\x1b[2m"}
_PLAIN: Final = "\x1b[0m"
_REST_OF_LINE: Final = "\x1b[K"
_REST_OF_SCREEN: Final = "\x1b[J"
_ROWS_BELOW: Final = f"\r\x1b[1B{_REST_OF_SCREEN}\x1b[1A"


class Block:
    """The block; empty at first."""

    def __init__(self, stream: TextIO, *, color: bool | None = None) -> None:
        self._stream = stream
        self._color = not os.environ.get("NO_COLOR") if color is None else color
        self._shown: list[Line] = []
        self._width = 0

    def draw(self, lines: Sequence[Line], width: int) -> None:
        """Show these lines in place of the ones before.

        Args:
            lines: None is longer than `width`; there are fewer than the terminal has rows.
            width: The columns of the terminal.
        """
        if list(lines) == self._shown and width == self._width:
            return
        before = ""
        if width != self._width or not lines:
            before, self._shown = self._cleared(width), []
        self._width = width
        self._write(before + self._changes(lines))
        self._shown = list(lines)

    def clear(self) -> None:
        """Remove the block; the next output begins at the block's place."""
        self._write(self._cleared(self._width))
        self._shown = []

    def _changes(self, lines: Sequence[Line]) -> str:
        text = _up(len(self._shown) - 1)
        for row, line in enumerate(lines):
            if row:
                text += "\r\x1b[1B" if row < len(self._shown) else "\r\n"
            if row >= len(self._shown) or line != self._shown[row]:
                text += f"\r{self._styled(line)}{_REST_OF_LINE}"
        return text + (_ROWS_BELOW if len(lines) < len(self._shown) else "")

    def _cleared(self, width: int) -> str:
        """Control codes that clear the block, also after a resize has wrapped the lines."""
        if not self._shown:
            return ""
        rows = sum(max(1, -(-len(line.text) // max(width, 1))) for line in self._shown)
        return f"{_up(rows - 1)}\r{_REST_OF_SCREEN}"

    def _styled(self, line: Line) -> str:
        color = _COLORS.get(line.tone, "") if self._color else ""
        return f"{color}{line.text}{_PLAIN}" if color else line.text

    def _write(self, text: str) -> None:
        if text:
            self._stream.write(text)
            self._stream.flush()


def _up(rows: int) -> str:
    return f"\x1b[{rows}A" if rows > 0 else ""
