"""Verdicts as Markdown: for the summary of a CI job, or a comment on a change.

Text of a server or a user stays text: no link, no HTML, no mention, no cell of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reporter.number_text import whole
from reporter.render import cost, rule
from reporter.render.accuracy import called, interval_in_words, value_in_words
from reporter.render.named_verdict import in_short, met, ruleset_of, share
from reporter.render.page import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reporter.render.named_verdict import NamedVerdict
    from reporter.values.task_score import TaskScore
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
_RIGHT: Final = frozenset({"observed", "bound", rule.LIMIT, "margin", "n"})
_MARKUP: Final = re.compile(r"[\\`*_{}\[\]<>&|~#!$^]|@(?=\w)|://|(?<=www)\.")
_APART: Final = "@<!-- -->"
"""Separates a name from its sign, so that no user is mentioned."""
_CUT: Final = "\n\n… and more, in report.json: the summary has reached its limit.\n"


def render(parts: Sequence[NamedVerdict], *, most_bytes: int = MOST_BYTES) -> str:
    """The verdicts one after the other, cut at the end of a line if too long.

    Args:
        parts: The verdicts.
        most_bytes: The most bytes, in UTF-8.
    """
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
    yield table_row(("verdict", "run", "rules met", "did not pass"))
    yield table_row(("---", "---", "---:", "---"))
    for part in sorted(parts, key=lambda part: part.is_one_of_several):
        name = safe(part.name or part.where)
        missed = safe(in_short([*part.missed, *part.accepted]))
        yield table_row((_with_sign(part.label), name, share(part.rows), missed))
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
        yield from _table(part.rows)
    yield from _section("Why, and what to do", _whys(part.rows))
    if part.accuracy:
        yield from ("", "**Accuracy**", "")
        yield from _accuracy(part.accuracy)
    if part.cost is not None:
        yield from _section("Cost", map(safe, cost.lines(part.cost)))
    for title, key in (("Changed", "overrides"), ("Notes", "notes"), ("Sources", "source")):
        yield from _section(title, map(safe, getattr(part.verdict, key, ())))


def _table(rows: Sequence[VerdictRow]) -> Iterator[str]:
    columns = rule.columns(rows)
    yield table_row(columns)
    yield table_row("---:" if name in _RIGHT else "---" for name in columns)
    for row in rows:
        cells = {name: safe(cell) for name, cell in rule.cells(row).items()}
        shown = {
            **cells,
            "verdict": _with_sign(rule.status(row)),
            "rule": _code(row.target),
        }
        yield table_row(shown[name] for name in columns)


def _accuracy(scores: Sequence[TaskScore]) -> Iterator[str]:
    titles = ("task", "score", "95 % interval", "samples", "unparsed", "missing", "unscored")
    yield table_row(titles)
    yield table_row("---" if title == "task" else "---:" for title in titles)
    for score in scores:
        unit = next(iter(score.headlines.values())).unit
        bound = "≥ " if score.unscored and score.value is not None else ""
        yield table_row(
            (
                safe(called(score)),
                f"{bound}{value_in_words(score.value, unit)}",
                interval_in_words(score.interval, unit),
                *map(whole, (score.issued, score.unparsed, score.missing, score.unscored)),
            )
        )


def _whys(rows: Iterable[VerdictRow]) -> Iterator[str]:
    for row, why in rule.whys(rows):
        yield f"**{safe(rule.status(row))}** {_code(row.id)}: {'<br>'.join(map(safe, why))}"


def _with_sign(status: str) -> str:
    return f"{_SIGNS.get(status, '')} {safe(status)}".strip()


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    section_lines = list(lines)
    if section_lines:
        yield ""
        yield f"**{title}**"
        yield ""
        yield from (f"- {line}" for line in section_lines)


def table_row(cells: Iterable[str]) -> str:
    """A row of a table, of cells that are safe."""
    return f"| {' | '.join(cells)} |"


def safe(value: object) -> str:
    """One line of text, with references in place of possible markup."""
    return _MARKUP.sub(lambda match: _reference(match[0]), clean(value))


def _code(value: object) -> str:
    """One line of text as code, where no user is mentioned."""
    return f"<code>{safe(value).replace(_APART, '@')}</code>"


def _reference(markup: str) -> str:
    return _APART if markup == "@" else "".join(f"&#{ord(char)};" for char in markup)
