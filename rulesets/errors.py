"""Errors of a ruleset.

RulesetError
├── TargetError        a target asks for what does not exist or makes no sense
├── ExpressionError    a short form cannot be read
├── RulesetFileError   a ruleset file cannot be read
└── Unanswerable       a run does not tell what a rule asks for
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable


class RulesetError(Exception):
    """The base of the errors of this package. The message addresses the author of the ruleset."""


class TargetError(RulesetError):
    """A target asks for something impossible or undefined.

    Attributes:
        part: The field of the target that is wrong: `metric`, `stat`, `op`, `value`, `unit`…
    """

    def __init__(self, part: str, message: str) -> None:
        super().__init__(message)
        self.part = part


class ExpressionError(RulesetError):
    """A short form cannot be read.

    Attributes:
        column: Where it goes wrong, counted from 1.
    """

    def __init__(self, expression: str, column: int, message: str) -> None:
        super().__init__(f"{expression!r}, column {column}: {message}")
        self.expression = expression
        self.column = column
        self.message = message


class RulesetFileError(RulesetError):
    """A ruleset file cannot be read.

    Attributes:
        line: Where it goes wrong, counted from 1; None when it concerns the whole file.
        key: The key that is wrong, e.g. `targets[1].unit`; empty when it concerns no key.
    """

    def __init__(self, file: str, line: int | None, key: str, message: str) -> None:
        place = file if line is None else f"{file}:{line}"
        super().__init__(": ".join(part for part in (place, key, message) if part))
        self.file = file
        self.line = line
        self.key = key


class Unanswerable(RulesetError):  # noqa: N818 (a gap in what is known, and no mistake of anybody's)
    """The log lacks the evidence for a rule, which is then inconclusive.

    Attributes:
        remedy: What to ask instead.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


NEAR: Final = 0.6
"""From this likeness on, of 1, one name may have been meant by another."""


def suggestion(wrong: str, right: Iterable[str]) -> str:
    """Say which name was probably meant or, when none is near, which there are."""
    names = list(right)
    if not names:
        return "there are none to choose from"
    likeness = {name: SequenceMatcher(None, name, wrong.lower()).ratio() for name in names}
    # Of those that are equally near the first, which is the one asked for most.
    nearest = max(names, key=likeness.__getitem__)
    if likeness[nearest] >= NEAR:
        return f"did you mean {nearest!r}?"
    return f"choose one of {listing(names)}" if names[1:] else f"there is only {names[0]!r}"


def listing(names: Iterable[str], last: str = "or") -> str:
    """Join names as a sentence does: `a, b or c`."""
    *first, final = names
    return f"{', '.join(first)} {last} {final}" if first else final
