"""The options of `loadgen gate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

from lazy_dataclasses import dataclass
from loadgen.sessions.errors import UsageError
from loadgen.sessions.formats import TEXT
from loadgen.sessions.settings.format_options import Json, VerdictFormat
from loadgen.sessions.settings.option import RESULT, Argument, Panel
from loadgen.sessions.settings.tokenizer_options import Tokenizer
from loadgen.sessions.settings.verdict_options import ON_INVALID, RULES, RuleSettings

FURTHER_INPUTS: Final = Panel("Further inputs")


@dataclass(frozen=True, kw_only=True, slots=True)
class GateSettings(RuleSettings):
    """The options of `loadgen gate`, one per field."""

    run: Annotated[
        Path,
        Argument(
            help="The run's folder or events.db; or the folder of a sweep or a suite.",
            show_default=False,
        ),
    ]

    on_invalid: Literal["fail", "warn"] | None = RULES.option(ON_INVALID)

    baseline: list[str] = FURTHER_INPUTS.option(
        "The baseline of changes: a run, a report.json, or a folder of runs. Repeatable.", [], metavar="REF"
    )
    also: list[Path] = FURTHER_INPUTS.option(
        "A further run with equal settings, for rules about changes. Repeatable.", [], metavar="RUN"
    )
    accuracy: Path | None = FURTHER_INPUTS.option(
        "The run that was scored, or a JSON file of scores.", metavar="RUN|FILE"
    )
    audit: Path | None = FURTHER_INPUTS.option("The results of audits of the run.", metavar="FOLDER")
    power: str | None = FURTHER_INPUTS.option(
        "The power of the system: provisioned, nvml or wall, and a figure, e.g. wall:5200.",
        metavar="SOURCE:WATTS",
    )
    c_max: int | None = FURTHER_INPUTS.option(
        "The declared greatest concurrency of a sweep, for rules with regions. Default: the greatest point."
    )
    c_min: int | None = FURTHER_INPUTS.option(
        "The declared end of Ultra Low in a sweep (c_min_override), for rules with regions. Default: the "
        "lowest point."
    )
    tokenizer: Tokenizer = None

    junit: Path | None = RESULT.option(
        "JUnit XML, one test case per rule; junit.xml next to report.json is always written.", metavar="FILE"
    )
    markdown: Path | None = RESULT.option("The verdict as Markdown.", metavar="FILE")
    full: bool = RESULT.switch("Of a series, print every rule of every run.")
    form: VerdictFormat = TEXT
    json: Json = False

    def __post_init__(self) -> None:
        for option, concurrency in (("--c-max", self.c_max), ("--c-min", self.c_min)):
            if concurrency is not None and concurrency < 1:
                raise UsageError(f"{option} {concurrency}: must be 1 or more")
