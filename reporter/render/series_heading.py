"""The settings of a series: model and endpoint, loads, prompts, dates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.render.console_page import clean, plain
from reporter.render.heading import heading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reporter.report import Report

_MOST_VALUES: Final = 8
_PROMPTS: Final = 2
"""The line of a run's heading about the prompts."""


def lines(reports: Sequence[Report], axes: Sequence[Mapping[str, Any]]) -> list[str]:
    """The lines below the title of a series."""
    headings = [[plain(line) for line in heading(report)] for report in reports]
    asked = dict.fromkeys(lines[0] for lines in headings)
    sent = dict.fromkeys(lines[_PROMPTS] for lines in headings if len(lines) > _PROMPTS + 1)
    dates = sorted(report.run.started_at for report in reports if report.run.started_at)
    return [
        _few(list(asked), "; "),
        "; ".join(_loads(axes)),
        next(iter(sent)) if len(sent) == 1 else "",
        _dates(dates),
    ]


def _loads(axes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Each axis with its values: `concurrency 1, 2, 4`."""
    for name in dict.fromkeys(name for of_run in axes for name in of_run):
        values = dict.fromkeys(clean(of_run[name]) for of_run in axes if name in of_run)
        yield f"{clean(name)} {_few(list(values), ', ')}"


def _few(values: Sequence[str], separator: str) -> str:
    """Values in a row; of many the first, the last and their number."""
    if len(values) <= _MOST_VALUES:
        return separator.join(values)
    return f"{values[0]} to {values[-1]} ({len(values)} values)"


def _dates(dates: Sequence[str]) -> str:
    """From the start of the first run to that of the last, in UTC."""
    if not dates:
        return ""
    first, last = (date[:16].replace("T", " ") for date in (dates[0], dates[-1]))
    return f"{first} UTC" if first == last else f"{first} to {last.removeprefix(f'{first[:11]}')} UTC"
