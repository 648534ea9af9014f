"""One rule of a verdict in words: what a table, a test report and an annotation all say of it.

A row is `asdict` of a `rulesets.VerdictRow`, as `report.json` has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.render.figures import NOTHING, decimals, fixed, given, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_COLUMNS: Final = ("verdict", "rule", "observed", "bound", "limit", "margin", "n", "method")
_ONLY_IF_TOLD: Final = frozenset({"limit", "method"})
_MOST_DECIMALS: Final = 6


def columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The headings of a table of rules, without those that none of them has anything for."""
    return [
        name for name in _COLUMNS if name not in _ONLY_IF_TOLD or any(_is_told(row, name) for row in rows)
    ]


def cells(row: Mapping[str, Any]) -> dict[str, str]:
    """What stands under each heading, as it was written: a renderer makes it safe."""
    return {
        "verdict": status(row),
        "rule": str(row.get("target") or ""),
        "observed": observed(row),
        "bound": bound(row),
        "limit": limit(row),
        "margin": margin(row),
        "n": samples(row),
        "method": str(row.get("method") or ""),
    }


def why(row: Mapping[str, Any]) -> list[str]:
    """Why it did not pass, and what to do; nothing of one that did."""
    return (
        [] if row.get("status") == "PASS" else [str(row[key]) for key in ("reason", "remedy") if row.get(key)]
    )


def whys(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], list[str]]]:
    """The rules that did not pass, each with why. A remedy for several side by side stands at the last."""
    told = [(row, why(row)) for row in rows]
    found = [(row, lines) for row, lines in told if lines]
    for number, (row, lines) in enumerate(found):
        after = found[number + 1][0] if number + 1 < len(found) else {}
        same = len(lines) > 1 and row.get("remedy") == after.get("remedy")
        yield row, lines[:-1] if same else lines


def _is_told(row: Mapping[str, Any], name: str) -> bool:
    return row.get(name) not in {None, ""}


def status(row: Mapping[str, Any]) -> str:
    """The status; what may be missed without failing the run shows its severity when it is."""
    told, severity = row.get("status", NOTHING), row.get("severity", "fail")
    return str(severity).upper() if told == "FAIL" and severity != "fail" else str(told)


def observed(row: Mapping[str, Any]) -> str:
    """The figure, with as many digits as tell it from its bound."""
    return _with_unit(_told_from(row.get("observed"), row.get("bound")), row)


def limit(row: Mapping[str, Any]) -> str:
    """The confidence limit that had to meet the bound, likewise."""
    return _with_unit(_told_from(row.get("limit"), row.get("bound")), row)


def bound(row: Mapping[str, Any]) -> str:
    """The bound as it was written."""
    return _with_unit(given(row.get("bound")), row)


def margin(row: Mapping[str, Any]) -> str:
    """The distance from the bound, in percent of it: negative on the wrong side."""
    share = row.get("margin")
    return NOTHING if share is None else f"{100 * share:+,.{decimals(100 * share, 2)}f} %"


def samples(row: Mapping[str, Any]) -> str:
    """How many samples stand behind the figure."""
    return whole(row.get("n"))


def _told_from(figure: float | None, bound: float | None) -> str:
    """A figure with three digits, and with as many more as tell it from the bound that it is held against."""
    if figure is None:
        return NOTHING
    least = 0 if figure == round(figure) else decimals(figure, most=_MOST_DECIMALS)
    differs = (
        places
        for places in range(least, _MOST_DECIMALS)
        if bound is None or figure == bound or round(figure, places) != round(bound, places)
    )
    return fixed(figure, next(differs, _MOST_DECIMALS))


def _with_unit(shown: str, row: Mapping[str, Any]) -> str:
    unit = row.get("unit") or ""
    return f"{shown} {unit}" if unit and shown != NOTHING else shown
