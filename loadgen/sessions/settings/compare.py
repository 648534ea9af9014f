"""The options of `loadgen compare`; field by field an option."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from lazy_dataclasses import dataclass
from loadgen.sessions.formats import TEXT
from loadgen.sessions.settings.format_options import ComparisonFormat, Json
from loadgen.sessions.settings.kinds import Share, canonical_rule
from loadgen.sessions.settings.option import GENERAL, Argument, Panel

DECISION: Final = Panel("Decision")

_RUNS: Final = (
    "Runs: folders, logs, report.json files, or folders of several runs. The first is the reference; with "
    "--baseline all are runs of the other side."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class CompareSettings:
    """The options of `loadgen compare`."""

    runs: Annotated[list[Path], Argument(metavar="RUN", help=_RUNS, show_default=False)]
    baseline: list[Path] = GENERAL.option(
        "A reference run, or a folder of runs; repeatable. Of several, each run is one observation.",
        [],
        metavar="RUN",
    )
    metric: list[str] = DECISION.option(
        "Primary metric, e.g. 'ttft:p(95)'; repeatable. The default ones follow from the number of requests.",
        [],
        parser=canonical_rule,
        metavar="METRIC",
    )
    alpha: float = DECISION.option(
        "Accepted probability of any false positive among the primary metrics.", 0.05, metavar="P"
    )
    min_effect: Share = DECISION.option(
        "Changes up to this size never fail. Default: 3%.", 0.03, show_default=False
    )
    min_points: Share = DECISION.option(
        "Smallest change that matters for error rates, good fractions and scores, in points. Default: 1%.",
        0.01,
        show_default=False,
    )
    strict: bool = DECISION.switch("Exit 4 when a run is invalid or configurations differ.")
    tokenizer: str | None = GENERAL.option(
        "Tokenizer for token counts that the server did not send.", metavar="NAME|FOLDER"
    )
    verbose: bool = GENERAL.option("Show all other metrics: more percentiles, ITL, lengths.", False, "-v --")
    form: ComparisonFormat = TEXT
    json: Json = False
    output: Path | None = GENERAL.option(
        "Write it to a file instead of standard output.", flags="-- -o", metavar="FILE"
    )
    markdown: Path | None = GENERAL.option("Also write the comparison as Markdown.", metavar="FILE")
    plot: Path | None = GENERAL.option(
        "Draw the changes with intervals as SVG; needs the extra `plot`.", metavar="FILE"
    )
