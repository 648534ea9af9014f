"""The server's token counts, compared with each other and with the text that they are of."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from reporter.log.database import figures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.log.database import OpenLog


@dataclass(frozen=True, slots=True)
class TokenChecks:
    """The row of reporter/sql/figures/token_checks.sql."""

    several_choices: int = 0
    reasoning_added: int = 0
    unequal: int = 0
    unequal_example: Mapping[str, int | None] | None = None
    compared: int = 0
    too_few: int = 0
    too_few_example: Mapping[str, int] | None = None
    too_many: int = 0
    too_many_example: Mapping[str, int] | None = None
    reasoning_reported: int | None = None
    reasoning_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_chars: int | None = None
    characters: int | None = None
    paced_tokens: int | None = None
    paced_chunks: int | None = None
    held_back: int = 0
    held_back_unknown: int = 0


def token_checks(log: OpenLog) -> TokenChecks:
    """Compare the counts of a log with each other and with the texts."""
    row: Mapping[str, Any] = figures(log, "token_checks")
    return TokenChecks(**{field.name: row[field.name] for field in fields(TokenChecks)})
