"""The commands that README and docs show, as one would type them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted(page for page in (ROOT / "docs").glob("*.md") if page.name != "cli.md")]


class Shown(NamedTuple):
    """A command, and the page that it is on."""

    page: str
    words: tuple[str, ...]

    @property
    def line(self) -> str:
        """The command as a shell takes it."""
        return shlex.join(self.words)


def shown() -> list[Shown]:
    """Every command in a block of code, once a page: comments, prompts and pipes left out."""
    commands = []
    for page in PAGES:
        for line in _lines(page.read_text()):
            words = _words(line)
            if words and words[0] == "loadgen" and "…" not in line and "..." not in words:
                commands.append(Shown(page.name, tuple(words)))
    return list(dict.fromkeys(commands))


def _lines(text: str) -> Iterator[str]:
    """The lines of blocks, those that go on joined."""
    is_fenced, line_so_far = False, ""
    for line in text.splitlines():
        if line.startswith("```"):
            is_fenced, line_so_far = not is_fenced, ""
            continue
        if not is_fenced and not line.startswith("    "):
            line_so_far = ""
            continue
        whole = f"{line_so_far} {line.strip()}".strip()
        if whole.endswith("\\"):
            line_so_far = whole[:-1]
            continue
        line_so_far = ""
        yield whole.removeprefix("$ ")


def _words(line: str) -> list[str]:
    try:
        return shlex.split(re.split(r" \| | && | > | \|\| |; ", line)[0], comments=True)
    except ValueError:
        return []
