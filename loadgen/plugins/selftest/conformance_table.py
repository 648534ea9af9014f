"""The results of a self-test as a table: one line per scenario, and each failed row."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Final

from reporter.render.console_page import block, draw, sentence, tables, text
from reporter.render.table import Column, Mark, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.text import Text

    from loadgen.plugins.selftest.row_result import RowResult, Times
    from reporter.render.table import Cell, Tone

_MOST_MISSES: Final = 3
_FIRST: Final = Column("scenario", justify="left")
_ABOUT: Final = Column("the server's behavior", rank=9, justify="left", folds=True, is_dim=True)
_TRUE: Final = Column("true", rank=5, justify="left", folds=True)
_VERDICT: Final = Column("verdict", justify="left")


def table(results: Sequence[RowResult], *, width: int, color: bool) -> str:
    """The whole table, as text."""
    transports = sorted({result.row.transport for result in results}, reverse=True)
    measured = [
        Column(transport, rank=rank, justify="left", folds=True)
        for rank, transport in enumerate(transports, start=1)
    ]
    by_scenario: dict[str, list[RowResult]] = {}
    for result in results:
        by_scenario.setdefault(result.row.scenario.name, []).append(result)
    lines = tuple(_line(group, transports) for group in by_scenario.values())
    columns = (_FIRST, _ABOUT, _TRUE, *measured, _VERDICT)
    failed = [result for result in results if not result.passed]
    return draw(
        [
            [
                text(
                    "TTFT / TPOT in ms and tokens, or the failure; medians over requests and protocols",
                    "dim",
                )
            ],
            tables(Table(columns, lines), width=width),
            [block(text("failed", "bold red"), *map(_failure, failed))] if failed else [],
            [summary(results)],
        ],
        width=width,
        color=color,
    )


def summary(results: Sequence[RowResult]) -> Text:
    """How many rows pass, in a sentence."""
    failed, again = sum(not result.passed for result in results), sum(result.tries > 1 for result in results)
    kinds = [
        f"{len({result.row.scenario.name for result in results})} scenarios",
        " ".join(dict.fromkeys(result.row.protocol for result in results)),
        " ".join(dict.fromkeys(result.row.transport for result in results)),
    ]
    stands = (
        text(f"{failed} of {len(results)} rows fail", "bold red")
        if failed
        else text(f"all {len(results)} rows pass", "bold green")
    )
    asked = text(f"{again} asked again for their times") if again else ""
    plain = sum(result.plain for result in results)
    ways = text(f"compiled code followed {plain} requests, with the rows that Python has" if plain else "")
    return sentence(stands, asked, *map(text, kinds), ways, separator="; ")


def _line(group: Sequence[RowResult], transports: Sequence[str]) -> tuple[Cell, ...]:
    scenario = group[0].row.scenario
    cells = [
        _cell([result for result in group if result.row.transport == transport], scenario.completes)
        for transport in transports
    ]
    true = _figures([result.true for result in group], _expected_tokens(group)) if scenario.completes else ""
    return (scenario.name, scenario.about, true or " or ".join(scenario.sees), *cells, _verdict(group))


def _cell(group: Sequence[RowResult], completes: bool) -> Cell:  # noqa: FBT001 (a column of the same table)
    """The result of one transport in a scenario."""
    if not group:
        return Mark("-", "dim")
    tone: Tone = "" if all(result.passed for result in group) else "bad"
    seen: Counter[str] = Counter()
    for result in group:
        seen.update(result.seen)
    if completes and set(seen) == {"completed"}:
        tokens = [token for result in group for token in result.tokens]
        return Mark(_figures([result.measured for result in group], tokens), tone)
    return Mark(", ".join(seen) or "nothing", tone)


def _figures(times: Iterable[Times], tokens: Sequence[int]) -> str:
    """TTFT / TPOT and tokens."""
    times_of_rows = list(times)
    ttft = _median(time.ttft for time in times_of_rows)
    tpot = _median(time.tpot for time in times_of_rows)
    counts = sorted(set(tokens))
    count = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]}..{counts[-1]}" if counts else "-"
    return f"{_ms(ttft, 1)} / {_ms(tpot, 2)}, {count}"


def _expected_tokens(group: Sequence[RowResult]) -> list[int]:
    return [tokens for result in group if (tokens := result.row.expected.tokens) is not None]


def _median(values: Iterable[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return median(present) if present else None


def _ms(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _verdict(group: Sequence[RowResult]) -> Cell:
    failed = sum(not result.passed for result in group)
    if failed:
        return Mark(f"FAIL {failed} of {len(group)}", "bad")
    tries = max(result.tries for result in group)
    return Mark(f"pass, {tries} tries" if tries > 1 else "pass", "good")


def _failure(result: RowResult) -> Text:
    more = len(result.misses) - _MOST_MISSES
    misses = [miss.what for miss in result.misses[:_MOST_MISSES]] + [f"{more} more"] * (more > 0)
    return text(f"{result.row}: {'; '.join(misses)}")
