"""The options of `loadgen gate`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import typer

from cli.errors import UsageError
from cli.gating.outcome import Inconclusive
from cli.tokenizer import Tokenizer

RULES: Final = "Rules"
BESIDE: Final = "Beside the run"
RESULT: Final = "Result"


@dataclass(frozen=True, kw_only=True, slots=True)
class GateSettings:
    """What can be said to `loadgen gate`; field by field an option."""

    run: Annotated[
        Path,
        typer.Argument(
            help="The run's folder, or its events.db; or the folder of a sweep or a suite.",
            show_default=False,
        ),
    ]

    ruleset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="A built-in ruleset, NAME or NAME@VERSION (see loadgen list rulesets), or a YAML file.",
            rich_help_panel=RULES,
        ),
    ] = None
    scenario: Annotated[
        str | None,
        typer.Option(
            metavar="[MODEL/]SCENARIO",
            help="The scenario of the ruleset. Default: the one for the run's model and load.",
            rich_help_panel=RULES,
        ),
    ] = None
    require: Annotated[
        list[str],
        typer.Option(
            metavar="RULE",
            help="A target, e.g. 'ttft:p(99)<500ms'; beside a ruleset one more. Repeatable.",
            rich_help_panel=RULES,
        ),
    ] = field(default_factory=list)
    skip: Annotated[
        list[str],
        typer.Option(
            metavar="ID|GROUP",
            help="Leave a rule, or a group of them, out; the verdict says so. Repeatable.",
            rich_help_panel=RULES,
        ),
    ] = field(default_factory=list)
    inconclusive: Annotated[
        Inconclusive,
        typer.Option(help="What an inconclusive verdict ends with: 0, 1, or 5.", rich_help_panel=RULES),
    ] = "5"

    baseline: Annotated[
        list[str],
        typer.Option(
            metavar="REF",
            help="What changes are measured from: a run, its report.json, or a folder of runs. Repeatable.",
            rich_help_panel=BESIDE,
        ),
    ] = field(default_factory=list)
    also: Annotated[
        list[Path],
        typer.Option(
            metavar="RUN",
            help="Another run of the same thing, for rules about changes. Repeatable.",
            rich_help_panel=BESIDE,
        ),
    ] = field(default_factory=list)
    accuracy: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN|FILE",
            help="The run that was scored, or a JSON file of scores.",
            rich_help_panel=BESIDE,
        ),
    ] = None
    audit: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="What audits of the run have left.", rich_help_panel=BESIDE),
    ] = None
    power: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE:WATTS",
            help="What the system draws: provisioned, nvml or wall, and a figure, e.g. wall:5200.",
            rich_help_panel=BESIDE,
        ),
    ] = None
    c_max: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="The greatest concurrency of a sweep, as declared: for rules with regions. Default: that of "
            "its greatest point.",
            rich_help_panel=BESIDE,
        ),
    ] = None
    tokenizer: Tokenizer = None

    junit: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="JUnit XML, a test case a rule; junit.xml beside report.json is always written.",
            rich_help_panel=RESULT,
        ),
    ] = None
    markdown: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The verdict as Markdown.", rich_help_panel=RESULT),
    ] = None
    full: Annotated[
        bool,
        typer.Option("--full", help="Of a series, print every rule of every run.", rich_help_panel=RESULT),
    ] = False
    json: Annotated[
        bool, typer.Option("--json", help="Print the verdict as JSON.", rich_help_panel=RESULT)
    ] = False

    def __post_init__(self) -> None:
        if self.c_max is not None and self.c_max < 1:
            raise UsageError(f"--c-max {self.c_max}: must be 1 or more")
