"""Verdicts as Markdown: for the summary of a CI job, or a comment on a change.

Text of a server or a user stays text: no link, no HTML, no mention, no further cell.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reporter.render import rule_in_words
from reporter.render.console_page import clean
from reporter.render.named_verdict import met, ruleset_of
from reporter.render.table import plain
from reporter.render.verdict_table import overview

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from reporter.render.named_verdict import NamedVerdict
    from reporter.render.table import Cell, Column, Table
    from rulesets.verdict import VerdictRow

MOST_BYTES: Final = 1024 * 1024
"""What GitHub takes as the summary of a step."""

_SIGNS: Final = {
    "PASS": "✅",
    "FAIL": "❌",
    "INVALID": "⛔",
    "OVERLOADED": "⛔",
    "INCONCLUSIVE": "❔",
    "WARN": "⚠️",
}
_MARKUP: Final = re.compile(r"[\\`*_{}\[\]<>&|~#!$^]|@(?=\w)|://|(?<=www)\.")
_APART: Final = "@<!-- -->"
"""Separates a name from its sign, so that no user is mentioned."""
_CUT: Final = "\n\n… and more, in report.json: the summary has reached its limit.\n"


def render(parts: Sequence[NamedVerdict], *, most_bytes: int = MOST_BYTES) -> str:
    """The verdicts one after the other, cut at the end of a line if too long."""
    lines = [
        *(_overview(parts) if len(parts) > 1 else ()),
        *(line for part in parts for line in (*_part(part), "")),
    ]
    return fitting("\n".join(lines), most_bytes)


def fitting(text: str, most_bytes: int) -> str:
    """The text, or the first lines with a note on the rest, or nothing if too long for that."""
    if len(text.encode()) <= most_bytes:
        return text
    room = most_bytes - len(_CUT.encode())
    whole_lines, _, _ = text.encode()[: max(room, 0)].rpartition(b"\n")
    return whole_lines.decode() + _CUT if room >= 0 else ""


def _overview(parts: Sequence[NamedVerdict]) -> Iterator[str]:
    """A line for each verdict, those over several runs first."""
    table = overview(sorted(parts, key=lambda part: part.is_one_of_several))
    yield from table_lines(table, _rule_cell)
    yield ""


def _part(part: NamedVerdict) -> Iterator[str]:
    yield f"### {_with_sign(part.label)}: {safe(part.name or part.where)}"
    yield ""
    ruleset = ruleset_of(part.verdict)
    yield f"{met(part.rows)}" + (f", ruleset {safe(ruleset)}" if ruleset else "")
    for reason in (*part.reasons, *part.accepted):
        yield f"- {safe(reason)}"
    if part.rows:
        yield ""
        yield from table_lines(rule_in_words.table(part.rows), _rule_cell)
    yield from _section("Why, and what to do", _whys(part.rows))
    if part.accuracy:
        from reporter.render.score_tables import score_table

        yield from ("", "**Accuracy**", "")
        yield from table_lines(score_table(part.accuracy))
    if part.cost is not None:
        from reporter.render import cost_lines

        yield from _section("Cost", map(safe, cost_lines.lines(part.cost)))
    for title, key in (("Changed", "overrides"), ("Notes", "notes"), ("Sources", "source")):
        yield from _section(title, map(safe, getattr(part.verdict, key, ())))


def _rule_cell(column: Column, cell: Cell) -> str:
    """A cell of a table of rules: a verdict with its sign, a rule as code."""
    if column.title == "verdict":
        return _with_sign(plain(cell))
    return _code(cell) if column.title == "rule" else safe(plain(cell))


def _whys(rows: Iterable[VerdictRow]) -> Iterator[str]:
    for row, why in rule_in_words.whys(rows):
        yield f"**{safe(rule_in_words.status(row))}** {_code(row.id)}: {'<br>'.join(map(safe, why))}"


def _with_sign(status: str) -> str:
    return f"{_SIGNS.get(status, '')} {safe(status)}".strip()


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    section_lines = list(lines)
    if section_lines:
        yield ""
        yield f"**{title}**"
        yield ""
        yield from (f"- {line}" for line in section_lines)


def table_lines(
    table: Table, shown: Callable[[Column, Cell], str] = lambda _, cell: safe(plain(cell))
) -> Iterator[str]:
    """A table, after its caption; `shown` makes a cell safe."""
    if table.caption:
        yield from (safe(table.caption), "")
    yield _row(safe(column.title) for column in table.columns)
    yield _row("---" if column.has_words else "---:" for column in table.columns)
    yield from (_row(map(shown, table.columns, row)) for row in table.rows)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def safe(value: object) -> str:
    """One line of text, with references in place of possible markup."""
    return _MARKUP.sub(lambda match: _reference(match[0]), clean(value))


def _code(value: object) -> str:
    """One line of text as code, where no user is mentioned."""
    return f"<code>{safe(value).replace(_APART, '@')}</code>"


def _reference(markup: str) -> str:
    return _APART if markup == "@" else "".join(f"&#{ord(char)};" for char in markup)
