"""Findings on the server's token counts: whether they add up, and go with the text that they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.number_text import counted, figure, percent
from reporter.report import Finding

if TYPE_CHECKING:
    from reporter.findings.check_inputs import Check, CheckInputs

NOTABLE_SHARE: Final = 0.05
"""Of the responses; a few texts of white space or of rare characters have unusual counts."""

SEVERAL_PER_CHUNK: Final = 2.0
"""Tokens per chunk from which gaps between chunks are far from the time of a token."""

_LEAST_CHARACTERS: Final = 200
_FACTOR: Final = 2.0


def _several_choices(evidence: CheckInputs) -> Finding | None:
    if not (responses := evidence.token_checks.several_choices):
        return None
    return Finding(
        "several_choices",
        "warning",
        f"{counted(responses, 'response')} had several choices (n above 1). Text, times and TPOT are "
        "of the first choice, token counts of all.",
        "Leave n out of --extra-body, and send more requests.",
    )


def _reasoning_added(evidence: CheckInputs) -> Finding | None:
    if not (responses := evidence.token_checks.reasoning_added):
        return None
    return Finding(
        "reasoning_added",
        "info",
        f"In {counted(responses, 'response')} the server's completion_tokens exclude reasoning_tokens: "
        "output tokens are the sum of both.",
        "Tools that read completion_tokens alone report fewer tokens.",
    )


def _unequal(evidence: CheckInputs) -> Finding | None:
    example = evidence.token_checks.unequal_example
    if example is None:
        return None
    numbers = ", ".join(f"{tokens} {name}" for name, tokens in example.items() if tokens is not None)
    return Finding(
        "usage_unequal",
        "warning",
        f"In {counted(evidence.token_checks.unequal, 'response')} the server's token counts do not add up, "
        f"such as {numbers}.",
        "Figures use input and output as sent. Compare a tokenizer: loadgen report RUN --tokenizer NAME.",
    )


def _against_text(evidence: CheckInputs) -> Finding | None:
    checks = evidence.token_checks
    for responses, example, amount, cause in (
        (checks.too_few, checks.too_few_example, "fewer", "The counts may leave out reasoning or a part"),
        (
            checks.too_many,
            checks.too_many_example,
            "more",
            "The counts may hold reasoning that is not sent, or tokens without text (--ignore-eos)",
        ),
    ):
        if example is not None and responses >= NOTABLE_SHARE * checks.compared:
            return Finding(
                "usage_unlike_text",
                "warning",
                f"In {counted(responses, 'response')} the server counted far {amount} output tokens than the "
                f"text has: {example['tokens']} for {example['characters']} characters.",
                f"{cause}. Check them with a tokenizer: loadgen report RUN --tokenizer NAME.",
            )
    return None


def _reasoning_miscounted(evidence: CheckInputs) -> Finding | None:
    checks = evidence.token_checks
    tokens, characters = checks.output_tokens, checks.characters
    if not tokens or not characters or checks.reasoning_reported is None:
        return None
    reasoning_chars = checks.reasoning_chars or 0
    by_count, by_text = (checks.reasoning_tokens or 0) / tokens, reasoning_chars / characters
    if reasoning_chars < _LEAST_CHARACTERS or by_text / _FACTOR <= by_count <= by_text * _FACTOR:
        return None
    return Finding(
        "reasoning_miscounted",
        "warning",
        f"The server counted {checks.reasoning_tokens} of {tokens} output tokens as reasoning "
        f"({percent(by_count, 1)}), but {percent(by_text, 1)} of the text is reasoning.",
        "Do not rely on tokens.reasoning and token_categories: the server's parser counts other tokens, or "
        "sends a summary.",
    )


def _tokens_per_chunk(evidence: CheckInputs) -> Finding | None:
    checks = evidence.token_checks
    if not checks.paced_chunks or checks.held_back * 2 > evidence.counts.completed:
        return None
    per_chunk = (checks.paced_tokens or 0) / checks.paced_chunks
    if per_chunk < SEVERAL_PER_CHUNK:
        return None
    return Finding(
        "tokens_per_chunk",
        "warning",
        f"A chunk had {figure(per_chunk)} output tokens on average, so ITL is not a time per token. "
        "TPOT includes the first chunk's tokens, which took no time.",
        "To exclude the first chunk from TPOT: --tpot-denominator tokens_after_first_chunk.",
    )


def _held_back(evidence: CheckInputs) -> Finding | None:
    checks = evidence.token_checks
    if not checks.held_back:
        return None
    unknown = (
        f"; {checks.held_back_unknown} have no TPOT, because the tokens before the first chunk are unknown"
        if checks.held_back_unknown
        else ""
    )
    return Finding(
        "tokens_held_back",
        "warning" if checks.held_back_unknown else "info",
        f"{counted(checks.held_back, 'answer')} with tool calls had more tokens than chunks: the server's "
        f"parser held tokens back{unknown}.",
        "TTFT and ITL measure the parser's output. For the model's speed, measure without tools.",
    )


CHECKS: Final[tuple[Check, ...]] = (
    _several_choices,
    _reasoning_added,
    _unequal,
    _against_text,
    _reasoning_miscounted,
    _tokens_per_chunk,
    _held_back,
)
