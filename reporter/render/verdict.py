"""A verdict as a table that a person reads: every rule, what was observed, and why it did not pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from reporter.render.figures import NOTHING, decimals, fixed, given, whole
from reporter.render.page import Column, block, clean, draw, grid, sentence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

STYLES: Final = {"PASS": "bold green", "FAIL": "bold red", "INVALID": "bold red"}

_COLUMNS: Final = (
    Column("verdict", justify="left"),
    Column("rule", justify="left", folds=True),
    Column("observed"),
    Column("bound", rank=2),
    Column("margin", rank=1),
    Column("n", rank=3),
)
_MOST_DECIMALS: Final = 6


def render(verdict: Mapping[str, Any], *, width: int = 100, color: bool = False) -> str:
    """A verdict alone, as `loadgen gate` prints it.

    Args:
        verdict: `Verdict.to_dict()`.
        width: Columns of the page; at least 40.
        color: Whether to use ANSI colours.
    """
    return draw(_page(verdict, width), width=width, color=color)


def sections(verdict: Mapping[str, Any], *, width: int) -> Iterator[Sequence[RenderableType]]:
    """Every rule with what was observed, and why those did not pass that did not."""
    rows = verdict.get("rows", ())
    if rows:
        yield [grid(_COLUMNS, [_row(row) for row in rows], width=width)]
    reasons = [text(row["reason"]) for row in rows if row.get("reason")]
    if reasons:
        yield [block("Why", *reasons)]


def headline(verdict: Mapping[str, Any]) -> Text:
    """The status, how many rules were met, and whose rules they are."""
    rows = verdict.get("rows", ())
    status = clean(verdict.get("status", NOTHING))
    met = f"{sum(row.get('status') == 'PASS' for row in rows)} of {len(rows)} rules met"
    ruleset = " ".join(filter(None, (verdict.get("ruleset"), verdict.get("version"))))
    return sentence(
        Text(status, STYLES.get(status, "bold")),
        sentence(met, f"ruleset {ruleset}" if ruleset else ""),
        separator="   ",
    )


def _page(verdict: Mapping[str, Any], width: int) -> Iterator[Sequence[RenderableType]]:
    yield [block("Result", headline(verdict), *map(text, verdict.get("reasons", ())))]
    yield from sections(verdict, width=width)


def _row(row: Mapping[str, Any]) -> list[Text]:
    observed, bound, unit = row.get("observed"), row.get("bound"), row.get("unit") or ""
    return [
        _status(row),
        text(row.get("target", "")),
        text(_with_unit(_observed(observed, bound), unit)),
        text(_with_unit(given(bound), unit)),
        text(_margin(row.get("margin"))),
        text(whole(row.get("n")), "dim"),
    ]


def _status(row: Mapping[str, Any]) -> Text:
    """The status; a target that may be missed without failing the run shows its severity when it is."""
    status, severity = row.get("status", NOTHING), row.get("severity", "fail")
    harmless = status == "FAIL" and severity != "fail"
    shown = clean(severity).upper() if harmless else clean(status)
    return Text(shown, style="bold yellow" if harmless else STYLES.get(shown, "bold"))


def _observed(observed: float | None, bound: float | None) -> str:
    """A figure with three digits, and with as many more as tell it from the bound that it is held against."""
    if observed is None:
        return NOTHING
    least = 0 if observed == round(observed) else decimals(observed, most=_MOST_DECIMALS)
    differs = (
        places
        for places in range(least, _MOST_DECIMALS)
        if bound is None or observed == bound or round(observed, places) != round(bound, places)
    )
    return fixed(observed, next(differs, _MOST_DECIMALS))


def _with_unit(shown: str, unit: str) -> str:
    return f"{shown} {unit}" if unit and shown != NOTHING else shown


def _margin(share: float | None) -> str:
    return NOTHING if share is None else f"{100 * share:+,.{decimals(100 * share, 2)}f} %"
