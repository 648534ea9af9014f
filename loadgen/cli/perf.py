"""`loadgen perf`: one performance session, from the plan to the verdict."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, NoReturn

from loadgen.sessions import errors
from loadgen.sessions.formats import JSON, TEXT

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.sessions.settings.perf import PerfSettings
    from reporter.report import Report


def perf(settings: PerfSettings) -> None:
    """Load-test an endpoint; report latency, throughput and errors.

    Every event goes to a log while the session runs; the report is computed from it afterwards, and can be
    computed again with [bold]loadgen report[/bold].

    [bold]Examples[/bold]

    loadgen perf --url http://127.0.0.1:8000 --model llama -c 32 -n 500 --max-tokens 128

    loadgen perf --url $URL --model llama --rate 20 --duration 2m --require 'ttft:p(99)<500ms'

    loadgen perf --url $URL --model llama --prompts gsm8k.jsonl.gz --prompt-column question --offline
    """
    from loadgen.cli.terminal.progress_observer import Terminal
    from loadgen.sessions.run_session import run

    terminal = Terminal(quiet=settings.output.quiet, live=not settings.output.no_live)
    with redirect_stdout(sys.stderr):  # Ray prints news of the cluster
        outcome = run(settings, observer=terminal)
    finish(*outcome, settings)


def finish(report: Report, folder: Path, settings: PerfSettings) -> NoReturn:
    """Print the report of an ended session, publish the verdict, and exit with the outcome."""
    from loadgen.cli.terminal.show import print_as
    from loadgen.sessions.arguments import program
    from loadgen.sessions.run_session import outcome

    output = settings.output
    form, verbose = JSON if output.json else TEXT, output.verbose
    print_as("report", form, report, run=folder, summary_only=output.summary, verbose=verbose)
    if output.trace_detail:
        from loadgen.sessions.trace_listing import trace_lines

        sys.stdout.writelines(trace_lines(folder))
    if report.verdict is not None:
        from loadgen.cli.terminal.show import publish_verdicts
        from reporter.render.named_verdict import NamedVerdict

        publish_verdicts([NamedVerdict.of(report)], folder)
    if not settings.output.quiet:
        shown = errors.printable(str(folder))
        print(f"\nResults saved to {shown}. View again: {program()} report {shown}", file=sys.stderr)
    raise SystemExit(outcome(report, settings.verdict.inconclusive))
