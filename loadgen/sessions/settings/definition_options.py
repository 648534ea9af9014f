"""The options that define figures, in place of the defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from lazy_dataclasses import dataclass, replace
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.option import Panel

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from rulesets.definitions import Definitions
    from rulesets.ruleset import Ruleset

REPORT: Final = Panel("Report")

Percentiles = Annotated[
    str | None, REPORT.declares("Percentiles to report, e.g. 50,75,99.9.", metavar="LIST")
]
PercentileMethod = Annotated[
    Literal["linear", "lower", "loadgen_floor", "nearest_rank"] | None,
    REPORT.declares("How percentiles are taken. Default: linear, or as the rules say."),
]
LatencyOrigin = Annotated[
    Literal["scheduled", "issued", "sent"] | None,
    REPORT.declares(
        "Start of the latency interval. Default: TTFT from sending the request, latency from issuing."
    ),
]
TpotDenominator = Annotated[
    Literal["seen", "n_minus_1", "n", "tokens_after_first_chunk"] | None,
    REPORT.declares(
        "Denominator of TPOT. Default: output tokens seen after the first one (docs/metrics.md)."
    ),
]
TpotEnd = Annotated[
    Literal["last_token", "complete"] | None,
    REPORT.declares("End of the TPOT interval: last token or completion. Default: last_token."),
]
Verbose = Annotated[
    bool,
    REPORT.declares(
        "Report every metric, min, std, and client health in full.",
        "--verbose -v",
        stored=False,
        instead="`loadgen report RUN --verbose` prints one",
    ),
]
Summary = Annotated[
    bool,
    REPORT.declares(
        "Report only the head, the totals and the scores.",
        "--summary --compact",
        stored=False,
        instead="`loadgen report RUN --summary` prints one",
    ),
]
TraceDetail = Annotated[
    bool,
    REPORT.declares(
        "After the report, print each sample with all steps: requests, tool calls, times and tokens.",
        "--trace-detail",
        instead="`loadgen report RUN --trace-detail` prints one",
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class DefinitionSettings:
    """Options that define the figures of a report."""

    percentiles: Percentiles = None
    percentile_method: PercentileMethod = None
    latency_origin: LatencyOrigin = None
    tpot_denominator: TpotDenominator = None
    tpot_end: TpotEnd = None

    def __post_init__(self) -> None:
        percentiles_of(self.percentiles)


OPTIONS: Final = ("percentile_method", "latency_origin", "tpot_denominator", "tpot_end")
"""The options that are definitions, by the names of both."""
OF_ONE_REPORT: Final = frozenset({"percentiles", "summary", "verbose"})
"""Options of printing a single report."""

_OF_THE_COMMAND_LINE: Final = "command line"


def chosen(options: Mapping[str, Any]) -> dict[str, Any]:
    """The definitions that options choose, without those that were not given."""
    return {name: options[name] for name in OPTIONS if options.get(name) is not None}


def chosen_in(settings: DefinitionSettings) -> dict[str, Any]:
    """The definitions that settings choose."""
    return chosen({name: getattr(settings, name) for name in OPTIONS})


def with_definitions(rules: Ruleset | None, choice: Mapping[str, Any]) -> Ruleset | None:
    """The same rules with the chosen definitions."""
    if rules is None or not choice:
        return rules
    changed = [name for name, value in choice.items() if getattr(rules.definitions, name) != value]
    if changed and rules.name != _OF_THE_COMMAND_LINE:
        raise UsageError(
            f"--{changed[0].replace('_', '-')}: the ruleset {rules.name} has its own definition; "
            "leave the option out, or change the ruleset"
        )
    return replace(rules, definitions=replace(rules.definitions, **choice))


def definitions_of(rules: Ruleset | None, choice: Mapping[str, Any]) -> Definitions:
    """The definitions of a report: those chosen, else the rules', else the defaults."""
    from rulesets.definitions import Definitions

    return rules.definitions if rules else Definitions(**choice)


def percentiles_of(text: str | None) -> Mapping[str, Fraction] | None:
    """The percentiles that `--percentiles` names; None without the option."""
    if text is None:
        return None
    from reporter.errors import OptionError
    from reporter.percentiles import percentiles_named

    try:
        return percentiles_named(text)
    except OptionError as error:
        raise UsageError(f"--percentiles {text}: {error}") from error
