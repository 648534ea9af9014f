"""Sentences and words of English text, equal to NLTK's up to 3.9.

Sentences need punkt's English model, which is data of NLTK's: `punkt_tab`.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from loadgen.plugins.evals.grading import punkt, treebank
from workloads.errors import SourceError
from workloads.nltk_data import FOLDER, VARIABLE, find

MODEL: Final = "tokenizers/punkt_tab/english"


def sentences(text: str) -> list[str]:
    """The sentences of a text.

    Raises:
        SourceError: Punkt's English model is not there.
    """
    return punkt.sentences(model(), text)


def words(text: str) -> list[str]:
    """The words and marks of a text, distinguished a sentence at a time.

    Raises:
        SourceError: Punkt's English model is not there.
    """
    return [word for sentence in sentences(text) for word in treebank.words(sentence)]


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
