"""Sessions as functions. Each returns when the session has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from loadgen.background import Progress, in_background
from loadgen.run import Run
from loadgen.series import SearchResult, SuiteResult, SweepResult
from loadgen.sessions.error_exit_codes import one_tree
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.from_python import python_fields, settings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from loadgen.options import (
        AccuracyOptions,
        PerfOptions,
        RunSuiteOptions,
        ScoreOptions,
        SearchOptions,
        SweepOptions,
    )
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.settings.perf import PerfSettings
    from reporter.costs import PriceTable


def perf(*, progress: Callable[[Progress], None] | None = None, **options: Unpack[PerfOptions]) -> Run:
    """Load-test an endpoint: the session of `loadgen perf`.

    It works in its own thread, also under a running event loop (a notebook). A KeyboardInterrupt stops the
    run in order and is then raised; the log has what was measured.

    Args:
        progress: Called four times a second while requests are issued.
        **options: The options of `loadgen perf`, by the same names and with the same defaults; a duration may
            be a number of seconds or a text such as `"2m"`.

    Returns:
        The run, whose folder has the log and `report.json`.

    Raises:
        UsageError: The options are invalid, or the endpoint refuses the model.
        SetupError: The endpoint is not reachable, or this machine cannot generate that load.
        RunError: The log could not be written to its end.
        KeyboardInterrupt: The session was interrupted.
    """
    from loadgen.sessions.settings.perf import PerfSettings

    with one_tree():
        settings = settings_of(PerfSettings, options)
    return _measured(settings, None, progress)


def accuracy(
    *tasks: str, progress: Callable[[Progress], None] | None = None, **options: Unpack[AccuracyOptions]
) -> Run:
    """Send the questions of benchmarks and score the answers: the session of `loadgen accuracy`.

    Args:
        *tasks: Benchmarks (`"gsm8k"`, `"mmlu_pro:shots=0"`), or files with questions.
        progress: As for `perf`.
        **options: The options of `loadgen accuracy`.

    Returns:
        The run; `report().accuracy` has the scores.

    Raises:
        UsageError, SetupError, RunError, KeyboardInterrupt: As `perf`.
    """
    from loadgen.sessions.settings.accuracy import AccuracySettings, with_load
    from loadgen.sessions.settings.price_options import load

    with one_tree():
        settings = settings_of(AccuracySettings, {**options, "task": tasks})
        return _measured(with_load(settings), load(settings.prices), progress)


def score(run: Run | str | Path, **options: Unpack[ScoreOptions]) -> Run:
    """Score the stored answers of a run: `loadgen score`. Neither the endpoint nor the data is needed.

    Args:
        run: The run, or its folder.
        **options: The options of `loadgen score`.

    Returns:
        The run; `report().accuracy` has the scores.

    Raises:
        UsageError, SetupError: The run has nothing to score, or a scorer lacks what it needs.
    """
    from loadgen.sessions.run.report_of_log import write_report
    from loadgen.sessions.scoring.scoring_pass import score_run
    from loadgen.sessions.settings.price_options import load
    from loadgen.sessions.settings.score import ScoreSettings, options_of
    from reporter.report_options import ReportOptions

    scored = run if isinstance(run, Run) else Run(run)
    with one_tree():
        settings = settings_of(ScoreSettings, {**options, "run": scored.folder})
        settings.check()

    def work(observer: Observer) -> None:
        if settings.pass_number is None:
            score_run(settings.run, options_of(settings), observer)
        report_options = ReportOptions(scoring_pass=settings.pass_number, prices=load(settings.prices))
        write_report(settings.run, None, options=report_options, observer=observer)

    in_background(work)
    return Run(scored.folder)


def sweep(
    *, progress: Callable[[Progress], None] | None = None, **options: Unpack[SweepOptions]
) -> SweepResult:
    """Run one load for each value of an option: `loadgen sweep`.

    Args:
        progress: As for `perf`; `run` has the number of the run.
        **options: The options of `loadgen sweep`, as in `concurrency="1,2,4,8"`, and those of `loadgen perf`.

    Raises:
        UsageError, SetupError, RunError, KeyboardInterrupt: As `perf`.
    """
    from loadgen.sessions.series.sweep.run_sweep import new_sweep, run_sweep
    from loadgen.sessions.series.sweep.sweep_files import document
    from loadgen.sessions.settings.sweep import SweepSettings

    settings, common = split_options(SweepSettings, options)

    def work(observer: Observer) -> SweepResult:
        folder, series, secrets = new_sweep(settings, common)
        ended = run_sweep(folder, series, secrets, observer)
        if ended.interrupted:
            raise KeyboardInterrupt
        runs = [Run(outcome.folder) for outcome in ended.outcomes]
        return SweepResult(folder, runs, document(folder, ended.outcomes))

    return in_background(work, progress)


def search(
    *, progress: Callable[[Progress], None] | None = None, **options: Unpack[SearchOptions]
) -> SearchResult:
    """Find the highest rate, or number of users, that meets every requirement: `loadgen search`.

    Args:
        progress: As for `perf`; `run` has the number of the trial.
        **options: The options of `loadgen search`, `require` among them, and those of `loadgen perf`.

    Raises:
        UsageError, SetupError, RunError, KeyboardInterrupt: As `perf`.
    """
    from loadgen.sessions.series.search.run_search import new_search, run_search
    from loadgen.sessions.series.search.strategy import StopReason
    from loadgen.sessions.settings.search import REPLACED, SearchSettings

    settings, common = split_options(SearchSettings, options, REPLACED)

    def work(observer: Observer) -> SearchResult:
        folder, series, secrets = new_search(settings, common)
        result = run_search(folder, series, secrets, observer)
        if result.stopped is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        runs = [Run(trial.outcome.folder) for trial in result.evaluated]
        return SearchResult(folder, result.load, result.to_dict(), runs)

    return in_background(work, progress)


def run_suite(
    suite: str | Path | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
    **options: Unpack[RunSuiteOptions],
) -> SuiteResult:
    """Run every model with every benchmark under every load of a file: `loadgen run`.

    Args:
        suite: The file; None with `all=True`.
        progress: As for `perf`; `run` has the number of the run.
        **options: The options of `loadgen run`.

    Raises:
        UsageError, SetupError, RunError, KeyboardInterrupt: As `perf`.
    """
    from loadgen.sessions.series.suite.run_suite import new_suite
    from loadgen.sessions.series.suite.run_suite import run_suite as conduct
    from loadgen.sessions.series.suite.secret_variables import from_environment
    from loadgen.sessions.series.suite.summary import summed_up
    from loadgen.sessions.settings.run import RunSettings

    with one_tree():
        settings = settings_of(RunSettings, {**options, "suite": suite})

    def work(observer: Observer) -> SuiteResult:
        folder, series = new_suite(settings, observer)
        ended = conduct(folder, series, from_environment(), observer)
        summary = summed_up(folder, series, ended)
        if ended.interrupted:
            raise KeyboardInterrupt
        return SuiteResult(folder, [Run(outcome.folder) for outcome in ended.outcomes], summary)

    return in_background(work, progress)


def _measured(
    settings: PerfSettings, prices: PriceTable | None, progress: Callable[[Progress], None] | None
) -> Run:
    from loadgen.sessions.run_session import run
    from loadgen.sessions.settings.concerns import changed

    def work(observer: Observer) -> Run:
        report, folder = run(changed(settings, quiet=True), prices, observer)
        if report.run.ended == "interrupted":
            raise KeyboardInterrupt
        return Run(folder)

    return in_background(work, progress)


def split_options(
    own: type[Any], options: Mapping[str, Any], replaced: Collection[str] = ()
) -> tuple[Any, Mapping[str, Any]]:
    """The settings of a series, and the options of the series' runs by field, with defaults.

    Raises:
        UsageError: The option does not exist or is replaced, or a value cannot be one.
    """
    from loadgen.sessions.settings.concerns import flat_values
    from loadgen.sessions.settings.perf import PerfSettings

    names = python_fields(own)
    for name in options:
        if name in replaced and name not in names:
            raise UsageError(f"unknown setting {name!r} here")
    with one_tree():
        settings = settings_of(own, {name: value for name, value in options.items() if name in names})
        common = settings_of(
            PerfSettings, {name: value for name, value in options.items() if name not in names}
        )
    return settings, flat_values(common)
