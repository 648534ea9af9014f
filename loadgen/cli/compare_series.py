"""`loadgen compare` of series: two of them point by point, or the points of one with its first."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from loadgen.sessions.errors import UsageError, printable
from loadgen.sessions.formats import JSON, TEXT
from loadgen.sessions.gating.outcome import most_severe
from loadgen.sessions.program import program
from loadgen.sessions.settings.formats import chosen_format

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from loadgen.sessions.settings.compare import CompareSettings


def compare_series(settings: CompareSettings, compare: Callable[[CompareSettings], None]) -> NoReturn:
    """Compare the points of series, each with the point of the same name of the first series.

    Args:
        settings: With one series, or with two, of which the first may be the baseline.
        compare: Compares runs, prints that, and ends with its exit code.

    Raises:
        UsageError: There are more than two series, runs are among them, or no point is in both.
        typer.Exit: With the most severe exit code of the comparisons.
    """
    from loadgen.sessions.series.comparison import compare_points, points_of_series

    reference, *others = points_of_series(settings)
    if not others:
        compare(replace(settings, runs=list(reference.values()), baseline=[]))
        raise typer.Exit
    form = chosen_format(settings.form, json=settings.json)
    if form not in {TEXT, JSON}:
        raise UsageError(f"--format {form}: of two series, compare one pair of runs at a time")
    result = compare_points(settings, reference, others[0])
    for name in result.left_out:
        sys.stderr.write(printable(f"note: {name} is in one of the series only, and is left out\n"))
    points = [{"name": point.name, "comparison": point.comparison.to_dict()} for point in result.points]
    code = most_severe(point.exit_code for point in result.points)
    if form == JSON:
        import orjson

        sys.stdout.write(orjson.dumps({"points": points}, option=orjson.OPT_INDENT_2).decode() + "\n")
    else:
        sys.stdout.write(_as_text(points))
        worst_point = next(point for point in result.points if point.exit_code == code)
        runs = printable(" ".join(map(str, worst_point.runs)))
        sys.stdout.write(f"All figures of a point, with intervals: {program()} compare {runs}\n")
    raise typer.Exit(code)


def _as_text(points: Sequence[Mapping[str, Any]]) -> str:
    """A row for each point: its result, and how each metric that decides has changed."""
    from rich.text import Text

    from loadgen.cli.terminal.show import page
    from reporter.render.page import Column, draw, grid, text

    shown = page()
    metrics = [row["metric"] for row in points[0]["comparison"]["rows"] if row["decides"]]
    columns = [
        Column("point", justify="left", folds=True),
        Column("result", justify="left"),
        *(Column(metric.replace(":", "\n", 1), rank) for rank, metric in enumerate(metrics)),
    ]
    rows = []
    for point in points:
        changes = {row["metric"]: row for row in point["comparison"]["rows"]}
        cells = [Text(_change(changes[metric])) if metric in changes else Text("-") for metric in metrics]
        rows.append([text(point["name"]), text(point["comparison"]["status"]), *cells])
    note = "Changes of the second series from the first; * is significant, each point by itself."
    return draw([[grid(columns, rows, width=shown["width"])], [Text(note)]], **shown)


def _change(row: Mapping[str, Any]) -> str:
    [change] = row["changes"]
    if change["by"] is None:
        return "-"
    mark = "*" if change["finding"] in {"better", "worse", "different"} else ""
    return f"{100 * change['by']:+.1f} {'pt' if row['in_points'] else '%'}{mark}"
