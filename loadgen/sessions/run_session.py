"""One performance session, from the plan to the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.sessions import errors
from loadgen.sessions.observer import SILENT, Observer
from rulesets.exit_codes import ExitCode
from workloads.registry import service

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.driver.workers.launcher import WorkerLauncher
    from loadgen.sessions.run.preparation import Prepared
    from loadgen.sessions.settings.perf import PerfSettings
    from recorder.errors import WriterError
    from reporter.costs import PriceTable
    from reporter.report import Report
    from reporter.report_options import ReportOptions
    from reporter.tokens import Tokenizer


def run(
    settings: PerfSettings, prices: PriceTable | None = None, observer: Observer = SILENT
) -> tuple[Report, Path]:
    """Run a session and report the run with a verdict; `report.json` is in the run's folder."""
    if settings.output.output is not None:
        service("require_results_file")(settings.output.output)
    if settings.prompts.reset_cache:
        service("reset_caches")(settings, observer)
    measured = _run_here if settings.cluster.ray is None else service("run_on_nodes")
    prepared, folder, broken = measured(settings, observer)
    score_if_over(prepared, folder, broken, observer)
    return reported(folder, broken, prepared.perf, prices, observer), folder


def _run_here(settings: PerfSettings, observer: Observer) -> tuple[Prepared, Path, WriterError | None]:
    from loadgen.driver.system.memory import calm, recovering
    from loadgen.driver.workers.launcher import WorkerLauncher

    with recovering(), WorkerLauncher(settings.client.transport) as launcher:
        # What was imported stays, and workers share its memory while the collector leaves it alone.
        calm()
        # Workers start while this process loads and prepares the session.
        _spawn(launcher, 1)
        from loadgen.sessions.run.loads import load_of
        from loadgen.sessions.run.preparation import prepare, workers_of

        _spawn(launcher, workers_of(settings.workers, load_of(settings.load), settings.load.requests))
        from loadgen.sessions.files.run_folder import new_run_folder
        from loadgen.sessions.run.preflight import warn_of

        prepared = prepare(settings)
        if not settings.endpoint.model and settings.load.models is None:
            observer.note(f"model: {errors.printable(prepared.perf.endpoint.model)}, the only one listed")
        if settings.verdict.abort_on_fail:
            from loadgen.sessions.run.gate_watch import require_watchable

            require_watchable(prepared)
        warn_of(prepared, observer)
        folder = new_run_folder(settings.output.out, prepared.perf.endpoint.model)
        if settings.tasks.task:
            from loadgen.sessions.run.scoring_at_end import warn_of_no_judge

            warn_of_no_judge(settings.tasks, observer)
        return prepared, folder, conduct(prepared, launcher, folder, observer)


def conduct(
    prepared: Prepared, launcher: WorkerLauncher, folder: Path, observer: Observer = SILENT
) -> WriterError | None:
    """Run a prepared session; return the error that broke the log, if any.

    Raises:
        WriterStalledError: The disk makes no progress; reading may fail too.
    """
    from loadgen.driver.system.memory import recovering
    from loadgen.driver.system.signals import run_async
    from loadgen.sessions.run.measurement import measure
    from recorder.errors import WriterError, WriterStalledError

    _spawn(launcher, prepared.workers)
    try:
        with recovering():
            run_async(lambda: measure(prepared, launcher, folder, observer))
    except WriterStalledError:
        raise
    except WriterError as error:
        # What was committed before can be reported; the report says that the run has no end.
        return error
    return None


def score_if_over(
    prepared: Prepared, folder: Path, broken: WriterError | None, observer: Observer = SILENT
) -> None:
    """Score the answers of a session of benchmarks, unless the session was stopped or the log failed."""
    from loadgen.sessions.interrupt import stopped

    if prepared.accuracy is not None and broken is None and not stopped():
        from loadgen.sessions.run.scoring_at_end import score

        score(prepared.perf.tasks, prepared.perf.cluster, folder, observer)


def reported(
    folder: Path,
    broken: WriterError | None,
    settings: PerfSettings,
    prices: PriceTable | None = None,
    observer: Observer = SILENT,
) -> Report:
    """Report the log, incomplete after a failure, by the rules in the log.

    Raises:
        WriterError: It broke, and cannot be read.
    """
    from loadgen.sessions.interrupt import require_none
    from recorder.errors import LogError

    # Reading the log takes libraries that measuring does not need: they are loaded at its end.
    try:
        from loadgen.sessions.run.report_of_log import write_report
        from loadgen.sessions.settings.definition_options import percentiles_of
        from reporter.report_options import ReportOptions

        options = ReportOptions(
            prices=prices,
            tokenizer=_tokenizer(settings.prompts.tokenizer),
            percentiles=percentiles_of(settings.definitions.percentiles),
        )
        report = write_report(folder, None, options=options, observer=observer, as_started=True)
        _write_results(folder, settings, options, report, observer)
        if settings.output.push_gateway is not None:
            service("push_at_end")(report, folder, settings.output, observer)
        require_none()
    except BaseException as error:
        from loadgen.sessions.error_exit_codes import is_interrupt

        if not is_interrupt(error):
            if broken is not None and isinstance(error, LogError):
                raise broken from None
            raise
        from loadgen.sessions.arguments import program

        whole, shown = "whole" if broken is None else f"not whole ({broken})", str(folder)
        observer.note(
            f"The log is {whole}, in {shown}; report it with: {program()} report {shown}", apart=True
        )
        raise KeyboardInterrupt from error
    if broken is not None:
        observer.note(f"error: {broken}")
    return report


def _tokenizer(name: str | None) -> Tokenizer | None:
    if name is None:
        return None
    from loadgen.sessions.settings.tokenizer_options import load

    tokenizer: Tokenizer = load(name)
    return tokenizer


def _write_results(
    folder: Path, settings: PerfSettings, options: ReportOptions, report: Report, observer: Observer
) -> None:
    form, output, model = settings.output.sample_results, settings.output.output, settings.endpoint.model
    if form is None and output is None:
        return
    write_run_samples = service("write_run_samples")
    if form is not None:
        write_run_samples(folder, folder / f"samples.{form}", options, model, observer)
    if output is not None:
        write_run_samples(folder, output, options, model, observer, episodes=report.episodes is not None)


def _spawn(launcher: WorkerLauncher, workers: int) -> None:
    try:
        launcher.spawn(workers)
    except OSError as error:
        raise errors.SetupError(
            f"{workers} worker processes cannot be started ({error.strerror}): give fewer --workers, "
            "or raise `ulimit -u` and `ulimit -n`",
        ) from error


def outcome(report: Report, inconclusive: str = "5") -> int:
    """The exit code of a report, with the given one for an inconclusive verdict."""
    if report.run.ended == "interrupted":
        return ExitCode.INTERRUPTED
    if not report.validity.stands:
        return ExitCode.INVALID
    code: int = ExitCode.PASS
    if report.verdict is not None:
        from loadgen.sessions.settings.verdict_options import exit_code

        code = exit_code(report.verdict.status, inconclusive)
    return ExitCode.INVALID if code == ExitCode.PASS and _has_open_scores(report) else code


def _has_open_scores(report: Report) -> bool:
    """Whether a score is undetermined, without rules that are met despite that."""
    if not report.accuracy:
        return False
    from reporter.accuracy.undetermined import undetermined

    rules = () if report.verdict is None else report.verdict.rows
    judged = any(row.group == "accuracy" for row in rules)
    return bool(undetermined(report.accuracy)) and not judged
