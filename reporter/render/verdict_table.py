"""A verdict as a table for a person: every rule, the observed figure, and the reasons for misses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.render.console_page import block, clean, draw, sentence, tables, text
from reporter.render.named_verdict import in_short, ruleset_of, share
from reporter.render.table import Column, Mark, Table, tone
from reporter.render.verdict_section import REMARKS, headline, sections

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from reporter.render.named_verdict import NamedVerdict

_RUNS: Final = (
    Column("verdict", justify="left"),
    Column("run", justify="left"),
    Column("rules met"),
    Column("did not pass", justify="left", folds=True),
)
_MOST_ROWS: Final = 40
"""The most runs that did not pass whose rules are shown; with more, look at one run after the other."""


def render(
    parts: Sequence[NamedVerdict], *, width: int = 100, color: bool = False, full: bool = False
) -> str:
    """Verdicts only, as printed by `loadgen gate`, each with the run's name if there are several.

    Of the runs of a series there is a line each; all rules of a run follow where it did not pass, and where
    these are few.
    """
    runs = [part for part in parts if part.is_one_of_several]
    others = [part for part in parts if not part.is_one_of_several]
    shown = runs if full else _few([run for run in runs if run.status != "PASS"])
    remarks_shown: list[Sequence[object]] = []
    pages = [
        *_pages(others, width, remarks_shown),
        *(_overview(runs, shown, width) if runs else ()),
        *_pages(shown, width, remarks_shown),
    ]
    return draw(pages, width=width, color=color)


def overview(runs: Sequence[NamedVerdict]) -> Table:
    """A line for each run: status, number of rules met, and the missed rules."""
    return Table(
        _RUNS,
        tuple(
            (
                Mark(clean(run.label), tone(run.label)),
                clean(run.name or run.where),
                share(run.rows),
                in_short([*run.missed, *run.accepted]),
            )
            for run in runs
        ),
    )


def _few(missed: Sequence[NamedVerdict]) -> Sequence[NamedVerdict]:
    """The runs; none if too many for reading."""
    return missed if sum(len(run.rows) for run in missed) <= _MOST_ROWS else ()


def _overview(
    runs: Sequence[NamedVerdict], shown: Sequence[NamedVerdict], width: int
) -> Iterator[Sequence[RenderableType]]:
    """A line for each run: status, number of rules met, and the missed rules."""
    passed, ruleset = sum(run.status == "PASS" for run in runs), ruleset_of(runs[0].verdict)
    yield [
        block("Runs", sentence(f"{passed} of {len(runs)} passed", f"ruleset {ruleset}" if ruleset else ""))
    ]
    yield tables(overview(runs), width=width)
    if passed < len(runs) and not shown:
        yield [block("More", "each rule of each run: --full, or the report.json of the run")]


def _pages(
    parts: Sequence[NamedVerdict], width: int, remarks_shown: list[Sequence[object]]
) -> Iterator[Sequence[RenderableType]]:
    """All rules of each run, with each set of remarks once: `remarks_shown` has the earlier ones."""
    for part in parts:
        own = [getattr(part.verdict, key, ()) for key in REMARKS.values()]
        yield [text(part.name, "bold")] if part.name else []
        if part.verdict is not None:
            why = (*part.reasons, *part.accepted)
            yield [block("Result", headline(part.verdict, part.label), *map(text, why))]
            yield from sections(part.verdict, width=width, remarks=own not in remarks_shown)
        remarks_shown.append(own)
