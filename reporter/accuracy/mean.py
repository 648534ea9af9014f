"""Headlines that are means, for which an uncertainty is known."""

from __future__ import annotations

import re
from typing import Final

from lazy_dataclasses import dataclass

_CALL: Final = re.compile(r"\s*avg\s*\(", re.IGNORECASE)
_FILTER: Final = re.compile(r"\s*filter\s*\(\s*(?:where\b)?", re.IGNORECASE)
_DISTINCT: Final = re.compile(r"\s*distinct\b", re.IGNORECASE)
_QUOTES: Final = "'\""
_WORD: Final = re.compile(r"\w+")
_OF_SAMPLES: Final = frozenset(
    {
        *("sample_uuid", "attempt", "value", "status", "extracted", "reason", "metrics"),
        *("output_tokens", "input_tokens", "truncated", "refused", "unscored"),
    }
)
"""The columns in which samples of one question differ."""

EVERY: Final = "true"
"""No row is left out."""


@dataclass(frozen=True, slots=True)
class Mean:
    """`avg(of) FILTER (where)`, as SQL over the rows of the view `scores`.

    Attributes:
        of: What it is the mean of; rows where it is NULL are left out, as `avg` does.
    """

    of: str
    where: str = EVERY

    @property
    def of_questions(self) -> bool:
        """Whether each question is in the mean with all samples, or with none."""
        return _OF_SAMPLES.isdisjoint(_WORD.findall(self.where.lower()))


VALUE: Final = Mean("value")
"""Of the benchmark's own figure for one sample."""


def mean_in(sql: str) -> Mean | None:
    """The mean expressed by an aggregate; None for any other aggregate."""
    call = _CALL.match(sql)
    if call is None:
        return None
    end = _closing(sql, call.end())
    of, rest = sql[call.end() : end], sql[end + 1 :]
    if end == len(sql) or _DISTINCT.match(of):
        return None
    if not rest.strip():
        return Mean(of)
    only = _FILTER.match(rest)
    if only is None:
        return None
    end = _closing(rest, only.end())
    return None if rest[end + 1 :].strip() else Mean(of, rest[only.end() : end].strip())


def _closing(sql: str, start: int) -> int:
    """The closing bracket for the one opened before `start`; the end without one."""
    depth, quote = 1, ""
    for place in range(start, len(sql)):
        char = sql[place]
        if quote:
            quote = "" if char == quote else quote
        elif char in _QUOTES:
            quote = char
        else:
            depth += (char == "(") - (char == ")")
            if not depth:
                return place
    return len(sql)
