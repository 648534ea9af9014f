"""LifelongAgentBench: answers out of a database, and sets out of a knowledge graph.

caixd-220529/LifelongAgentBench, `db_bench/task.py` and `knowledge_graph/task.py` of
`src/tasks/instance`. Databases that an agent changed are compared by MySQL's MD5, which is not done here.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

_TOLERANCE: Final = 1e-6
_DECIMAL: Final = re.compile(r"^Decimal\([\"']?(.*?)[\"']?\)$")
_DECIMAL_WORD: Final = "Decimal"
_NUMBER: Final = frozenset("0123456789.-")
_MOST_QUOTES: Final = 2


def rows_match(answer: str, rows: Sequence[Sequence[float | str]]) -> bool:
    """Whether an answer has the rows of a query, in order.

    A row is written as a tuple, `(1, 'a')`; a single row may be without parentheses. Numbers are equal within
    1e-6, texts may be in quotes. As officially, a number after a quote is not read.
    """
    tuples = _tuples(answer)
    if tuples is None:
        return False
    if not tuples:
        return not rows or (len(rows) == 1 and _row_matches(answer, rows[0]))
    return len(tuples) == len(rows) and all(map(_row_matches, tuples, rows))


def set_match(answers: Sequence[str] | None, expected: AbstractSet[str]) -> tuple[bool, float]:
    """Whether a set of answers is the expected one, with the F1; None stands for no answer."""
    if answers is None:
        return False, 0.0
    hits = len(expected & set(answers))
    return set(answers) == expected, 2 * hits / (len(expected) + len(set(answers))) if hits else 0.0


def _tuples(answer: str) -> list[str] | None:
    """The contents of parentheses except `Decimal(…)`; None for unbalanced parentheses."""
    tuples, start, in_decimal = [], None, False
    for index, character in enumerate(answer):
        if character == "(":
            if answer[:index].endswith(_DECIMAL_WORD):
                if in_decimal:
                    return None
                in_decimal = True
            else:
                start = index
        elif character == ")":
            if in_decimal:
                in_decimal = False
            elif start is None:
                return None
            else:
                tuples.append(answer[start + 1 : index])
                start = None
    return tuples if start is None else None


def _row_matches(text: str, row: Sequence[float | str]) -> bool:
    elements = [element.strip() for element in text.split(",") if element.strip()]
    return len(elements) == len(row) and all(map(_value_matches, elements, row))


def _value_matches(element: str, value: float | str) -> bool:
    return _text_matches(element, value) if isinstance(value, str) else _number_matches(element, value)


def _number_matches(element: str, value: float) -> bool:
    number = _DECIMAL.sub(r"\1", element)
    leading = next((index for index, character in enumerate(number) if character in _NUMBER), len(number))
    end = len(number)
    while end and number[end - 1] not in _NUMBER:
        end -= 1
    try:
        read = float(number[max(0, leading - 1) : end])
    except ValueError:
        return False
    return math.isclose(read, value, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


def _text_matches(element: str, value: str) -> bool:
    if 0 < len(element) - len(value) <= _MOST_QUOTES:
        head = next(
            (quote for quote in "'\"" if element.startswith(quote) and not value.startswith(quote)), ""
        )
        element = element.removeprefix(head)
        tail = next((quote for quote in "'\"" if element.endswith(quote) and not value.endswith(quote)), "")
        element = element.removesuffix(tail)
    return element == value
