"""Sentences and words of English text, equal to NLTK's up to 3.9.

Sentences need punkt's English model, which is data of NLTK's: `punkt_tab`. Words are those of the Penn
Treebank, which tell marks, quotes and the parts of `don't` apart; quotes become `` and ''. NLTK after 3.9.2
also tells dashes apart.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from loadgen.plugins.evals.grading import punkt
from workloads.errors import SourceError
from workloads.nltk_data import FOLDER, VARIABLE, find

MODEL: Final = "tokenizers/punkt_tab/english"


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return punkt.sentences(model(), text)


def words(text: str) -> list[str]:
    """The words and marks of a text, distinguished a sentence at a time."""
    return [word for sentence in sentences(text) for word in treebank_words(sentence)]


@cache
def model() -> punkt.PunktModel:
    """Punkt's English model; read once a process.

    Raises:
        SourceError: It is not there, or cannot be read.
    """
    path = find(MODEL)
    if path is None:
        raise SourceError(
            "telling English sentences takes a model, punkt_tab, that NLTK publishes: fetch it with "
            "`python -m nltk.downloader punkt_tab` (pip install 'llm-loadgen[ifeval]'); or name a folder "
            f"that has {MODEL} in the environment variable {VARIABLE}, or copy that folder into the one of "
            f"--data and call it {FOLDER}"
        )
    try:
        return punkt.read(path)
    except (OSError, ValueError) as error:
        raise SourceError(f"{path}: not punkt's English model ({error}); fetch it again") from error


_RULES: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # Quotes that open…
        (r"([«“\u2018„]|`+)", r" \1 "),
        (r'^"', r"``"),
        (r"(``)", r" \1 "),
        (r"""([ (\[{<])("|'{2})""", r"\1 `` "),
        (r"(?i)(')(?!re|ve|ll|m|t|s|d|n)(\w)\b", r"\1 \2"),
        # Marks, the last full stop among them…
        (r"""([^.])(\.)([\])}>"'»”\u2019 ]*+)\s*$""", r"\1 \2 \3 "),
        (r"([:,])([^\d])", r" \1 \2"),
        (r"([:,])$", r" \1 "),
        (r"\.{2,}", r" \g<0> "),
        (r"[;@#$%&]", r" \g<0> "),
        (r"""([^.])(\.)([\])}>"']*)\s*$""", r"\1 \2\3 "),
        (r"[?!]", r" \g<0> "),
        (r"([^'])' ", r"\1 ' "),
        (r"[*]", r" \g<0> "),
        (r"[\]\[(){}<>]", r" \g<0> "),
        (r"--", r" -- "),
        (r"\A|\Z", r" "),
        # Quotes that close, and what is written together…
        (r"([»”\u2019])", r" \1 "),
        (r"''", r" '' "),
        (r'"', r" '' "),
        (r"\s+", r" "),
        (r"([^' ])('[sS]|'[mM]|'[dD]|') ", r"\1 \2 "),
        (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1 \2 "),
        (r"(?i)\b(can)(not)\b", r" \1 \2 "),
        (r"(?i)\b(d)('ye)\b", r" \1 \2 "),
        (r"(?i)\b(gim)(me)\b", r" \1 \2 "),
        (r"(?i)\b(gon)(na)\b", r" \1 \2 "),
        (r"(?i)\b(got)(ta)\b", r" \1 \2 "),
        (r"(?i)\b(lem)(me)\b", r" \1 \2 "),
        (r"(?i)\b(more)('n)\b", r" \1 \2 "),
        (r"(?i)\b(wan)(na)(?=\s)", r" \1 \2 "),
        (r"(?i) ('t)(is)\b", r" \1 \2 "),
        (r"(?i) ('t)(was)\b", r" \1 \2 "),
    )
)


def treebank_words(sentence: str) -> list[str]:
    """The treebank_words and marks of one sentence."""
    for pattern, replacement in _RULES:
        sentence = pattern.sub(replacement, sentence)
    return sentence.split()
