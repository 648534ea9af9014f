r"""Words by the rules of the Penn Treebank, which tell marks, quotes and the parts of `don't` apart.

The rules are those of NLTK's `word_tokenize` up to 3.9.2, one after the other, each over the whole sentence;
later versions also tell dashes apart. Quotes become `` and ''.
"""

from __future__ import annotations

import re
from typing import Final

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


def words(sentence: str) -> list[str]:
    """The words and marks of one sentence."""
    for pattern, replacement in _RULES:
        sentence = pattern.sub(replacement, sentence)
    return sentence.split()
