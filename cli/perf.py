"""`loadgen perf`: one performance session, from the plan to the verdict."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

import typer

from cli import errors

if TYPE_CHECKING:
    from pathlib import Path

    from cli.perf_settings import PerfSettings
    from cli.preparing import Prepared
    from loadgen.workers.staff import Staff
    from recorder.errors import WriterError
    from reporter.costs.prices import PriceTable
    from reporter.report import Report


def perf(settings: PerfSettings) -> None:
    """Put load on an endpoint and report what it does.

    Every event goes to a log while the session runs; the report is computed from it afterwards, and can be
    computed again with [bold]loadgen report[/bold].

    [bold]Examples[/bold]

    loadgen perf --url http://127.0.0.1:8000 --model llama -c 32 -n 500 --max-tokens 128

    loadgen perf --url $URL --model llama --rate 20 --duration 2m --require 'ttft:p(99)<500ms'

    loadgen perf --url $URL --model llama --prompts gsm8k.jsonl.gz --prompt-column question --offline
    """
    tell(*run(settings), settings)


def tell(report: Report, folder: Path, settings: PerfSettings) -> NoReturn:
    """Print the report of a session that is over, tell its verdict, and exit with its outcome."""
    from cli.show import program, show

    if settings.json:
        from reporter.render.json import render

        sys.stdout.write(render(report))
    else:
        show(report)
    if report.verdict is not None:
        from cli.gating.outputs import tell as tell_verdict
        from reporter.render.judged import Judged

        tell_verdict([Judged.of(report)], folder)
    if not settings.quiet:
        shown = errors.printable(str(folder))
        print(f"\nThe run is in {shown}; again: {program()} report {shown}", file=sys.stderr)
    raise typer.Exit(outcome(report, settings.inconclusive))


def run(settings: PerfSettings, prices: PriceTable | None = None) -> tuple[Report, Path]:
    """Run a session and report it, the verdict included; `report.json` lies in the run's folder."""
    from loadgen.workers.staff import Staff

    with Staff(settings.transport) as staff:
        # Workers get ready while this process loads and prepares what they are to do.
        _hire(staff, 1)
        from cli.loads import load_of
        from cli.preparing import prepare, workers_of

        _hire(staff, workers_of(settings, load_of(settings), settings.requests))
        from cli.gate_watch import require_watchable
        from cli.gating.foreseen import warn_of
        from cli.run_folder import new_run_folder
        from cli.session_scoring import warn_of_no_judge

        prepared = prepare(settings)
        require_watchable(prepared)
        warn_of(prepared)
        folder = new_run_folder(settings.out, settings.model)
        warn_of_no_judge(settings)
        broken = conduct(prepared, staff, folder)
    score_if_over(prepared, folder, broken)
    return reported(folder, broken, prices), folder


def conduct(prepared: Prepared, staff: Staff, folder: Path) -> WriterError | None:
    """Have the workers do what is prepared; return what broke the log, if anything did.

    Raises:
        WriterStalledError: The disk takes nothing; it may give nothing either.
    """
    import asyncio

    from cli.wiring import measure
    from loadgen.collector import recover
    from recorder.errors import WriterError, WriterStalledError

    _hire(staff, prepared.workers)
    try:
        asyncio.run(measure(prepared, staff, folder))
    except WriterStalledError:
        raise
    except WriterError as error:
        # What was committed before can be reported, and its report says that the run has no end.
        return error
    finally:
        recover()
    return None


def score_if_over(prepared: Prepared, folder: Path, broken: WriterError | None) -> None:
    """Score the answers of a session that asked benchmarks, unless somebody stopped it or its log broke."""
    from cli.interrupt import stopped
    from cli.session_scoring import score

    if prepared.accuracy is not None and broken is None and not stopped():
        score(prepared.given, folder)


def reported(folder: Path, broken: WriterError | None, prices: PriceTable | None = None) -> Report:
    """Report what is in the log, which is not everything when it broke, by the rules that are in it too.

    Args:
        folder: The run's.
        broken: What broke its log, if anything did.
        prices: What tokens cost, where the report is to tell the cost.

    Raises:
        WriterError: It broke, and nothing of it can be read.
    """
    from cli.interrupt import require_none
    from recorder.errors import LogError

    # Reading the log takes libraries that measuring does not need: they are loaded when it is over.
    try:
        from cli.judging import write_report

        report = write_report(folder, None, prices=prices)
        require_none()
    except BaseException as error:
        if not errors.is_interrupt(error):
            if broken is not None and isinstance(error, LogError):
                raise broken from None
            raise
        from cli.show import program

        whole, shown = "whole" if broken is None else f"not whole ({broken})", str(folder)
        said = f"\nThe log is {whole}, in {shown}; report it with: {program()} report {shown}\n"
        sys.stderr.write(errors.printable(said))
        raise KeyboardInterrupt from error
    if broken is not None:
        sys.stderr.write(f"error: {errors.printable(str(broken))}\n")
    return report


def _hire(staff: Staff, workers: int) -> None:
    try:
        staff.hire(workers)
    except OSError as error:
        raise errors.SetupError(
            f"{workers} worker processes cannot be started ({error.strerror}): give fewer --workers, "
            "or raise `ulimit -u` and `ulimit -n`",
        ) from error


def outcome(report: Report, inconclusive: str = "5") -> int:
    """The exit code that a report amounts to, with what an inconclusive verdict is to end with."""
    if report.run["ended"] == "interrupted":
        return errors.INTERRUPTED
    if not report.validity.valid:
        return errors.INVALID
    if report.verdict is None:
        return errors.PASS
    from cli.gating.outcome import exit_code

    return exit_code(report.verdict["status"], inconclusive)
