"""The runs of a suite that the command line chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.sessions.series.suite.document import Suite
    from loadgen.sessions.series.suite.matrix import MatrixRun
    from loadgen.sessions.series.suite.merging import SuiteLayer
    from loadgen.sessions.series.suite.source import SuiteSource
    from loadgen.sessions.settings.run import RunSettings


def chosen_entries(settings: RunSettings, source: SuiteSource, suite: Suite) -> tuple[MatrixRun, ...]:
    """The runs of a suite that the filters leave, with the options of the command line.

    Raises:
        UsageError: They contradict the suite, or no run is left.
    """
    from loadgen.sessions.errors import UsageError
    from loadgen.sessions.series.suite.matrix import Choice, matrix

    repeat = suite.run.repeat if settings.repeat is None else settings.repeat
    if repeat < 1:
        raise UsageError(f"--repeat {repeat}: must be 1 or more")
    choice = Choice(settings.model_filter, settings.benchmark_filter, settings.load_filter, repeat)
    return matrix(source, suite, _flags(settings), choice)


def suite_to_run(settings: RunSettings) -> tuple[SuiteSource, Suite, list[str]]:
    """The requested suite with the source, and notes on omissions.

    Raises:
        UsageError: The file cannot be read, or `--all` leaves no benchmark.
    """
    from loadgen.sessions.series.suite.mistakes import suite_of
    from loadgen.sessions.series.suite.source import read

    if settings.suite is not None:
        source = read(settings.suite)
        return source, suite_of(source), []
    from loadgen.sessions.series.suite.every_benchmark import suite_of_all
    from loadgen.sessions.series.suite.merging import merged

    return suite_of_all(settings.model, settings.url, merged(_flags(settings)).values)


def _flags(settings: RunSettings) -> list[SuiteLayer]:
    from loadgen.sessions.series.suite.flags import above

    count = "samples" if settings.all else "requests"
    return above(settings.set, {count: settings.requests, "duration": settings.duration})


def folder_of_suite(settings: RunSettings, source: SuiteSource, suite: Suite) -> Path | None:
    """The folder of all runs: of the command line, else of the file; None for a new one."""
    if settings.out is not None or not suite.run.out:
        return settings.out
    return source.path.parent / suite.run.out
