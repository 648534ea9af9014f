"""`loadgen gate`: a run held against rules, with an exit code for a CI job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.report import Run
from cli.tokenizer import Tokenizer


def gate(
    run: Run,
    *,
    ruleset: Annotated[Path | None, typer.Option(help="A YAML file of targets.")] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="A target, e.g. 'ttft:p(99)<500ms'; repeatable."),
    ] = None,
    tokenizer: Tokenizer = None,
    json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
) -> None:
    """Judge a run: exit 0 when every rule is met, 1 when one is missed, 4 when the run is invalid.

    Without --ruleset and --require, the rules are those that the run was started with. A metric without
    samples misses its target. The verdict goes into report.json as well.

    [bold]Examples[/bold]

    loadgen gate RUN --ruleset chat.yaml

    loadgen gate RUN --require 'ttft:p(99)<500ms' --require 'qps>=20' --require 'error<1%'
    """
    from cli.errors import UsageError
    from cli.judging import read_rules, write_report
    from cli.pipe import end_with_the_reader
    from cli.series.series import require_run
    from cli.tokenizer import load
    from rulesets.verdict import EXIT_CODES

    end_with_the_reader()
    require_run(run)
    report = write_report(run, read_rules(require or [], ruleset), tokenizer=load(tokenizer))
    if report.verdict is None:
        raise UsageError("there is nothing to judge by: give --ruleset FILE or --require RULE")
    if json:
        import orjson

        from reporter.render.json import printable

        print(printable(orjson.dumps(report.verdict, option=orjson.OPT_INDENT_2).decode()))
    else:
        from cli.show import show_verdict

        show_verdict(report.verdict)
    raise typer.Exit(EXIT_CODES[report.verdict["status"]])
