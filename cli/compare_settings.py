"""The options of `loadgen compare`; field by field an option."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import typer

from cli.failure_settings import share

DECISION: Final = "What fails"

_RUNS: Final = (
    "Runs: folders, logs, report.json files, or folders of several runs. The first is the reference; with "
    "--baseline all are runs of the other side."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class CompareSettings:
    """What can be said to `loadgen compare`."""

    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help=_RUNS, show_default=False)]
    baseline: Annotated[
        list[Path],
        typer.Option(
            metavar="RUN",
            help="A run of the reference, or a folder of them; repeatable. Then runs are what is tested.",
        ),
    ] = field(default_factory=list)
    metric: Annotated[
        list[str],
        typer.Option(
            "--metric",
            metavar="METRIC",
            help="What decides, instead of the usual six, e.g. 'ttft:p(95)'; repeatable.",
            rich_help_panel=DECISION,
        ),
    ] = field(default_factory=list)
    alpha: Annotated[
        float,
        typer.Option(
            metavar="P",
            help="The chance of a false alarm that is accepted, of all that decides together.",
            rich_help_panel=DECISION,
        ),
    ] = 0.05
    min_effect: Annotated[
        float,
        typer.Option(
            parser=share,
            metavar="SHARE",
            help="A difference of no more than this does not fail. Default: 3%.",
            show_default=False,
            rich_help_panel=DECISION,
        ),
    ] = 0.03
    min_points: Annotated[
        float,
        typer.Option(
            parser=share,
            metavar="SHARE",
            help="The same of error rates and good fractions, in points. Default: 1%.",
            show_default=False,
            rich_help_panel=DECISION,
        ),
    ] = 0.01
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit 4 when runs are invalid or not alike.", rich_help_panel=DECISION),
    ] = False
    tokenizer: Annotated[
        str | None,
        typer.Option(metavar="NAME|FOLDER", help="Count tokens with it where the server did not."),
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it as Markdown, too.")] = None
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw the differences and their intervals as SVG; needs the extra `plot`."
        ),
    ] = None
