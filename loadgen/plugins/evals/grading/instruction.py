"""A verifiable instruction: arguments, and the check of a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from random import Random

Follows = Callable[[str], bool]
"""Whether a text follows an instruction."""


@dataclass(frozen=True, slots=True)
class ArgumentKind:
    """The kind of an argument."""

    wanted: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction.

    Attributes:
        follows: Makes what tells whether a text follows it, of the chance and the arguments.
        arguments: What it takes.
        by_chance: Whether the official code may give one verdict one time and another the next.
    """

    follows: Callable[..., Follows]
    arguments: Mapping[str, ArgumentKind] = field(default_factory=dict)
    by_chance: bool = False


def _is_count(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_pattern(value: Any) -> bool:
    try:
        return _is_text(value) and re.compile(value) is not None
    except re.error:
        return False


def _are_patterns(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(map(_is_pattern, value))


LESS: Final = "less than"
RELATIONS: Final = (LESS, "at least")

COUNT: Final = ArgumentKind("a number from 0 on", _is_count)
PLACE: Final = ArgumentKind("a whole number from 1 on", lambda value: _is_count(value) and value >= 1)
RELATION: Final = ArgumentKind(f"one of {RELATIONS}", lambda value: value in RELATIONS)
TEXT: Final = ArgumentKind("a text", _is_text)
LETTER: Final = ArgumentKind("one letter", lambda value: _is_text(value) and len(value) == 1)
PATTERN: Final = ArgumentKind("a text that is a regular expression", _is_pattern)
PATTERNS: Final = ArgumentKind("a list of texts that are regular expressions", _are_patterns)


def compare(relation: str, count: int, threshold: float) -> bool:
    """Whether a count is `less than` a threshold, or `at least` as much."""
    return count < threshold if relation == LESS else count >= threshold


def plain(
    check: Callable[..., bool], *, requires: Callable[[], object] | None = None, **arguments: ArgumentKind
) -> Instruction:
    """An instruction without chance."""

    def follows(_: Random | None, **values: Any) -> Follows:
        if requires is not None:
            requires()
        return partial(check, **values)

    return Instruction(follows, arguments)
