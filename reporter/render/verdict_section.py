"""A verdict in a report for a person: its headline, every rule, and the reasons for misses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reporter.render import rule_in_words
from reporter.render.console_page import block, clean, sentence, styled, tables, text
from reporter.render.named_verdict import met, ruleset_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType
    from rich.text import Text

    from rulesets.verdict import Verdict, VerdictRow

REMARKS: Final = {"Changed": "overrides", "Note": "notes", "Source": "source"}
_MOST_NOTES: Final = 5


def sections(verdict: Verdict, *, width: int, remarks: bool = True) -> Iterator[Sequence[RenderableType]]:
    """Every rule with the observed figure; reasons for misses; changes and notes."""
    if verdict.rows:
        yield tables(rule_in_words.table(verdict.rows), width=width)
    if reasons := [_why(row, why) for row, why in rule_in_words.whys(verdict.rows)]:
        yield reasons
    if remarks and (remark_blocks := list(_remarks(verdict))):
        yield remark_blocks


def headline(verdict: Verdict, label: str = "") -> Text:
    """The status, the number of rules met, and the name of the rules."""
    ruleset = ruleset_of(verdict)
    entry = "/".join(clean(name) for name in (verdict.model, verdict.scenario) if name and name != "*")
    return sentence(
        styled(verdict.status, label),
        sentence(met(verdict.rows), f"ruleset {ruleset}" if ruleset else "", entry),
        separator="   ",
    )


def _why(row: VerdictRow, why: Sequence[str]) -> RenderableType:
    """A rule that did not pass: reason and remedy."""
    status = clean(rule_in_words.status(row))
    label = styled(status)
    if status == "SKIP":
        return block(label, text(f"{row.id}: {'; '.join(why)}"))
    return block(label, text(row.id, "bold"), *map(text, why))


def _remarks(verdict: Verdict) -> Iterator[RenderableType]:
    sources = (*verdict.source, *(row.source for row in verdict.rows))
    verdict = replace(verdict, source=tuple(dict.fromkeys(filter(None, sources))))
    for label, key in REMARKS.items():
        if lines := getattr(verdict, key):
            more = [text(f"and {len(lines) - _MOST_NOTES} more, in report.json")]
            yield block(label, *map(text, lines[:_MOST_NOTES]), *more[: len(lines) > _MOST_NOTES])
