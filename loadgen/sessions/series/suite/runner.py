"""The runs of a suite: their preparation and their definition as a series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.sessions.errors import UsageError, exit_code
from loadgen.sessions.files.series_file import Series, SeriesKind
from loadgen.sessions.series.options import point_of, prepared
from loadgen.sessions.series.suite.after_run import SAMPLE_FILES
from loadgen.sessions.series.suite.trackers import TRACKERS, trackers_of
from loadgen.sessions.settings.concerns import changed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from loadgen.sessions.files.series_file import SeriesPoint
    from loadgen.sessions.run.preparation import Prepared
    from loadgen.sessions.series.options import Secrets
    from loadgen.sessions.series.suite.document import Suite
    from loadgen.sessions.series.suite.keys import Named
    from loadgen.sessions.series.suite.matrix import MatrixRun
    from loadgen.sessions.series.suite.source import SuiteSource


def name_of(source: SuiteSource, suite: Suite) -> str:
    """The name of a suite: its own, else that of its file."""
    return suite.meta.name or source.path.stem


def sound(
    source: SuiteSource,
    entries: Sequence[MatrixRun],
    secrets: Callable[[str], Secrets],
    tell: Callable[[Prepared, str], None] | None = None,
    left_out: Callable[[str], None] | None = None,
) -> tuple[SeriesPoint, ...]:
    """Prepare every run with its prompts and rules, and send nothing.

    Args:
        source: The file, for messages.
        entries: Its runs.
        secrets: Gives the secrets of a run by its name.
        tell: Gets each run and its name, once where it is repeated.
        left_out: Gets why a run cannot be prepared, which is left out then; without it, that is an error.

    Returns:
        The points of the runs.

    Raises:
        UsageError: A run cannot be prepared, or none can; the message names the file, the run, and the
            origin of the option.
    """
    points: list[SeriesPoint] = []
    for entry in entries:
        try:
            points.append(_sound(entry, secrets(entry.name), tell))
        except Exception as error:
            if exit_code(error) is None:
                raise
            message = f"{source.path}: {entry.name}: {error}{entry.merged.blamed(str(error))}"
            if left_out is None:
                raise UsageError(message) from error
            left_out(message)
    if not points:
        raise UsageError(f"{source.path}: no run can be prepared")
    return tuple(points)


def _sound(entry: MatrixRun, secrets: Secrets, tell: Callable[[Prepared, str], None] | None) -> SeriesPoint:
    whole = changed(entry.settings, api_key=secrets.api_key, header=list(secrets.header))
    point = point_of(entry.name, entry.axes, whole)
    if entry.axes.get("repeat", 1) == 1:
        ready = prepared(point, secrets)
        if tell is not None:
            tell(ready, entry.name)
    return point


def series_of(
    source: SuiteSource,
    suite: Suite,
    points: tuple[SeriesPoint, ...],
    secret_variables: Named,
    *,
    cooldown_s: float,
    stop_on_failure: bool,
    sample_files: bool = False,
) -> Series:
    """The series of a suite: all that is needed to resume it without its file, except secrets.

    Args:
        source: The file.
        suite: Its content.
        points: Its runs.
        secret_variables: The environment variables that hold the secrets of each.
        cooldown_s: The pause between two runs.
        stop_on_failure: Whether a run that fails is the last.
        sample_files: Whether the results of each run are written into the folder of the suite too.
    """
    definition = {
        "name": name_of(source, suite),
        "description": suite.meta.description,
        "file": str(source.path.absolute()),
        "sha256": source.sha256,
        "secrets": secret_variables,
        "stop_on_failure": stop_on_failure,
        SAMPLE_FILES: sample_files,
        TRACKERS: trackers_of(suite.run, source.path.absolute().parent),
    }
    return Series(SeriesKind.SUITE, definition, points, cooldown_s)
