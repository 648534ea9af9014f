"""`loadgen import`: another program's results as a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.option import Argument, Option


def import_results(
    form: Annotated[str, Argument(metavar="FORMAT", help="See loadgen list formats.", show_default=False)],
    path: Annotated[Path, Argument(help="The file or folder with the results.", show_default=False)],
    *,
    out: Annotated[Path | None, Option(help="The run's folder; runs/<time>-<model> by default.")] = None,
    model: Annotated[str | None, Option(help="The model, if the results do not name one.")] = None,
    result: Annotated[
        int | None, Option(metavar="N", help="Which run of a file with several, from 1.")
    ] = None,
    json: Json = False,
    quiet: Annotated[bool, Option("--quiet -q", help="Print no report.")] = False,
) -> None:
    """Import the results of another benchmark or load generator as a separate run, and report that run.

    report, sql, gate, compare and view work on it. What the results do not have stays empty. Exit 4 when
    the run is invalid.

    [bold]Examples[/bold]

    loadgen import terminalbench-native runs/2026-01-01__12-00-00

    loadgen import vllm-bench results.json --out runs/vllm
    """
    from loadgen.cli.terminal.show import print_as
    from loadgen.plugins.imports.imported_log import import_results as imported
    from loadgen.sessions.errors import printable
    from loadgen.sessions.formats import JSON, TEXT
    from loadgen.sessions.run.report_of_log import write_report
    from loadgen.sessions.run_session import outcome

    folder = imported(form, path, out, model, result)
    report = write_report(folder, None)
    if json or not quiet:
        print_as("report", JSON if json else TEXT, report, run=folder)
    sys.stderr.write("" if quiet else f"\nThe run is in {printable(str(folder))}\n")
    raise SystemExit(outcome(report))
