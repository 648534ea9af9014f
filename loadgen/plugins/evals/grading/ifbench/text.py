"""How IFBench takes a text apart."""

from __future__ import annotations

import re
import string
import unicodedata
from typing import Final

EDGES: Final = string.punctuation + " "
"""What is taken off both ends of a word."""

_NO_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)


def bare(text: str) -> str:
    """The text without ASCII punctuation."""
    return text.translate(_NO_PUNCTUATION)


def tokens(text: str) -> list[str]:
    r"""Runs of letters, digits and underscores, `\w+`, as in NLTK up to 3.9."""
    return re.findall(r"\w+", text)


def ascii_letters(text: str) -> str:
    """The text without diacritical marks and everything else that is not ASCII."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
