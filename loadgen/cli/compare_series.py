"""`loadgen compare` of series: two series point by point, or the points of one with the first point."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from loadgen.cli.terminal.show import show_as
from loadgen.sessions.arguments import program
from loadgen.sessions.errors import printable
from loadgen.sessions.files.run_folder import require_no_log
from loadgen.sessions.formats import TEXT, format_facts, render, require_format
from loadgen.sessions.gating.outputs import write_output
from loadgen.sessions.series.overview import overviews_of
from loadgen.sessions.series_by_point import compare_points, points_of_series
from loadgen.sessions.settings.format_options import chosen_format
from loadgen.sessions.settings.verdict_options import exit_code
from reporter.render.compared_points import left_out
from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.sessions.settings.compare import CompareSettings


def compare_series(settings: CompareSettings, compare: Callable[[CompareSettings], None]) -> NoReturn:
    """Compare the points of series, each with the point of equal name in the first series."""
    reference, *others = points_of_series(settings)
    if not others:
        compare(replace(settings, runs=list(reference.values()), baseline=[]))
        raise SystemExit(ExitCode.PASS)
    form = chosen_format(settings.form, json=settings.json)
    require_format("series_comparison", form)
    for option, path in (("--markdown", settings.markdown), ("--output", settings.output)):
        require_no_log(option, path)
    result = compare_points(settings, reference, others[0])
    for line in left_out(result):
        sys.stderr.write(printable(f"note: {line}\n"))
    if settings.markdown is not None:
        write_output("--markdown", settings.markdown, render("series_comparison", "md", result))
    named = [*settings.baseline, *settings.runs]
    shown = {"overviews": overviews_of(named)} if format_facts(form).shows_plots else {}
    show_as("series_comparison", form, result, settings.output, **shown)
    if form == TEXT and settings.output is None:
        runs = printable(" ".join(map(str, result.worst.runs)))
        sys.stdout.write(f"All figures of a point, with intervals: {program()} compare {runs}\n")
    raise SystemExit(exit_code(result.worst.comparison.status))
