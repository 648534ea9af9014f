"""Instructions of IFBench about how much of something a text has: `count:…` and `ratio:…`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.english import model, sentences, words
from loadgen.plugins.evals.grading.ifbench.nltk_packages import stop_words
from loadgen.plugins.evals.grading.ifbench.text import EDGES, bare, tokens
from loadgen.plugins.evals.grading.instruction import COUNT, PLACE, TEXT, Instruction, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

_CONJUNCTIONS: Final = frozenset({"and", "but", "for", "nor", "or", "so", "yet"})

_PERSONS: Final = (
    "Emma Liam Sophia Jackson Olivia Noah Ava Lucas Isabella Mason Mia Ethan Charlotte Alexander Amelia "
    "Benjamin Harper Leo Zoe Daniel Chloe Samuel Lily Matthew Grace Owen Abigail Gabriel Ella Jacob Scarlett "
    "Nathan Victoria Elijah Layla Nicholas Audrey David Hannah Christopher Penelope Thomas Nora Andrew Aria "
    "Joseph Claire Ryan Stella Jonathan"
)

_PRONOUNS: Final = """
i me we us you he him she her it they them my mine our ours your yours his hers its their theirs
myself ourselves yourself yourselves himself herself itself themselves this that these those
who whom whose which what whoever whomever whatever whichever
anybody anyone anything everybody everyone everything nobody nothing somebody someone something
each either neither both all some any none
"""

_MARKS: Final = frozenset(".,!?;:")
_JAPANESE: Final = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")
_TIMES: Final = (1, 2, 3, 5, 7)
_TOLERANCE: Final = 2
_GRAM: Final = 3
_SENTENCES: Final = 3


def _conjunctions(text: str, *, small_n: float) -> bool:
    # The official code tells `And` from `and` here.
    different = {word for word in text.split() if word.strip(EDGES).lower() in _CONJUNCTIONS}
    return len(different) >= small_n


def _person_names(text: str, *, N: float) -> bool:  # noqa: N803
    return sum(re.search(rf"\b{name}\b", text) is not None for name in _PERSONS.split()) >= N


def _punctuation(text: str) -> bool:
    if not ("!?" in text or "?!" in text or "\u203d" in text):
        return False
    # The marks of one interrobang do not count as a question mark and an exclamation mark.
    without = text.replace("?!", "", 1)
    if len(without) == len(text):
        without = text.replace("!?", "", 1)
    return set(without) >= _MARKS


def _pronouns(text: str, *, N: float) -> bool:  # noqa: N803
    pronouns = frozenset(_PRONOUNS.split())
    return sum(word in pronouns for word in words(text.replace("/", " ").lower())) >= N


def _japanese_words(text: str, *, N: float) -> bool:  # noqa: N803
    every = [word.strip(EDGES) for place, word in enumerate(text.split(), 1) if place % N == 0]
    return all(_JAPANESE.search(word) for word in every if word and not word.isdigit())


def _keywords(text: str, **keywords: str) -> bool:
    lowered = text.lower()
    wanted = (keywords[f"keyword{number}"].strip().lower() for number in range(1, len(_TIMES) + 1))
    return all(lowered.count(keyword) == times for keyword, times in zip(wanted, _TIMES, strict=True))


def _stop_words(text: str, *, percentage: float) -> bool:
    listed = tokens(text)
    stopped = sum(word.lower() in stop_words() for word in listed)
    return bool(listed) and stopped / len(listed) * 100 <= percentage


def _endings(text: str) -> tuple[int, int, int]:
    """How many sentences end with a full stop, a question mark, an exclamation mark."""
    last = [sentence[-1] for sentence in sentences(text)]
    return last.count("."), last.count("?"), last.count("!")


def _sentence_types(text: str) -> bool:
    statements, questions, _ = _endings(text)
    return statements == 2 * questions


def _sentence_lengths(text: str) -> bool:
    # That all words differ is asked for, and not checked by the official code.
    lengths = [len(sentence.strip()) for sentence in sentences(text)]
    return len(lengths) == _SENTENCES and len(set(lengths)) == 1


def _overlap(text: str, *, reference_text: str, percentage: float) -> bool:
    grams = _grams(text)
    if not grams:
        return False
    overlap = 100 * (len(grams & _grams(reference_text)) / len(grams))
    return percentage - _TOLERANCE <= overlap <= percentage + _TOLERANCE


def _grams(text: str) -> set[str]:
    """Trigrams of characters: the official code passes NLTK the text instead of words."""
    return {text[start : start + _GRAM] for start in range(len(text) - _GRAM + 1)}


COUNTS: Final[Mapping[str, Instruction]] = {
    "count:word_count_range": plain(
        lambda text, *, min_words, max_words: min_words <= len(tokens(text)) <= max_words,
        min_words=COUNT,
        max_words=COUNT,
    ),
    "count:unique_word_count": plain(
        lambda text, *, N: (  # noqa: N803 (the benchmark's name of it)
            len({word.strip(EDGES) for word in text.lower().split()}) >= N
        ),
        N=COUNT,
    ),
    "count:conjunctions": plain(_conjunctions, small_n=COUNT),
    "count:person_names": plain(_person_names, N=COUNT),
    "count:numbers": plain(lambda text, *, N: len(re.findall(r"\d+", bare(text))) == N, N=COUNT),  # noqa: N803
    "count:punctuation": plain(_punctuation),
    "count:pronouns": plain(_pronouns, requires=model, N=COUNT),
    "count:words_japanese": plain(_japanese_words, N=PLACE),
    "count:keywords_multiple": plain(
        _keywords, keyword1=TEXT, keyword2=TEXT, keyword3=TEXT, keyword4=TEXT, keyword5=TEXT
    ),
    "ratio:stop_words": plain(_stop_words, requires=stop_words, percentage=COUNT),
    "ratio:sentence_type": plain(_sentence_types, requires=model),
    "ratio:sentence_balance": plain(lambda text: len(set(_endings(text))) == 1, requires=model),
    "ratio:sentence_words": plain(_sentence_lengths, requires=model),
    "ratio:overlap": plain(_overlap, reference_text=TEXT, percentage=COUNT),
}
