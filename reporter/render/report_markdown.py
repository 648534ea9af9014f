"""A report as Markdown, for a document or a CI job's summary: the page of the run without plots."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from reporter.contents.run_contents import RunContents
from reporter.render import totals
from reporter.render.console_page import plain
from reporter.render.html.page import FigureCards, Prose, Remarks, Tables
from reporter.render.html.run_page import page_of
from reporter.render.markdown import MOST_BYTES, fitting, safe, table_lines
from reporter.render.table import plain as text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.render.html.page import CardFigure, Section
    from reporter.report import Report


def render(report: Report, *, contents: RunContents | None = None, most_bytes: int = MOST_BYTES) -> str:
    """The report; whatever a server or a user wrote is text and nothing else."""
    page = page_of(report, contents or RunContents())
    lines = (*page.lines, plain(totals.throughput(report)), plain(totals.tokens(report)))
    marks = ", ".join(mark.text for mark in page.marks)
    head = (
        f"### {safe(page.title)}{': ' * bool(marks)}{safe(marks)}",
        "",
        *([safe(page.answer), ""] if page.answer else ()),
        *(f"- {safe(line)}" for line in lines if line),
    )
    body = chain.from_iterable(map(_section, page.sections))
    return fitting("\n".join((*head, *body)) + "\n", most_bytes)


def _section(section: Section) -> Iterator[str]:
    content = list(_content(section))
    if content:
        yield from ("", f"**{safe(section.title)}**", "", *content)


def _content(section: Section) -> Iterator[str]:
    match section:
        case FigureCards():
            for card in section.cards:
                figures = (_figure(it) for it in card.figures)
                yield f"- {safe(card.label)}: {safe('; '.join((*figures, *map(text_of, card.more))))}"
        case Remarks():
            for remark in section.remarks:
                yield f"- **{safe(remark.mark.text)}** {safe(remark.message)} {safe(remark.remedy)}".rstrip()
            if not section.remarks:
                yield safe(section.nothing)
        case Tables():
            for number, table in enumerate(section.tables):
                yield from [""] * bool(number)
                yield from table_lines(table)
            if section.notes:
                yield from ("", *(f"- {safe(note)}" for note in section.notes))
        case Prose():
            yield from (f"- {safe(paragraph)}" for paragraph in section.paragraphs)


def _figure(figure: CardFigure) -> str:
    """A figure of a card: `p99 217 ms (189 to 234)`."""
    interval = f"({figure.interval})" if figure.interval else ""
    return " ".join(filter(None, (figure.name, figure.value, figure.unit, interval)))
