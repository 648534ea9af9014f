"""Findings on answers that lack what the definitions need for a figure."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from reporter.log.database import figures
from reporter.number_text import counted
from reporter.report import Finding

if TYPE_CHECKING:
    from reporter.findings.check_inputs import Check, CheckInputs
    from reporter.log.database import OpenLog
    from rulesets.definitions import Definitions

_AFTER_FIRST: Final = "tokens_after_first_chunk"


def undefined(log: OpenLog, definitions: Definitions) -> dict[str, Any]:
    """How many completed measured requests have no TPOT by the definitions, and why; see `CheckInputs`."""
    if definitions.tpot_n1 != "error" and definitions.tpot_denominator != _AFTER_FIRST:
        return {}
    return figures(log, "undefined")


def _one_token(evidence: CheckInputs) -> Finding | None:
    if not evidence.one_token or evidence.definitions.tpot_n1 != "error":
        return None
    after = (
        "one token or none"
        if evidence.definitions.tpot_denominator != _AFTER_FIRST
        else "no token after their first chunk"
    )
    return Finding(
        "one_token",
        "error",
        f"{counted(evidence.one_token, 'answer')} with {after} cannot have a TPOT, which the rules' "
        "definitions call an error.",
        "Ask for longer answers, or leave out prompts with one-token answers.",
    )


def _first_chunk_unknown(evidence: CheckInputs) -> Finding | None:
    if not evidence.first_chunk_unknown or evidence.definitions.tpot_denominator != _AFTER_FIRST:
        return None
    return Finding(
        "first_chunk_unknown",
        "warning",
        f"TPOT is missing for {counted(evidence.first_chunk_unknown, 'request')}, because the number "
        "of tokens after the first chunk is unknown.",
        f"Report with a tokenizer (--tokenizer {evidence.definitions.tokenizer or 'NAME'}).",
    )


def _other_tokenizer(evidence: CheckInputs) -> Finding | None:
    wanted, used = evidence.definitions.tokenizer, evidence.tokenizer
    if wanted is None or used is None or PurePath(wanted).name == PurePath(used).name:
        return None
    return Finding(
        "other_tokenizer",
        "warning",
        f"The definitions name the tokenizer {wanted}, but this report counts with {used}; counts may "
        "differ.",
        f"Report with --tokenizer {wanted}.",
    )


CHECKS: Final[tuple[Check, ...]] = (_one_token, _first_chunk_unknown, _other_tokenizer)
