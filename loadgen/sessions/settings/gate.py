"""The options of `loadgen gate`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal

from loadgen.sessions.errors import UsageError
from loadgen.sessions.formats import TEXT
from loadgen.sessions.settings.formats import Json, VerdictFormat
from loadgen.sessions.settings.on_invalid import HELP
from loadgen.sessions.settings.option import Argument, Option
from loadgen.sessions.settings.task_names import canonical_rule
from loadgen.sessions.settings.tokenizer import Tokenizer
from loadgen.sessions.verdict_exit import Inconclusive

RULES: Final = "Rules"
FURTHER_INPUTS: Final = "Further inputs"
RESULT: Final = "Result"


@dataclass(frozen=True, kw_only=True, slots=True)
class GateSettings:
    """The options of `loadgen gate`, one per field."""

    run: Annotated[
        Path,
        Argument(
            help="The run's folder or events.db; or the folder of a sweep or a suite.",
            show_default=False,
        ),
    ]

    ruleset: Annotated[
        str | None,
        Option(
            metavar="NAME|FILE",
            help="A ruleset: NAME[@VERSION] (see loadgen list rulesets) or a YAML file.",
            panel=RULES,
        ),
    ] = None
    scenario: Annotated[
        str | None,
        Option(
            metavar="[MODEL/]SCENARIO",
            help="The scenario of the ruleset. Default: the one for the run's model and load.",
            panel=RULES,
        ),
    ] = None
    require: Annotated[
        list[str],
        Option(
            parser=canonical_rule,
            metavar="RULE",
            help="A target, e.g. 'ttft:p(99)<500ms', in addition to the ruleset's. Repeatable.",
            panel=RULES,
        ),
    ] = field(default_factory=list)
    skip: Annotated[
        list[str],
        Option(
            metavar="ID|GROUP",
            help="Skip a rule or a group of rules; the verdict lists skipped rules. Repeatable.",
            panel=RULES,
        ),
    ] = field(default_factory=list)
    inconclusive: Annotated[
        Inconclusive,
        Option(help="The exit code of an inconclusive verdict: 0 (pass), 1 (fail), or 5.", panel=RULES),
    ] = "5"

    on_invalid: Annotated[
        Literal["fail", "warn"] | None,
        Option(help=f"{HELP} Default: as the run was started.", show_default=False, panel=RULES),
    ] = None

    baseline: Annotated[
        list[str],
        Option(
            metavar="REF",
            help="The baseline of changes: a run, a report.json, or a folder of runs. Repeatable.",
            panel=FURTHER_INPUTS,
        ),
    ] = field(default_factory=list)
    also: Annotated[
        list[Path],
        Option(
            metavar="RUN",
            help="A further run with equal settings, for rules about changes. Repeatable.",
            panel=FURTHER_INPUTS,
        ),
    ] = field(default_factory=list)
    accuracy: Annotated[
        Path | None,
        Option(
            metavar="RUN|FILE",
            help="The run that was scored, or a JSON file of scores.",
            panel=FURTHER_INPUTS,
        ),
    ] = None
    audit: Annotated[
        Path | None,
        Option(metavar="FOLDER", help="The results of audits of the run.", panel=FURTHER_INPUTS),
    ] = None
    power: Annotated[
        str | None,
        Option(
            metavar="SOURCE:WATTS",
            help="The power of the system: provisioned, nvml or wall, and a figure, e.g. wall:5200.",
            panel=FURTHER_INPUTS,
        ),
    ] = None
    c_max: Annotated[
        int | None,
        Option(
            metavar="N",
            help="The declared greatest concurrency of a sweep, for rules with regions. Default: the "
            "greatest point.",
            panel=FURTHER_INPUTS,
        ),
    ] = None
    c_min: Annotated[
        int | None,
        Option(
            metavar="N",
            help="The declared end of Ultra Low in a sweep (c_min_override), for rules with regions. "
            "Default: the lowest point.",
            panel=FURTHER_INPUTS,
        ),
    ] = None
    tokenizer: Tokenizer = None

    junit: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="JUnit XML, one test case per rule; junit.xml next to report.json is always written.",
            panel=RESULT,
        ),
    ] = None
    markdown: Annotated[
        Path | None,
        Option(metavar="FILE", help="The verdict as Markdown.", panel=RESULT),
    ] = None
    full: Annotated[
        bool,
        Option("--full", help="Of a series, print every rule of every run.", panel=RESULT),
    ] = False
    form: VerdictFormat = TEXT
    json: Json = False

    def __post_init__(self) -> None:
        for option, concurrency in (("--c-max", self.c_max), ("--c-min", self.c_min)):
            if concurrency is not None and concurrency < 1:
                raise UsageError(f"{option} {concurrency}: must be 1 or more")
