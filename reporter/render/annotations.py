"""Rules that did not pass, as annotations of GitHub Actions: output lines for the runner."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

from reporter.render import rule_in_words
from reporter.render.console_page import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reporter.render.named_verdict import NamedVerdict
    from rulesets.verdict import VerdictRow

Level = Literal["error", "warning", "notice"]

MOST_ANNOTATIONS: Final = 10
"""The number of annotations of a kind that GitHub shows for each step; the rest is in the summary."""

_LEVELS: Final[Mapping[str, Level]] = {
    "INVALID": "error",
    "FAIL": "error",
    "INCONCLUSIVE": "warning",
    "WARN": "warning",
    "INFO": "notice",
}
_ORDER: Final[Sequence[Level]] = ("error", "warning", "notice")
_LONGEST: Final = 4000
_COMMAND: Final = re.compile(r"(?m)^(\s*):(?=:)|##(?=\[)")
"""How a line of output begins, or what it holds anywhere, that the runner takes for a command."""


def render(parts: Iterable[NamedVerdict]) -> str:
    """At most ten annotations, one per line, the most severe first; the last says how many are left out."""
    annotations = sorted(_all(parts), key=lambda annotation: _ORDER.index(annotation[0]))
    shown = annotations if len(annotations) <= MOST_ANNOTATIONS else annotations[: MOST_ANNOTATIONS - 1]
    lines = [f"::{level} title={_property(title)}::{_message(message)}" for level, title, message in shown]
    if left := len(annotations) - len(shown):
        more = f"{left} more rules did not pass: see the summary and junit.xml"
        lines.append(f"::{annotations[len(shown)][0]} title=loadgen gate::{_message(more)}")
    return "".join(f"{line}\n" for line in lines)


def inert(output: str) -> str:
    """The output without anything that the runner would take for a command.

    A server, or the author of a ruleset, may have put one into text that we quote.
    """
    return _COMMAND.sub(lambda match: r"\x23#" if match[0] == "##" else match[1] + r"\x3a", output)


def _all(parts: Iterable[NamedVerdict]) -> Iterator[tuple[Level, str, str]]:
    for part in parts:
        named = [f"{part.label}:"] if part.label != part.status else []
        if why := part.reasons:
            yield (
                _LEVELS.get(part.status, "error"),
                part.name or part.where,
                " ".join(map(clean, (*named, *why))),
            )
        if part.accepted:
            yield "warning", part.name or part.where, " ".join(map(clean, part.accepted))
        for row in part.rows:
            if level := _LEVELS.get(rule_in_words.status(row)):
                yield level, part.called(row), _described(row)


def _described(row: VerdictRow) -> str:
    figures = f"{clean(row.target)}: observed {rule_in_words.observed(row)}, n {rule_in_words.samples(row)}"
    return "\n".join(map(clean, [f"{rule_in_words.status(row)}  {figures}", *rule_in_words.why(row)]))


def _message(text: str) -> str:
    return text[:_LONGEST].replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
