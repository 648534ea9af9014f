"""The points of a series as rows: for a file, for the console, and one by one while they are run."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from cli.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from cli.series.outcome import Outcome
    from cli.series.series import Point
    from reporter.sweep import Figures

_NONE: Final = "-"
_LEAST: Final = 6


def rows(outcomes: Sequence[Outcome], folder: Path) -> list[dict[str, Any]]:
    """One row a point, in plain types.

    Args:
        outcomes: What came of the points.
        folder: That of the series: those of the points are named from there.
    """
    from reporter.sweep import figures

    return [
        {
            "name": one.point.name,
            "folder": str(one.folder.relative_to(folder)),
            "axes": dict(one.point.axes),
            "exit_code": one.exit_code,
            "valid": one.report.validity.valid,
            "reasons": list(one.report.validity.reasons),
            "verdict": None if one.report.verdict is None else one.report.verdict["status"],
            **asdict(figures(one.report)),
        }
        for one in outcomes
    ]


def table(outcomes: Sequence[Outcome]) -> str:
    """All points under one heading, in plain text."""
    columns = _Columns([outcome.point for outcome in outcomes])
    return "\n".join([columns.heading(), *map(columns.row, outcomes)]) + "\n"


class Progress:
    """Tells on standard error how a series gets on: what begins, and a row of figures for what has ended.

    Args:
        points: Those that are known ahead.
        quiet: Tell nothing.
    """

    def __init__(self, points: Sequence[Point], *, quiet: bool) -> None:
        self.quiet = quiet
        self._points = list(points)
        self._headed: tuple[str, ...] | None = None

    def begins(self, point: Point, number: int, rest_s: float) -> None:
        """Say which point comes next, and what is waited for before."""
        of = f" of {len(self._points)}" if number < len(self._points) else ""
        rest = f" after a pause of {rest_s:g} s" if rest_s else ""
        self._say(f"run {number + 1}{of}: {point.name}{rest}")

    def ended(self, outcome: Outcome) -> None:
        """Print the row of a point, under a heading where there is none yet."""
        columns = _Columns([*self._points, outcome.point])
        if self._headed != tuple(outcome.point.axes):
            self._headed = tuple(outcome.point.axes)
            self._say(columns.heading())
        self._say(columns.row(outcome))

    def _say(self, line: str) -> None:
        if not self.quiet:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()


class _Columns:
    """The columns of a table: as wide as the widest value of each axis, and figures of a fixed width."""

    def __init__(self, points: Sequence[Point]) -> None:
        names = dict.fromkeys(name for point in points for name in point.axes)
        self._axes = {
            name: max(len(name), _LEAST, *(len(_shown(point.axes.get(name))) for point in points))
            for name in names
        }

    def heading(self) -> str:
        axes = [f"{name:<{width}}" for name, width in self._axes.items()]
        return "  ".join([*axes, *(f"{name:>{max(width, len(name))}}" for name, width, _ in _FIGURES)])

    def row(self, outcome: Outcome) -> str:
        from reporter.sweep import figures

        known = figures(outcome.report)
        axes = [f"{_shown(outcome.point.axes.get(name)):<{width}}" for name, width in self._axes.items()]
        cells = [f"{show(known):>{max(width, len(name))}}" for name, width, show in _FIGURES]
        return "  ".join([*axes, *cells, _remark(outcome)]).rstrip()


def _remark(outcome: Outcome) -> str:
    """What a reader must know of a point beside its figures."""
    from reporter.sweep import OVERLOADED

    report = outcome.report
    if not report.validity.valid:
        codes = dict.fromkeys(one.code for one in report.findings if one.severity == "error")
        return OVERLOADED if OVERLOADED in codes else f"invalid: {', '.join(codes)}"
    return _REMARKS.get(report.verdict["status"], "") if report.verdict is not None else ""


_REMARKS: Final = {"FAIL": "missed", "INVALID": "invalid by its rules", "INCONCLUSIVE": "inconclusive"}
"""Of a verdict that is no pass."""


def _shown(value: object) -> str:
    return printable(f"{value:g}" if isinstance(value, float) else _NONE if value is None else str(value))


def _number(name: str, digits: int) -> Callable[[Figures], str]:
    def show(known: Figures) -> str:
        value = getattr(known, name)
        return _NONE if value is None else f"{value:,.{digits}f}"

    return show


def _errors(known: Figures) -> str:
    return _NONE if known.error_rate is None else f"{known.error_rate:.1%}"


_FIGURES: Final[tuple[tuple[str, int, Callable[[Figures], str]], ...]] = (
    ("req/s", 8, _number("qps", 2)),
    ("tok/s", 9, _number("output_tps", 1)),
    ("tok/s/user", 8, _number("user_tps", 1)),
    ("TTFT p50", 8, _number("ttft_p50_ms", 1)),
    ("p99 ms", 8, _number("ttft_p99_ms", 1)),
    ("TPOT p50", 8, _number("tpot_p50_ms", 2)),
    ("p99 ms", 8, _number("tpot_p99_ms", 2)),
    ("errors", 6, _errors),
)
"""Heading, least width, and how it is shown."""
