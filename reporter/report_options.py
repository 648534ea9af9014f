"""Options of computing a report, apart from definitions and rules."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from reporter.costs import PriceTable
    from reporter.run_facts import OnInvalid
    from reporter.tokens import Tokenizer


class TPOTReportingMode(StrEnum):
    """What the distribution of TPOT is a distribution over."""

    REQUEST_WEIGHTED = "request_weighted"
    """Over requests: each has one TPOT."""
    TOKEN_WEIGHTED = "token_weighted"  # noqa: S105 (not a password)
    """Over tokens: each request's TPOT counts once for every token after its first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """A reader's choices for one report.

    Attributes:
        tokenizer: Counts tokens from the stored texts where the server sent no counts; without one, chunks
            are counted, and a finding says so.
        tpot_reporting_mode: Whether TPOT is distributed over requests or over tokens.
        percentile_method: One of `reporter.percentiles`, in place of that of the definitions.
        percentiles: Those that each summary has next to those that it always has, from
            `reporter.percentiles.percentiles_named`; None for no others.
        recount: Whether the tokenizer counts also what the server has counted, to compare the two; the
            figures stay as the definitions say.
        scoring_pass: The only scoring pass that accuracies are of; None for the last finished one of each
            scorer.
        prices: What tokens cost; without them the report has no cost.
        on_invalid: Whether a run that is invalid only because of the client is accepted (`warn`); None
            for the choice that the run was started with.
    """

    tokenizer: Tokenizer | None = None
    tpot_reporting_mode: TPOTReportingMode = TPOTReportingMode.REQUEST_WEIGHTED
    percentile_method: str | None = None
    percentiles: Mapping[str, Fraction] | None = None
    recount: bool = False
    scoring_pass: int | None = None
    prices: PriceTable | None = None
    on_invalid: OnInvalid | None = None

    @property
    def is_token_weighted(self) -> bool:
        """Whether TPOT is distributed over tokens."""
        return self.tpot_reporting_mode is TPOTReportingMode.TOKEN_WEIGHTED
