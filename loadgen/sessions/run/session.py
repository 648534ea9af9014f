"""One performance session, from the plan to the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.sessions import errors
from loadgen.sessions.observer import SILENT
from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.driver.workers.launcher import WorkerLauncher
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.run.preparation import Prepared
    from loadgen.sessions.settings.perf import PerfSettings
    from recorder.errors import WriterError
    from reporter.costs.prices import PriceTable
    from reporter.report import Report


def run(
    settings: PerfSettings, prices: PriceTable | None = None, observer: Observer = SILENT
) -> tuple[Report, Path]:
    """Run a session and report it, the verdict included; `report.json` lies in the run's folder.

    Args:
        settings: What to do.
        prices: What tokens cost, where the report is to have the cost.
        observer: Hears how it gets on.
    """
    from loadgen.driver.workers.launcher import WorkerLauncher

    with WorkerLauncher(settings.client.transport) as launcher:
        # Workers get ready while this process loads and prepares what they are to do.
        _spawn(launcher, 1)
        from loadgen.sessions.run.loads import load_of
        from loadgen.sessions.run.preparation import prepare, workers_of

        _spawn(launcher, workers_of(settings, load_of(settings), settings.requests))
        from loadgen.sessions.gating.foreseen import warn_of
        from loadgen.sessions.run.gate_watch import require_watchable
        from loadgen.sessions.run.run_folder import new_run_folder
        from loadgen.sessions.run.scores import warn_of_no_judge

        prepared = prepare(settings)
        require_watchable(prepared)
        warn_of(prepared, observer)
        folder = new_run_folder(settings.output.out, settings.model)
        warn_of_no_judge(settings, observer)
        broken = conduct(prepared, launcher, folder, observer)
    score_if_over(prepared, folder, broken, observer)
    return reported(folder, broken, prices, settings, observer), folder


def conduct(
    prepared: Prepared, launcher: WorkerLauncher, folder: Path, observer: Observer = SILENT
) -> WriterError | None:
    """Have the workers do what is prepared; return what broke the log, if anything did.

    Raises:
        WriterStalledError: The disk takes nothing; it may give nothing either.
    """
    import asyncio

    from loadgen.driver.system.collector import recover
    from loadgen.sessions.run.measurement import measure
    from recorder.errors import WriterError, WriterStalledError

    _spawn(launcher, prepared.workers)
    try:
        asyncio.run(measure(prepared, launcher, folder, observer))
    except WriterStalledError:
        raise
    except WriterError as error:
        # What was committed before can be reported, and its report says that the run has no end.
        return error
    finally:
        recover()
    return None


def score_if_over(
    prepared: Prepared, folder: Path, broken: WriterError | None, observer: Observer = SILENT
) -> None:
    """Score the answers of a session that asked benchmarks, unless somebody stopped it or its log broke."""
    from loadgen.sessions.interrupt import stopped
    from loadgen.sessions.run.scores import score

    if prepared.accuracy is not None and broken is None and not stopped():
        score(prepared.given, folder, observer)


def reported(
    folder: Path,
    broken: WriterError | None,
    prices: PriceTable | None = None,
    given: PerfSettings | None = None,
    observer: Observer = SILENT,
) -> Report:
    """Report what is in the log, which is not everything when it broke, by the rules that are in it too.

    Args:
        folder: The run's.
        broken: What broke its log, if anything did.
        prices: What tokens cost, where the report is to tell the cost.
        given: Its settings, which may choose percentiles and a tokenizer.
        observer: Hears what broke the log, and where an interrupt has left it.

    Raises:
        WriterError: It broke, and nothing of it can be read.
    """
    from loadgen.sessions.interrupt import require_none
    from recorder.errors import LogError

    # Reading the log takes libraries that measuring does not need: they are loaded when it is over.
    try:
        from loadgen.sessions.run.report import write_report
        from loadgen.sessions.settings.definitions import percentiles_of
        from loadgen.sessions.settings.tokenizer import load
        from reporter.report_options import ReportOptions

        options = ReportOptions(
            prices=prices,
            tokenizer=load(None if given is None else given.tokenizer),
            percentiles=None if given is None else percentiles_of(given.definitions.percentiles),
        )
        report = write_report(folder, None, options=options, observer=observer)
        if given is not None and given.output.sample_results is not None:
            from loadgen.sessions.exporting.samples import lay_samples

            lay_samples(folder, given.output.sample_results, options, given.model, observer)
        require_none()
    except BaseException as error:
        if not errors.is_interrupt(error):
            if broken is not None and isinstance(error, LogError):
                raise broken from None
            raise
        from loadgen.sessions.program import program

        whole, shown = "whole" if broken is None else f"not whole ({broken})", str(folder)
        observer.note(
            f"The log is {whole}, in {shown}; report it with: {program()} report {shown}", apart=True
        )
        raise KeyboardInterrupt from error
    if broken is not None:
        observer.note(f"error: {broken}")
    return report


def _spawn(launcher: WorkerLauncher, workers: int) -> None:
    try:
        launcher.spawn(workers)
    except OSError as error:
        raise errors.SetupError(
            f"{workers} worker processes cannot be started ({error.strerror}): give fewer --workers, "
            "or raise `ulimit -u` and `ulimit -n`",
        ) from error


def outcome(report: Report, inconclusive: str = "5") -> int:
    """The exit code that a report amounts to, with what an inconclusive verdict is to end with."""
    if report.run.ended == "interrupted":
        return ExitCode.INTERRUPTED
    if not report.validity.stands:
        return ExitCode.INVALID
    code: int = ExitCode.PASS
    if report.verdict is not None:
        from loadgen.sessions.gating.outcome import exit_code

        code = exit_code(report.verdict.status, inconclusive)
    return ExitCode.INVALID if code == ExitCode.PASS and _has_open_scores(report) else code


def _has_open_scores(report: Report) -> bool:
    """Whether a score is undetermined, and no rule was met in spite of that."""
    from reporter.accuracy.undetermined import undetermined

    rules = () if report.verdict is None else report.verdict.rows
    judged = any(row.group == "accuracy" for row in rules)
    return bool(undetermined(report.accuracy)) and not judged
