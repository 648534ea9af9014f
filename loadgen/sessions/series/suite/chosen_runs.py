"""The runs of a suite that the command line chooses: their preparation and their definition as a series."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.error_exit_codes import exit_code
from loadgen.sessions.errors import UsageError, printable
from loadgen.sessions.files.series_file import Series, SeriesKind, SeriesPoint
from loadgen.sessions.series.point_options import Secrets, point_of, prepared
from loadgen.sessions.series.suite.after_run import SAMPLE_FILES, TRACKERS, trackers_of
from loadgen.sessions.series.suite.layers import SuiteLayer, above, merged, variables
from loadgen.sessions.series.suite.matrix import Choice, MatrixRun, matrix
from loadgen.sessions.series.suite.mistakes import suite_of, verdict_keys
from loadgen.sessions.series.suite.source_lines import SuiteSource, read
from loadgen.sessions.settings.concerns import changed
from workloads.catalog import names, workload
from workloads.errors import PluginError
from workloads.needs import Need, needs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from loadgen.sessions.run.preparation import Prepared
    from loadgen.sessions.series.suite.secret_variables import Named
    from loadgen.sessions.series.suite.suite_model import Suite
    from loadgen.sessions.settings.run import RunSettings
    from workloads.workload import Workload


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
    """The series of a suite: all that is needed to resume it without its file, except secrets."""
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


def chosen_entries(settings: RunSettings, source: SuiteSource, suite: Suite) -> tuple[MatrixRun, ...]:
    """The runs of a suite that the filters leave, with the options of the command line."""
    repeat = suite.run.repeat if settings.repeat is None else settings.repeat
    if repeat < 1:
        raise UsageError(f"--repeat {repeat}: must be 1 or more")
    choice = Choice(settings.model_filter, settings.benchmark_filter, settings.load_filter, repeat)
    return matrix(source, suite, _flags(settings), choice)


def suite_to_run(settings: RunSettings) -> tuple[SuiteSource, Suite, list[str]]:
    """The requested suite with the source, and notes on omissions."""
    if settings.suite is not None:
        source = read(settings.suite)
        return source, suite_of(source), []
    return suite_of_all(settings.model, settings.url, merged(_flags(settings)).values)


def _flags(settings: RunSettings) -> list[SuiteLayer]:
    count = "samples" if settings.all else "requests"
    return above(settings.set, {count: settings.requests, "duration": settings.duration})


def folder_of_suite(settings: RunSettings, source: SuiteSource, suite: Suite) -> Path | None:
    """The folder of all runs: of the command line, else of the file; None for a new one."""
    if settings.out is not None or not suite.run.out:
        return settings.out
    return source.path.parent / suite.run.out


def remarks(source: SuiteSource, suite: Suite, entries: Sequence[MatrixRun]) -> Iterator[str]:
    """A table that has another name now, and options of the file that the environment overrides.

    A variable of the environment may have been set for another purpose.
    """
    if keys := verdict_keys(suite):
        yield printable(
            f"{source.path}: put {', '.join(keys)} into [gate]; [judge] configures the LLM that judges "
            "answers, and takes verdict keys for one more release only"
        )
    all_variables = {variable for names in variables().values() for variable in names}
    overruled = {
        (places[-1], name)
        for entry in entries
        for name, places in entry.merged.origins.items()
        if places[-1] in all_variables and len(places) > 1
    }
    for variable, name in sorted(overruled):
        yield printable(f"{variable} overrides the {name} of the file")


NAME: Final = "all"


def suite_of_all(
    model: str | None, url: str | None, options: Mapping[str, Any]
) -> tuple[SuiteSource, Suite, list[str]]:
    """The suite of every benchmark.

    A benchmark is left out that needs what is not here: its data, where it cannot be fetched either, a
    package, a container daemon, or a judge or the permission to run code, where the options give none.

    Returns:
        The source, for messages; the suite; and why each of the others is left out.
    """
    if model is None:
        raise UsageError("--all asks every benchmark of one model: name it with --model")
    benchmarks, left_out = [], []
    for name in names():
        try:
            missing = _missing(workload(name), options)
        except PluginError as error:
            missing = str(error)
        if missing is None:
            benchmarks.append({"name": name})
        else:
            left_out.append(f"{name} is left out: {missing}")
    if not benchmarks:
        raise UsageError(f"--all: no benchmark can be asked here: {'; '.join(left_out)}")
    tables = {
        "meta": {"name": NAME},
        "defaults": {} if url is None else {"url": url},
        "models": [{"name": model}],
        "benchmarks": benchmarks,
    }
    source = SuiteSource(Path(f"--{NAME}"), "", tables)
    return source, suite_of(source), left_out


def _missing(benchmark: Workload, options: Mapping[str, Any]) -> str | None:
    """The first thing that a benchmark needs and that is not here; None where nothing is missing."""
    wanted = needs(benchmark, options.get("data"))
    can_fetch = options.get("data") is None and bool(benchmark.source.hub or benchmark.source.urls)
    return next((need.about for need in wanted if _is_missing(need, options, can_fetch=can_fetch)), None)


def _is_missing(need: Need, options: Mapping[str, Any], *, can_fetch: bool) -> bool:
    if need.kind == "data":
        return not need.met and not can_fetch
    if need.kind == "judge":
        return not options.get("judge_url")
    if need.kind == "code":
        return not options.get("allow_code_execution")
    return need.met is False
