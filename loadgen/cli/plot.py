"""`loadgen plot`: pictures for documents."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.option import Argument, Option
from rulesets.exit_codes import ExitCode


def plot(
    runs: Annotated[
        list[Path] | None,
        Argument(
            metavar="RUN",
            help="A run's folder or events.db; several for overlaid curves; or the folder of a sweep.",
            show_default=False,
        ),
    ] = None,
    *,
    what: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="The plot; --list shows all names. Default: over-time; for several runs ttft-cdf; for "
            "a sweep pareto.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        Option(
            "--out -o", metavar="FILE", help="FILE.svg or FILE.png. Default: NAME.svg.", show_default=False
        ),
    ] = None,
    by: Annotated[
        str | None,
        Option(metavar="TAG", help="A curve per value of a tag of the dataset.", show_default=False),
    ] = None,
    json: Json = False,
    names: Annotated[bool, Option("--list", help="List the plots.")] = False,
) -> None:
    """Draw a plot of a run, of several runs or of a sweep, as SVG or PNG.

    With [bold]--json[/bold] it prints the points and the SQL that makes them, and draws nothing. Drawing
    needs the extra `plot`. Exit 2 when none of the plots can be made.

    [bold]Examples[/bold]

    loadgen plot RUN --what ttft-cdf -o ttft.svg

    loadgen plot RUN --what latency-percentiles --by class

    loadgen plot runs/old runs/new --what ttft-cdf -o ttft.png

    loadgen plot SWEEP --what pareto
    """
    from loadgen.cli.terminal.streams import end_with_the_reader
    from loadgen.sessions.errors import UsageError, printable
    from loadgen.sessions.plotting import (
        listed,
        picture_path,
        plots_of,
        require_plot_library,
        require_plot_name,
        usual_plot,
        write_picture,
    )
    from reporter.plots.plot_value import NoPlot

    end_with_the_reader()
    if names:
        sys.stdout.write(listed())
        return
    if not runs:
        raise UsageError(
            "name a run: loadgen plot RUN --what ttft-cdf (`loadgen plot --list` names the plots)"
        )
    what = what or usual_plot(runs)
    if json:
        from reporter.plots.plot_value import as_json

        sys.stdout.write(as_json(plots_of(runs, what, by)))
        return
    require_plot_name(what)
    require_plot_library()
    path = picture_path(what, out)
    plots = plots_of(runs, what, by)
    for plot_of_name in plots:
        if isinstance(plot_of_name, NoPlot):
            sys.stderr.write(printable(f"note: {plot_of_name.name} is not drawn: {plot_of_name.reason}\n"))
    if not write_picture(plots, path, runs):
        raise SystemExit(ExitCode.USAGE)
    print(printable(str(path)))
