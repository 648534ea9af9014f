"""WebChoreArena's answers and addresses: repository at 88c57013, `evaluation_harness/evaluators.py`.

Pages (`program_html`) need the live sites and `fuzzy_match` a judge: neither is here.
"""

from __future__ import annotations

from collections import defaultdict
from math import prod
from statistics import mean
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlparse

from loadgen.plugins.evals.grading import english
from workloads.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Mapping

_OR: Final = " |or| "
_RULES: Final = frozenset({"exact_match", "must_include"})


def string_score(answer: str, references: Mapping[str, Any]) -> float:
    """The agreement of an answer with the references, between 0 and 1: the product of the rules.

    Args:
        answer: The agent's last.
        references: A task's `reference_answers`: `exact_match` with a text, `must_include` with phrases,
            whose mean counts; a phrase may have alternatives, separated by ` |OR| `.

    Raises:
        MalformedError: A rule that needs a judge, or no phrase.
        SourceError: Words are needed, for a phrase of one character, and punkt's English model is missing.
    """
    if unknown := sorted(references.keys() - _RULES):
        raise MalformedError(f"answers cannot be judged by {', '.join(unknown)} without a judge")
    cleaned = _clean(answer)
    scores = []
    if "exact_match" in references:
        scores.append(float(_clean(cleaned) == _clean(references["exact_match"])))
    if "must_include" in references:
        phrases = references["must_include"]
        if not phrases:
            raise MalformedError("must_include has no phrase")
        scores.append(mean(_includes(cleaned, phrase, alone=len(phrases) == 1) for phrase in phrases))
    return prod(scores)


def url_score(address: str, reference: str) -> float:
    """1 for an address with a reference's host, path and query values; else 0.

    Alternatives in the reference are separated by ` |OR| `; a value of any of them is enough.
    """
    path, query = _parsed(address)
    paths, values = [], defaultdict(set)
    for alternative in reference.split(_OR.upper()):
        wanted, parameters = _parsed(alternative)
        paths.append(wanted)
        for name, possible in parameters.items():
            values[name].update(possible)
    named = all(possible & set(query.get(name, ())) for name, possible in values.items())
    return float(named and any(wanted in path for wanted in paths))


def _includes(answer: str, phrase: str, *, alone: bool) -> float:
    """Whether an answer has a phrase; a single character must be a separate word.

    As officially, an alternative of one character always matches where it is the only phrase.
    """
    text, reference = _clean(answer), _clean(phrase)
    if _OR in reference:
        alternatives = [part.strip() for part in reference.split(_OR)]
        return float(any((alone and len(part) == 1) or part in text for part in alternatives))
    if alone and len(reference) == 1:
        return float(reference in english.words(text))
    return float(reference in text)


def _clean(text: str) -> str:
    text = text.strip()
    for quote in "'\"":
        if text.startswith(quote) and text.endswith(quote):
            return text[1:-1].lower()
    return text.lower()


def _parsed(address: str) -> tuple[str, dict[str, list[str]]]:
    parts = urlparse(address.rstrip("/").lower())
    return parts.netloc + parts.path, parse_qs(parts.query)
