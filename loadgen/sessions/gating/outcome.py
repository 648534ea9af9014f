"""What a verdict amounts to as an exit code, alone and among others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from loadgen.sessions.errors import INTERRUPTED, INVALID, PASS, SETUP, USAGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FAILED: Final = 1
INCONCLUSIVE: Final = 5

Inconclusive = Literal["pass", "fail", "0", "1", "5"]
"""What an inconclusive verdict ends with: 0 as one that passed, 1 as one that failed, or its own code."""

_PRECEDENCE: Final = (INTERRUPTED, USAGE, SETUP, INVALID, FAILED, INCONCLUSIVE, PASS)
_INCONCLUSIVE: Final[Mapping[str, int]] = {
    **dict.fromkeys(("pass", "0"), PASS),
    **dict.fromkeys(("fail", "1"), FAILED),
    "5": INCONCLUSIVE,
}


def exit_code(status: str, inconclusive: str = "5") -> int:
    """The exit code of a verdict.

    Args:
        status: Of the verdict.
        inconclusive: An `Inconclusive`.
    """
    from rulesets.verdict import EXIT_CODES

    codes = {str(name): code for name, code in EXIT_CODES.items()}
    return (codes | {"INCONCLUSIVE": _INCONCLUSIVE[inconclusive]})[status]


def gravest(codes: Iterable[int]) -> int:
    """The exit code of several together; that of none is 0."""
    known = set(codes)
    return next((code for code in _PRECEDENCE if code in known), max(known, default=PASS))
