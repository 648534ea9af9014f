"""The runs of a series as tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from loadgen.cli.terminal.axes import NONE, axis_cells, axis_columns
from loadgen.sessions.series.rows import result
from reporter.render.page import Column, draw, grid, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from loadgen.sessions.series.outcome import PointOutcome
    from reporter.sweep import Figures
    from rulesets.verdict import Verdict

_EXACT: Final = 1000
"""From here on a figure is shown without decimals."""


def table(outcomes: Sequence[PointOutcome], *, width: int, color: bool = False) -> str:
    """All points under one heading, then the scores of those that have any, then what is to be known of them.

    Args:
        outcomes: What came of the points, at least one.
        width: Columns of the page; figures that have no room are left out, the least important first.
        color: Whether it is for a terminal that has colours.
    """
    from loadgen.cli.terminal.score_table import lines as score_lines

    axes = list(dict.fromkeys(name for one in outcomes for name in one.point.axes))
    return draw(
        [
            [_figures(outcomes, axes, width)],
            score_lines(outcomes, axes, width=width),
            [text(note) for note in _notes(outcomes)],
        ],
        width=width,
        color=color,
    )


_TELLING: Final = frozenset({"too_short"})
"""Findings that do not make a run invalid, but without which its row would be read wrongly."""


def _figures(outcomes: Sequence[PointOutcome], axes: Sequence[str], width: int) -> Any:
    from reporter.sweep import figures

    known = [figures(one.report) for one in outcomes]
    kept = [one for one in _FIGURES if one[0] != _ERRORS or any(of.error_rate for of in known)]
    results = [result(one) for one in outcomes]
    named = [Column("result", justify="left")] if any(results) else []
    columns = [*axis_columns(axes), *(Column(title, rank) for title, rank, _ in kept), *named]
    cells = [
        [
            *axis_cells(one, axes),
            *(Text(show(of)) for _, _, show in kept),
            *[Text(word, style=_STYLES.get(word, "")) for word in [said][: len(named)]],
        ]
        for one, of, said in zip(outcomes, known, results, strict=True)
    ]
    return grid(columns, cells, width=width)


_STYLES: Final = {"missed": "bold red", "invalid": "bold yellow", "overloaded": "bold yellow"}


def _notes(outcomes: Sequence[PointOutcome]) -> Iterator[str]:
    """Why a point is invalid, or what it missed, and what else its figures do not tell: a line each."""
    for one in outcomes:
        for finding in one.report.findings:
            if finding.code in _TELLING:
                yield f"{one.point.name}: {finding.message} {finding.remedy}"
        validity = one.report.validity
        yield from accepted_note(one)
        why = (not validity.accepted and validity.reasons) or _missed(one.report.verdict)
        if why and result(one) != "pass":
            yield f"{one.point.name}: {result(one)}: {'; '.join(map(str, why))}"


def accepted_note(outcome: PointOutcome) -> Iterator[str]:
    """That a run is accepted although it is invalid, and why it is; nothing for any other."""
    from reporter.findings.acceptance import IN_WORDS

    validity = outcome.report.validity
    if validity.accepted:
        yield f"{outcome.point.name}: INVALID, {IN_WORDS}: {'; '.join(validity.reasons)}"


def _missed(verdict: Verdict | None) -> list[str]:
    from reporter.render.rule import why

    counting = [row for row in verdict.rows if row.severity == "fail"] if verdict else []
    return [why(row)[0] for row in counting if row.status not in {"PASS", "SKIP"} and why(row)]


def _number(name: str, digits: int) -> Callable[[Figures], str]:
    def show(known: Figures) -> str:
        value = getattr(known, name)
        return NONE if value is None else f"{value:,.{0 if value >= _EXACT else digits}f}"

    return show


def _error_rate(known: Figures) -> str:
    return NONE if known.error_rate is None else f"{known.error_rate:.1%}"


_ERRORS: Final = "errors"
_FIGURES: Final[tuple[tuple[str, int, Callable[[Figures], str]], ...]] = (
    ("req/s", 2, _number("qps", 2)),
    ("tok/s", 0, _number("output_tps", 1)),
    ("tok/s\n/user", 1, _number("user_tps", 1)),
    ("TTFT\np50 ms", 0, _number("ttft_p50_ms", 1)),
    ("TTFT\np99 ms", 0, _number("ttft_p99_ms", 1)),
    ("TPOT\np50 ms", 3, _number("tpot_p50_ms", 2)),
    ("TPOT\np99 ms", 4, _number("tpot_p99_ms", 2)),
    (_ERRORS, 0, _error_rate),
)
"""Heading, which goes first where the page is too narrow (0 never does), and how it is shown."""
