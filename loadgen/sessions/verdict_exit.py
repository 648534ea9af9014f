"""The exit code of a verdict, and of several together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from rulesets.exit_codes import PRECEDENCE, ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Inconclusive = Literal["pass", "fail", "0", "1", "5"]
"""The exit code of an inconclusive verdict: 0 as if passed, 1 as if failed, or its own code."""

_INCONCLUSIVE: Final[Mapping[str, ExitCode]] = {
    **dict.fromkeys(("pass", "0"), ExitCode.PASS),
    **dict.fromkeys(("fail", "1"), ExitCode.FAIL),
    "5": ExitCode.INCONCLUSIVE,
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


def most_severe(codes: Iterable[int]) -> int:
    """The exit code of several together; that of none is 0."""
    distinct = set(codes)
    return next((code for code in PRECEDENCE if code in distinct), max(distinct, default=ExitCode.PASS))
