"""Plain words: README and docs avoid phrases that stop a reader who knows the field."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = [ROOT / "README.md", *sorted(page for page in (ROOT / "docs").glob("*.md") if page.name != "cli.md")]
"""The pages that are written by hand; docs/cli.md is made of the help texts."""

AVOIDED = {
    r"comes? to\b": "name the result",
    r"(told|tells?) of\b": "reported, describes",
    r"(is|are|was|were) told\b": "is reported, is given",
    r"la(id|ys?) \w* ?beside\b": "compared with",
    r"beside\b": "next to, in addition to",
    r"(go|goes|gone|going) on with\b": "resumed, continued",
    r"anew\b": "again",
    r"so many\b": "N, this many",
    r"nobody\b": "no client, no process, none",
    r"somebody\b": "a user, a process",
    r"(whoever|whosoever)\b": "name who it is",
    r"(?<!there )(is|are) (no (?!longer\b)|none\b)": "is not a, is not one",
    r"(requests|tokens|chunks|events|answers|questions) a second\b": "per second, /s",
    r"for ever\b": "without limit",
    r"what (be)?came of\b": "the outcome of",
    r"(own|whose|server's|client's) doing\b": "caused by",
    r"(own|client's) (share|delay)\b": "client overhead",
    r"(hold|holds|held) against\b": "compared with, evaluated by",
    r"stands? (in|at|there|here|below|above|nowhere|beside)\b": "is in, is at",
    r"(is|are|be) said (of|to|in|with)\b": "says, is described in",
    r"gravest\b": "most severe",
    r"sittings?\b": "segment",
    r"takes? its time\b": "is slow",
    r"last word\b": "precedence",
    r"likes? it or not\b": "in any case",
    r"seen to\b": "processed",
    r"at the door\b": "caused by",
    r"on the spot\b": "at once",
    r"(told|tells?) apart\b": "distinguished",
    r"turn(s|ed)? to it\b": "issued, processed",
    r"g(a|i)ve(s|n)? out\b": "failed, reached its limit",
}
"""Phrases as regular expressions, in any case, with what to write instead."""


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a page that its author chose: not code, not headings, not what is made of the code."""
    is_code = is_made = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            is_code = not is_code
        elif marker := re.fullmatch(r"<!-- (/?)\w+ -->", line):
            is_made = not marker[1]
        elif not is_code and not is_made and not line.startswith(("    ", "#")):
            yield number, re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)


def test_the_pages_are_written_plainly() -> None:
    """No page has one of the phrases."""
    found = [
        f"{page.name}:{number}: {hit[0]!r}: {instead}"
        for page in PAGES
        for number, line in prose(page.read_text(encoding="utf-8"))
        for phrase, instead in AVOIDED.items()
        if (hit := re.search(rf"\b{phrase}", line, re.IGNORECASE))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("line", "is_avoided"),
    [
        ("Nobody knows.", True),
        ("It is no stream.", True),
        ("It is no longer open, and there is no other.", False),
        ("The view `sittings` has a row.", False),
        ("40 requests a second", True),
    ],
)
def test_what_is_avoided(line: str, is_avoided: bool) -> None:  # noqa: FBT001 (a case of a table)
    """Phrases are found whole, and not in code."""
    ((_, text),) = prose(line)
    assert is_avoided == any(re.search(rf"\b{phrase}", text, re.IGNORECASE) for phrase in AVOIDED)
