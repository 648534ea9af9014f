"""`loadgen gate`: a run held against rules, with an exit code for a CI job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.report import Run


def gate(
    run: Run,
    *,
    ruleset: Annotated[Path | None, typer.Option(help="A YAML file of targets.")] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="A target, e.g. 'ttft:p(99)<500ms'; repeatable."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
) -> None:
    """Judge a run: exit 0 when every rule is met, 1 when one is missed, 4 when the run is invalid.

    A metric without samples misses its target. The verdict goes into report.json as well.

    [bold]Examples[/bold]

    loadgen gate RUN --ruleset chat.yaml

    loadgen gate RUN --require 'ttft:p(99)<500ms' --require 'qps>=20' --require 'error<1%'
    """
    from cli.errors import UsageError
    from cli.judging import read_rules, write_report
    from cli.perf import outcome
    from cli.run_folder import log_of

    rules = read_rules(require or [], ruleset)
    if rules is None:
        raise UsageError("there is nothing to judge by: give --ruleset FILE or --require RULE")
    report = write_report(log_of(run), rules)
    assert report.verdict is not None  # noqa: S101 (there are rules)
    if json:
        import orjson

        print(orjson.dumps(report.verdict, option=orjson.OPT_INDENT_2).decode())
    else:
        from cli.show import show_verdict

        show_verdict(report.verdict)
    raise typer.Exit(outcome(report))
