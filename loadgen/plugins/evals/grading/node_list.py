r"""Lists of nodes in answers, `Final Answer: [a, b]`, by four published parsers.

Their expressions look for a closing bracket from every opening one; here it is looked for once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_ANSWER: Final = "Final Answer:"
_LIST: Final = re.compile(r"Final Answer:\s*\[")
_OLD_LIST: Final = re.compile(r"Final Answer: ?\[")
_ANY_CASE: Final = re.compile(r"final answer:\s*\[", re.IGNORECASE)


def nodes(text: str) -> list[str] | None:
    """By the dataset's card since be6cc6ec: the last line, between the outermost brackets.

    Returns:
        The nodes, of which there may be none; None where the last line is not an answer.
    """
    line = text.rpartition("\n")[2]
    start, end = line.find("["), line.rfind("]")
    if _ANSWER not in line or not 0 <= start < end:
        return None
    return _split(line[start : end + 1].strip("[]"))


def nodes_of_2025_04(text: str) -> list[str] | None:
    """By the card of April 2025: text before the bracket stays with the first node."""
    line = text.rpartition("\n")[2]
    match, end = _OLD_LIST.search(line), line.rfind("]")
    if match is None or end < match.end():
        return None
    return _split(line[match.start() : end + 1].strip("[]"))


def nodes_of_lm_eval(text: str) -> list[str] | None:
    """By lm_eval 0.4.13: final line breaks and quotes around nodes do not count."""
    line = text.rstrip("\n").rpartition("\n")[2]
    match, end = _LIST.search(line), line.rfind("]")
    if match is None or end < match.end():
        return None
    return [node.strip("'\"") for node in _split(line[match.end() : end])]


def nodes_of_openbench(text: str) -> list[str] | None:
    """By openbench: any case, and no text after the list."""
    line = text.rpartition("\n")[2].rstrip()
    match = _ANY_CASE.search(line)
    is_announced = "final answer:" in line.lower() and line.endswith("]")
    if match is None or not is_announced or len(line) - 1 < match.end():
        return None
    return _split(line[match.end() : -1])


def _split(inner: str) -> list[str]:
    return [node.strip() for node in inner.split(",") if node.strip()]


def precision_recall(answered: Iterable[str], wanted: Iterable[str]) -> tuple[float, float]:
    """The shares of the found nodes that are wanted, and of the wanted ones that are found; each once."""
    ours, theirs = set(answered), set(wanted)
    both = len(ours & theirs)
    return both / len(ours) if ours else 0.0, both / len(theirs) if theirs else 0.0


def harmonic_mean(precision: float, recall: float) -> float:
    """F1; 0 where both are 0."""
    return 2 * (recall * precision) / (recall + precision) if recall + precision > 0 else 0.0
