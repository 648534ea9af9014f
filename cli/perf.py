"""`loadgen perf`: one performance session, from the plan to the verdict."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from cli import errors

if TYPE_CHECKING:
    from pathlib import Path

    from cli.perf_settings import PerfSettings
    from loadgen.workers.staff import Staff
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
    from cli.show import program, show

    report, folder = run(settings)
    if settings.json:
        from reporter.render.json import render

        sys.stdout.write(render(report))
    else:
        show(report)
    if not settings.quiet:
        print(f"\nThe run is in {folder}; again: {program()} report {folder}", file=sys.stderr)
    raise typer.Exit(outcome(report))


def run(settings: PerfSettings) -> tuple[Report, Path]:
    """Run a session and report it, the verdict included; `report.json` lies in the run's folder."""
    from loadgen.workers.staff import Staff

    with Staff(settings.transport) as staff:
        # Workers get ready while this process loads and prepares what they are to do.
        _hire(staff, 1)
        from cli.preparing import prepare, workers_of

        _hire(staff, workers_of(settings, settings.requests))
        import asyncio

        from cli.run_folder import new_run_folder
        from cli.wiring import measure
        from recorder.errors import WriterError

        prepared = prepare(settings)
        folder = new_run_folder(settings.out, settings.model)
        _hire(staff, prepared.workers)
        try:
            asyncio.run(measure(prepared, staff, folder))
        except WriterError as error:
            # What was committed before can be reported, and its report says that the run has no end.
            sys.stderr.write(f"error: {error}\n")
    # Reading the log takes libraries that measuring does not need: they are loaded when it is over.
    try:
        from cli.judging import write_report

        return write_report(folder, prepared.rules), folder
    except KeyboardInterrupt:
        from cli.show import program

        sys.stderr.write(f"\nThe run is whole, in {folder}; report it with: {program()} report {folder}\n")
        raise


def _hire(staff: Staff, workers: int) -> None:
    try:
        staff.hire(workers)
    except OSError as error:
        raise errors.SetupError(
            f"{workers} worker processes cannot be started ({error.strerror}): give fewer --workers, "
            "or raise `ulimit -u` and `ulimit -n`",
        ) from error


def outcome(report: Report) -> int:
    """The exit code that a report amounts to."""
    if report.run["ended"] == "interrupted":
        return errors.INTERRUPTED
    if not report.validity.valid:
        return errors.INVALID
    if report.verdict is None:
        return errors.PASS
    from rulesets.verdict import EXIT_CODES

    return EXIT_CODES[report.verdict["status"]]
