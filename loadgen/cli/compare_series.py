"""`loadgen compare` of series: two of them point by point, or the points of one with its first."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from loadgen.sessions.errors import UsageError, printable
from loadgen.sessions.gating.outcome import gravest
from loadgen.sessions.program import program
from loadgen.sessions.run.run_folder import folder_of
from loadgen.sessions.series import series as files
from recorder.store import LOG_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from loadgen.sessions.settings.compare import CompareSettings

    Compare = Callable[[CompareSettings], None]


def compare_series(settings: CompareSettings, compare: Compare) -> NoReturn:
    """Compare the points of series, each with the point of the same name of the first series.

    Args:
        settings: With one series, or with two, of which the first may be the baseline.
        compare: Compares runs, prints that, and ends with its exit code.

    Raises:
        UsageError: It is another number of series, runs are among them, or no point is in both.
        typer.Exit: With the exit code of the gravest comparison.
    """
    named = [*map(Path, settings.baseline), *settings.runs]
    if not all(map(files.is_series, named)):
        raise UsageError("a series is compared with a series: name two sweeps or suites, or runs of them")
    match [_points(folder_of(path)) for path in named]:
        case [points]:
            if len(points) <= 1:
                raise UsageError(f"{named[0]}: fewer than two of its runs have begun")
            compare(replace(settings, runs=list(points.values()), baseline=[]))
            raise typer.Exit
        case [reference, changed]:
            _compare_both(settings, compare, reference, changed)
        case _:
            raise UsageError(f"{len(named)} series: name two of them, to be compared point by point")


def _compare_both(
    settings: CompareSettings, compare: Compare, reference: Mapping[str, Path], changed: Mapping[str, Path]
) -> NoReturn:
    for option in ("markdown", "plot"):
        if getattr(settings, option) is not None:
            raise UsageError(f"--{option}: of two series, compare one pair of runs at a time")
    names = [name for name in reference if name in changed]
    if not names:
        raise UsageError(
            f"no point is in both series; they have {', '.join(reference) or 'none'} and "
            f"{', '.join(changed) or 'none'}"
        )
    for name in [*(reference.keys() - changed.keys()), *(changed.keys() - reference.keys())]:
        sys.stderr.write(printable(f"note: {name} is in one of the series only, and is left out\n"))
    codes, points = [], []
    for name in names:
        pair = replace(settings, runs=[reference[name], changed[name]], baseline=[], json=True)
        code, comparison = _captured(pair, compare)
        codes.append(code)
        points.append({"name": name, "comparison": comparison})
    if settings.json:
        import orjson

        sys.stdout.write(orjson.dumps({"points": points}, option=orjson.OPT_INDENT_2).decode() + "\n")
    else:
        sys.stdout.write(_as_text(points))
        at = names[codes.index(gravest(codes))]
        shown = printable(f"{reference[at]} {changed[at]}")
        sys.stdout.write(f"All figures of a point, with intervals: {program()} compare {shown}\n")
    raise typer.Exit(gravest(codes))


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


def _captured(settings: CompareSettings, compare: Compare) -> tuple[int, Any]:
    import orjson

    with redirect_stdout(StringIO()) as out:
        code = _code(settings, compare)
    return code, orjson.loads(out.getvalue())


def _code(settings: CompareSettings, compare: Compare) -> int:
    try:
        compare(settings)
    except typer.Exit as end:
        return end.exit_code
    return 0


def _points(folder: Path) -> dict[str, Path]:
    """The runs of a series that have begun, by the names of its points."""
    series = files.read(folder)
    places = {
        point.name: files.folder_of(folder, series, number) for number, point in enumerate(series.points)
    }
    return {name: place for name, place in places.items() if (place / LOG_NAME).exists()}
