"""Calls of functions that are in a text as JSON or as Python, and calls compared in any order."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.bfcl.decoding import bracketed, guarded
from loadgen.plugins.evals.grading.bfcl.python_text import python_calls
from loadgen.plugins.evals.grading.json_calls import UndecodableError, are_calls, blocks, json_calls

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.plugins.evals.grading.json_calls import Calls

_LONGEST: Final = 1_000_000
"""Characters: a longer text has no calls that anybody reads."""


def calls_of_text(text: str) -> Calls | None:
    """The calls in a text; None without calls.

    JSON first (`json_calls`). Then Python: the whole text, else all of its fenced blocks
    that are calls, `f(a=1)` or `[f(a=1), g(b=2)]`.
    """
    if len(text) > _LONGEST:
        return None
    calls = json_calls(text)
    if calls is None:
        calls = _python_calls(text)
    if calls is None:
        readings = [read for block in blocks(text) if (read := _python_calls(block)) is not None]
        calls = [call for read in readings for call in read] if readings else None
    return calls


def same_calls(ours: Calls, theirs: Calls) -> bool:
    """Whether two lists have equal calls in any order, with multiplicity, by normalized values."""
    return sorted(map(_written, ours)) == sorted(map(_written, theirs))


def normalized_value(value: Any) -> Any:
    """A value in the form for comparison.

    Texts are NFKD, in lower case, with single blanks; 2.0 is 2; the order of members does not matter, that of
    elements does. True is not 1, and `"2"` is not 2.
    """
    if isinstance(value, str):
        return " ".join(unicodedata.normalize("NFKD", value).lower().split())
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {str(name): normalized_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [normalized_value(item) for item in value]
    return value


def _written(call: Mapping[str, Mapping[str, Any]]) -> str:
    ((name, arguments),) = call.items()
    return json.dumps([name, normalized_value(dict(arguments))], sort_keys=True, default=repr)


def _python_calls(text: str) -> Calls | None:
    try:
        calls: Any = guarded(python_calls, bracketed(text))
    except UndecodableError:
        return None
    return calls if calls and are_calls(calls) and all(map(all, calls)) else None
