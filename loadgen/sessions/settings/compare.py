"""The options of `loadgen compare`; field by field an option."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

from loadgen.sessions.formats import TEXT
from loadgen.sessions.settings.failures import share
from loadgen.sessions.settings.formats import ComparisonFormat, Json
from loadgen.sessions.settings.option import Argument, Option
from loadgen.sessions.settings.task_names import canonical_rule

DECISION: Final = "Decision"

_RUNS: Final = (
    "Runs: folders, logs, report.json files, or folders of several runs. The first is the reference; with "
    "--baseline all are runs of the other side."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class CompareSettings:
    """The options of `loadgen compare`."""

    runs: Annotated[list[Path], Argument(metavar="RUN", help=_RUNS, show_default=False)]
    baseline: Annotated[
        list[Path],
        Option(
            metavar="RUN",
            help="A reference run, or a folder of runs; repeatable. Of several, each run is one observation.",
        ),
    ] = field(default_factory=list)
    metric: Annotated[
        list[str],
        Option(
            "--metric",
            parser=canonical_rule,
            metavar="METRIC",
            help="Primary metric, e.g. 'ttft:p(95)'; repeatable. The default ones follow from the number of "
            "requests.",
            panel=DECISION,
        ),
    ] = field(default_factory=list)
    alpha: Annotated[
        float,
        Option(
            metavar="P",
            help="Accepted probability of any false positive among the primary metrics.",
            panel=DECISION,
        ),
    ] = 0.05
    min_effect: Annotated[
        float,
        Option(
            parser=share,
            metavar="SHARE",
            help="Changes up to this size never fail. Default: 3%.",
            show_default=False,
            panel=DECISION,
        ),
    ] = 0.03
    min_points: Annotated[
        float,
        Option(
            parser=share,
            metavar="SHARE",
            help="Smallest change that matters for error rates, good fractions and scores, in points. "
            "Default: 1%.",
            show_default=False,
            panel=DECISION,
        ),
    ] = 0.01
    strict: Annotated[
        bool,
        Option(
            "--strict",
            help="Exit 4 when a run is invalid or configurations differ.",
            panel=DECISION,
        ),
    ] = False
    tokenizer: Annotated[
        str | None,
        Option(metavar="NAME|FOLDER", help="Tokenizer for token counts that the server did not send."),
    ] = None
    verbose: Annotated[
        bool, Option("-v --verbose", help="Show all other metrics: more percentiles, ITL, lengths.")
    ] = False
    form: ComparisonFormat = TEXT
    json: Json = False
    output: Annotated[
        Path | None,
        Option("--output -o", metavar="FILE", help="Write it to a file instead of standard output."),
    ] = None
    markdown: Annotated[
        Path | None, Option(metavar="FILE", help="Also write the comparison as Markdown.")
    ] = None
    plot: Annotated[
        Path | None,
        Option(metavar="FILE", help="Draw the changes with intervals as SVG; needs the extra `plot`."),
    ] = None
