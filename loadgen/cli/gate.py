"""`loadgen gate`: a run evaluated by rules, with an exit code for a CI job."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadgen.sessions.settings.gate import GateSettings


def gate(settings: GateSettings) -> None:
    """Evaluate a run, or a series of runs, by rules, with an exit code for a CI job.

    Exit 0 when every rule is met, 1 when one is missed, 4 when the run is invalid, 5 when it is
    inconclusive. Without --ruleset and --require, the rules are those that the run was started with. A
    metric without samples misses its target. Of a sweep or a suite each run is evaluated, and the rules
    over all of its runs.

    The verdict goes into report.json and junit.xml as well, and on GitHub Actions into the summary of the
    step and into annotations.

    [bold]Examples[/bold]

    loadgen gate RUN --ruleset chat

    loadgen gate RUN --ruleset mlperf-inference@v6.1 --scenario gpt-oss-120b/server --accuracy SCORED

    loadgen gate RUN --require 'ttft:p(99)<500ms@es99' --require 'error<1%' --junit junit.xml

    loadgen gate RUN --require 'tps:delta>-3%@mw0.05' --also RUN2 --baseline main-runs
    """
    from loadgen.cli.terminal.show import print_as, publish_verdicts
    from loadgen.cli.terminal.streams import end_with_the_reader
    from loadgen.sessions.errors import UsageError
    from loadgen.sessions.evaluate_run import evaluate
    from loadgen.sessions.files.run_folder import folder_of
    from loadgen.sessions.files.series_file import is_series
    from loadgen.sessions.gating.given_inputs import unused_options
    from loadgen.sessions.series.series_gate import code_of_series, evaluate_series
    from loadgen.sessions.settings.format_options import chosen_format
    from loadgen.sessions.settings.tokenizer_options import load
    from loadgen.sessions.settings.verdict_options import exit_code
    from reporter.render.named_verdict import NamedVerdict

    end_with_the_reader()
    tokenizer = load(settings.tokenizer)
    if is_series(settings.run):
        parts = evaluate_series(settings, tokenizer)
        code = code_of_series(folder_of(settings.run), parts, settings.inconclusive)
    else:
        for option, concurrency in (("--c-max", settings.c_max), ("--c-min", settings.c_min)):
            if concurrency is not None:
                raise UsageError(f"{option} {concurrency}: applies to a sweep, and this is one run")
        report, _ = evaluate(settings.run, settings, tokenizer, settings.skip)
        parts = [NamedVerdict.of(report)]
        code = exit_code(parts[0].status, settings.inconclusive)
    print_as(
        "verdict",
        chosen_format(settings.form, json=settings.json),
        parts,
        full=settings.full,
        exit_code=code if is_series(settings.run) else None,
    )
    for option in unused_options(settings, parts):
        sys.stderr.write(f"note: {option} was given, and no rule needs it\n")
    publish_verdicts(parts, folder_of(settings.run), junit=settings.junit, markdown=settings.markdown)
    raise SystemExit(code)
