"""The pages of docs: hand-written words, opening lines, and the index of pages.

`python -m tests.doc_pages` prints the words of each page.
"""

from __future__ import annotations

import inspect
import re
import sys
from typing import TYPE_CHECKING, Final

from tests.golden import ROOT

if TYPE_CHECKING:
    from pathlib import Path

README: Final = ROOT / "README.md"
INDEX: Final = ROOT / "docs" / "README.md"
GENERATED: Final = frozenset({"cli.md", "api.md", "index.md"})
"""Pages of docs without a hand-written part."""

_PART: Final = re.compile(r"<!-- (\w+) -->\n.*?<!-- /\1 -->", re.DOTALL)
_CODE: Final = re.compile(r"^```[\s\S]*?^```$|(?<=\n\n)(?: {4}[^\n]*\n)+", re.MULTILINE)
_ROW: Final = re.compile(r"^\| (\[[\w-]+\]\(([\w-]+\.md)\)) \|.*$", re.MULTILINE)
_LINK: Final = re.compile(r"\[([^]]+)\]\([^)]+\)")


def written_pages() -> list[Path]:
    """README.md and the pages of docs that have hand-written parts."""
    docs = sorted(page for page in (ROOT / "docs").glob("*.md") if page.name not in GENERATED)
    return [README, *docs]


def words(page: Path) -> int:
    """The words of a page, tables included, outside generated parts and blocks of code, which tests run."""
    return len(_CODE.sub("", _PART.sub("", page.read_text(encoding="utf-8"))).split())


def opening(page: Path) -> str:
    """The first sentence below the title: the readers and the contents of the page."""
    paragraph = page.read_text(encoding="utf-8").partition("\n\n")[2].partition("\n\n")[0]
    plain = _LINK.sub(r"\1", " ".join(paragraph.split()))
    return re.split(r"(?<=[.]) (?=[A-Z`])", plain, maxsplit=1)[0]


def index(text: str) -> str:
    """docs/README.md, with the opening line of the page in each row."""
    return _ROW.sub(lambda row: f"| {row[1]} | {opening(INDEX.with_name(row[2]))} |", text)


def attributes(documented: type) -> dict[str, str]:
    """The names and texts of the section `Attributes` of a docstring."""
    section = (inspect.getdoc(documented) or "").partition("\nAttributes:\n")[2].partition("\n\n")[0]
    return {
        name: " ".join(text.split())
        for name, text in re.findall(r"^ {4}(\w+): (.*?)(?=^ {4}\w+: |\Z)", section, re.MULTILINE | re.DOTALL)
    }


if __name__ == "__main__":
    counts = {str(page.relative_to(ROOT)): words(page) for page in written_pages()}
    counts["in all"] = sum(counts.values())
    sys.stdout.writelines(f"{count:6,} {page}\n" for page, count in counts.items())
