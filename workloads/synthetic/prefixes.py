"""Prefixes that prompts share, so that a server's prefix cache has something to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from workloads.errors import PromptError
from workloads.lengths import MOST_TOKENS

MOST_GROUPS: Final = 100_000
MOST_TOGETHER: Final = 50_000_000
"""Tokens of all prefixes of a run: they are kept in memory."""

_SPEC: Final = re.compile(r"(\d{1,9})(?:x(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """Prompts in groups, with a shared prefix for each group."""

    tokens: int
    groups: int = 1


def shared_prefix(option: str, spec: str) -> SharedPrefix:
    """Read `TOKENS` or `TOKENSxGROUPS`; raise `PromptError` for anything else, or too much."""
    match = _SPEC.fullmatch(spec.strip())
    if match is None:
        raise PromptError(f"{option} {spec!r}: write TOKENS, or TOKENSxGROUPS, e.g. 500 or 500x8")
    tokens, groups = int(match[1]), int(match[2] or 1)
    if not (1 <= tokens <= MOST_TOKENS and 1 <= groups <= MOST_GROUPS):
        raise PromptError(
            f"{option} {spec!r}: tokens must be from 1 to {MOST_TOKENS}, groups from 1 to {MOST_GROUPS}"
        )
    if tokens * groups > MOST_TOGETHER:
        raise PromptError(
            f"{option} {spec!r}: more than {MOST_TOGETHER} tokens together; ask for fewer groups"
        )
    return SharedPrefix(tokens, groups)
