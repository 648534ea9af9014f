"""The packages and the data of NLTK's by which some instructions of IFBench are checked; loaded on use."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, Final

from loadgen.plugins.evals.grading.english import model
from workloads.errors import ExtraError, SourceError
from workloads.nltk_data import FOLDER, VARIABLE, find, places

STOP_WORDS: Final = "corpora/stopwords/english"
TAGGER: Final = "taggers/averaged_perceptron_tagger_eng"

_HOW: Final = (
    "fetch it with `python -m nltk.downloader {name}` (pip install 'llm-loadgen[ifbench]'); or name a folder "
    f"that has {{place}} in the environment variable {VARIABLE}, or put it into the folder {FOLDER} of --data"
)
_MISSING: Final = "checking this takes another package: pip install 'llm-loadgen[ifbench]'"


@cache
def stop_words() -> frozenset[str]:
    """NLTK's English stop words.

    Raises:
        SourceError: The list is not on this machine.
    """
    path = find(STOP_WORDS)
    if path is None:
        raise SourceError(
            f"counting stop words takes NLTK's list: {_HOW.format(name='stopwords', place=STOP_WORDS)}"
        )
    return frozenset(path.read_text(encoding="utf-8").split())


@cache
def tagger() -> Any:
    """NLTK's English part-of-speech tagger.

    Raises:
        ExtraError: NLTK is not installed.
        SourceError: Its model is not on this machine.
    """
    model()
    try:
        import nltk.data
        from nltk.tag import PerceptronTagger
    except ImportError as error:
        raise ExtraError(_MISSING) from error
    if find(TAGGER) is None:
        name = TAGGER.partition("/")[2]
        raise SourceError(f"finding verbs takes NLTK's tagger: {_HOW.format(name=name, place=TAGGER)}")
    # NLTK reads its own variable once, when it is imported.
    nltk.data.path[:0] = [place for place in map(str, places()) if place not in nltk.data.path]
    return PerceptronTagger()


def is_emoji(character: str) -> bool:
    """Whether a character is an emoji of Unicode."""
    return bool(emojis().is_emoji(character))


def emojis() -> Any:
    """The package `emoji`."""
    return _package("emoji")


def syllables() -> Any:
    """The package `syllapy`, which counts the syllables of English words."""
    return _package("syllapy")


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ExtraError(_MISSING) from error
