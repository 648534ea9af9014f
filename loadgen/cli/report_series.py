"""`loadgen report` of a series: table and summary, from the files of the runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from loadgen.cli.terminal import series_table
from loadgen.cli.terminal.show import page
from loadgen.sessions.arguments import program
from loadgen.sessions.errors import printable
from loadgen.sessions.files import series_file as files
from loadgen.sessions.files.series_file import Series, SeriesKind
from loadgen.sessions.formats import JSON, TEXT
from loadgen.sessions.gating.outputs import write_output
from loadgen.sessions.series.outcomes_so_far import ended_so_far
from loadgen.sessions.series.overview import series_as
from loadgen.sessions.series.run_rows import rows
from loadgen.sessions.series.search.run_search import search_outcome
from loadgen.sessions.series.suite import summary
from loadgen.sessions.series_outcome import PointOutcome, SeriesResult, most_severe
from recorder.lock import is_held
from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def show_series(folder: Path, form: str = TEXT, output: Path | None = None) -> int:
    """Print the final output of `loadgen sweep`, `search`, `run` or `audit`, or the output so far.

    The files of the series stay as they are.

    Returns:
        The exit code: the most severe of the runs; 4 where a series is neither complete nor running.
    """
    series = files.read(folder)
    outcomes = ended_so_far(folder, series)
    text = _rendered(folder, series, outcomes, form)
    if output is None:
        sys.stdout.write(text)
    else:
        write_output("--output", output, text)
    missing = len(series.points) - len(outcomes)
    if missing:
        _say_what_is_missing(folder, series, len(outcomes))
    code = most_severe(outcomes)
    return ExitCode.INVALID if missing and code == ExitCode.PASS and not is_held(folder) else code


def _rendered(folder: Path, series: Series, outcomes: Sequence[PointOutcome], form: str) -> str:
    if form not in {TEXT, JSON}:
        return series_as(form, folder, series, outcomes)
    text, document = _shown(folder, series, outcomes)
    if form == TEXT:
        return text
    import orjson

    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _say_what_is_missing(folder: Path, series: Series, done: int) -> None:
    shown = printable(str(folder))
    state = f"{done} of {len(series.points)} runs are done"
    more = "the others follow" if is_held(folder) else f"to continue: {program()} resume {shown}"
    sys.stderr.write(f"\n{state}; {more}\n")


def _shown(folder: Path, series: Series, outcomes: Sequence[PointOutcome]) -> tuple[str, Mapping[str, Any]]:
    """The final output of the command, as text and as JSON."""
    match series.kind:
        case SeriesKind.SWEEP:
            from loadgen.sessions.series.sweep.sweep_files import document

            return series_table.sweep_tables(outcomes), document(folder, outcomes)
        case SeriesKind.SUITE:
            result = SeriesResult(tuple(outcomes), interrupted=False)
            return series_table.suite_tables(folder, series, outcomes), summary.document(
                folder, series, result
            )
        case SeriesKind.SEARCH:
            limit = search_outcome(folder, series, outcomes)
            return series_table.search_table(limit, **page()), limit.to_dict()
        case SeriesKind.OPTIMIZATION:
            from workloads.registry import entries, load

            shown: tuple[str, Mapping[str, Any]] = load(entries("series")[series.kind]).shown(
                folder, series, outcomes, **page()
            )
            return shown
        case SeriesKind.AUDIT:
            summary_rows = {"kind": series.kind, "points": rows(outcomes, folder)}
            return series_table.table(outcomes, **page()), summary_rows
