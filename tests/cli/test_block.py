"""A block of lines that is rewritten in place, on an emulated terminal."""

from __future__ import annotations

from io import StringIO

import pyte
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loadgen.cli.terminal.block import Block
from reporter.live.status_lines import Line

COLUMNS, ROWS = 30, 8


class Terminal(StringIO):
    """A terminal, and the bytes that it was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.Stream(self.screen)

    def write(self, text: str) -> int:
        """Show a text: a line end is also a carriage return, as the kernel makes it."""
        self._stream.feed(text.replace("\n", "\r\n"))
        return super().write(text)

    @property
    def rows(self) -> list[str]:
        """What is on the screen, to the last row with something."""
        return "\n".join(row.rstrip() for row in self.screen.display).rstrip().split("\n")


def block_of(*texts: str) -> list[Line]:
    """Lines without emphasis."""
    return [Line(text) for text in texts]


blocks = st.lists(
    st.lists(st.text("abc ", min_size=1, max_size=COLUMNS - 1).map(str.rstrip), max_size=ROWS - 1),
    min_size=1,
    max_size=5,
)


@example([["a", "a", "a", "a", "aa", "a"], ["a", "a", "a", "a", "aa"]], 0)
@given(blocks, st.integers(0, ROWS))
def test_the_screen_shows_the_last_block_below_what_was_before(drawn: list[list[str]], before: int) -> None:
    """Wherever it begins, whatever changes; and nothing of it when it is cleared."""
    terminal = Terminal()
    for number in range(before):
        terminal.write(f"output {number}\n")
    block = Block(terminal, color=True)
    for texts in drawn:
        block.draw(block_of(*texts), COLUMNS)
    expected = [f"output {number}" for number in range(before)] + drawn[-1]
    shown = "\n".join(expected).rstrip().split("\n")
    tail = terminal.rows if any(shown) else []
    assert tail == (shown[-len(tail) :] if tail else [])
    block.clear()
    terminal.write("the end\n")
    assert terminal.rows[-1] == "the end"
    assert not any(row == text for row in terminal.rows[:-1] for texts in drawn for text in texts if text)


def test_only_what_changed_is_written() -> None:
    """Nothing at all for the same block."""
    terminal = Terminal()
    block = Block(terminal, color=False)
    block.draw(block_of("one", "two", "three"), COLUMNS)
    terminal.truncate(0)
    terminal.seek(0)
    block.draw(block_of("one", "two", "three"), COLUMNS)
    assert terminal.getvalue() == ""
    block.draw(block_of("one", "2", "three"), COLUMNS)
    assert "one" not in terminal.getvalue()
    assert "three" not in terminal.getvalue()
    assert terminal.rows == ["one", "2", "three"]


@pytest.mark.parametrize("no_color", ["", "1"])
def test_colors_are_left_out_where_they_are_not_wanted(
    monkeypatch: pytest.MonkeyPatch, no_color: str
) -> None:
    """NO_COLOR, with any value; the cursor is never hidden."""
    monkeypatch.setenv("NO_COLOR", no_color)
    terminal = Terminal()
    Block(terminal).draw([Line("errors  reset 3", "bad")], COLUMNS)
    assert ("\x1b[31m" in terminal.getvalue()) == (not no_color)
    assert terminal.rows == ["errors  reset 3"]
    assert "?25l" not in terminal.getvalue()


def test_a_terminal_that_gets_narrower_has_the_block_once() -> None:
    """Where it breaks long lines, these are more rows to clear."""
    terminal = Terminal()
    block = Block(terminal, color=False)
    block.draw(block_of("a" * 29, "b" * 29), COLUMNS)
    terminal.screen.reset()
    terminal.write("\n".join(("a" * 20, "a" * 9, "b" * 20, "b" * 9)))  # as many terminals show it then
    block.draw(block_of("a" * 19, "b" * 19), 20)
    assert terminal.rows == ["a" * 19, "b" * 19]
