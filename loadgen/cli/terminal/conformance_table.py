"""The verdicts as a table: one line a scenario, over all of its protocols, and every row that failed."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Final

from reporter.render.page import Column, block, draw, grid, sentence, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.text import Text

    from loadgen.sessions.conformance.evaluation import RowResult, Times

_MOST_MISSES: Final = 3
_FIRST: Final = Column("scenario", justify="left")
_ABOUT: Final = Column("what the server does", rank=9, justify="left", folds=True)
_TRUE: Final = Column("true", rank=5, justify="left", folds=True)
_VERDICT: Final = Column("verdict", justify="left")


def table(judged: Sequence[RowResult], *, width: int, color: bool) -> str:
    """All of it, as text."""
    transports = sorted({one.row.transport for one in judged}, reverse=True)
    measured = [
        Column(transport, rank=rank, justify="left", folds=True)
        for rank, transport in enumerate(transports, start=1)
    ]
    by_scenario: dict[str, list[RowResult]] = {}
    for one in judged:
        by_scenario.setdefault(one.row.scenario.name, []).append(one)
    lines = [_line(group, transports) for group in by_scenario.values()]
    columns = [_FIRST, _ABOUT, _TRUE, *measured, _VERDICT]
    failed = [one for one in judged if not one.passed]
    return draw(
        [
            [
                text(
                    "TTFT / TPOT in ms and tokens, or the failure; medians over requests and protocols",
                    "dim",
                )
            ],
            [grid(columns, lines, width=width)],
            [block(text("failed", "bold red"), *map(_failure, failed))] if failed else [],
            [summary(judged)],
        ],
        width=width,
        color=color,
    )


def summary(judged: Sequence[RowResult]) -> Text:
    """How it stands, in a sentence."""
    failed, again = sum(not one.passed for one in judged), sum(one.tries > 1 for one in judged)
    kinds = [
        f"{len({one.row.scenario.name for one in judged})} scenarios",
        " ".join(dict.fromkeys(one.row.protocol for one in judged)),
        " ".join(dict.fromkeys(one.row.transport for one in judged)),
    ]
    stands = (
        text(f"{failed} of {len(judged)} rows fail", "bold red")
        if failed
        else text(f"all {len(judged)} rows pass", "bold green")
    )
    asked = text(f"{again} asked again for their times") if again else ""
    return sentence(stands, asked, *map(text, kinds), separator="; ")


def _line(group: Sequence[RowResult], transports: Sequence[str]) -> list[Text]:
    scenario = group[0].row.scenario
    cells = [
        _cell([one for one in group if one.row.transport == transport], scenario.completes)
        for transport in transports
    ]
    true = _figures([one.true for one in group], _expected_tokens(group)) if scenario.completes else ""
    return [
        text(scenario.name),
        text(scenario.about, "dim"),
        text(true or " or ".join(scenario.sees)),
        *cells,
        _verdict(group),
    ]


def _cell(group: Sequence[RowResult], completes: bool) -> Text:  # noqa: FBT001 (a column of the same table)
    """What one transport measured of a scenario."""
    if not group:
        return text("-", "dim")
    style = "" if all(one.passed for one in group) else "red"
    seen: Counter[str] = Counter()
    for one in group:
        seen.update(one.seen)
    if completes and set(seen) == {"completed"}:
        return text(
            _figures([one.measured for one in group], [token for one in group for token in one.tokens]), style
        )
    return text(", ".join(seen) or "nothing", style)


def _figures(times: Iterable[Times], tokens: Sequence[int]) -> str:
    """TTFT / TPOT and tokens."""
    known = list(times)
    ttft = _median(time.ttft for time in known)
    tpot = _median(time.tpot for time in known)
    counts = sorted(set(tokens))
    count = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]}..{counts[-1]}" if counts else "-"
    return f"{_ms(ttft, 1)} / {_ms(tpot, 2)}, {count}"


def _expected_tokens(group: Sequence[RowResult]) -> list[int]:
    return [tokens for one in group if (tokens := one.row.expected.tokens) is not None]


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _ms(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _verdict(group: Sequence[RowResult]) -> Text:
    failed = sum(not one.passed for one in group)
    if failed:
        return text(f"FAIL {failed} of {len(group)}", "bold red")
    tries = max(one.tries for one in group)
    return text(f"pass, {tries} tries" if tries > 1 else "pass", "green")


def _failure(one: RowResult) -> Text:
    more = len(one.misses) - _MOST_MISSES
    misses = [miss.what for miss in one.misses[:_MOST_MISSES]] + [f"{more} more"] * (more > 0)
    return text(f"{one.row}: {'; '.join(misses)}")
