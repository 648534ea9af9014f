"""tau2's `calculate`, the tool of the airline and the shop."""

from __future__ import annotations

from typing import Any, Final

from loadgen.plugins.agents.calculation import calculated
from loadgen.plugins.agents.toolset import Refusal

_CHARACTERS: Final = "0123456789+-*/(). "


def calculated_text(expression: Any) -> str:
    """The value of an arithmetic expression, rounded to cents.

    Raises:
        Refusal: The expression has other characters.
        TypeError: It is not a text.
        SyntaxError, ArithmeticError: As of Python's own evaluation.
    """
    if not all(character in _CHARACTERS for character in expression):
        raise Refusal("Invalid characters in expression")
    if not isinstance(expression, str):
        raise TypeError("eval() arg 1 must be a string, bytes or code object")
    return str(round(float(calculated(expression)), 2))
