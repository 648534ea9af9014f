"""Instructions of IFBench about words and sentences: `words:…` and `sentence:…`."""

from __future__ import annotations

import re
import string
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.english import model, sentences, words
from loadgen.plugins.evals.grading.ifbench.nltk_packages import syllables, tagger
from loadgen.plugins.evals.grading.ifbench.text import EDGES, bare
from loadgen.plugins.evals.grading.instruction import COUNT, PLACE, TEXT, Instruction, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

_PRIMES: Final = frozenset(
    number for number in range(2, 100) if all(number % divisor for divisor in range(2, number))
)
_CLUSTER: Final = re.compile(r"[bcdfghjklmnpqrstvwxyz]{2}")
_VOWELS: Final = 3
_PALINDROMES: Final = 10
_LONG: Final = 5


def _alphabet(text: str) -> bool:
    listed = bare(text).split()
    if not listed:
        return False
    place = string.ascii_lowercase.find(listed[0][0].lower())
    if place < 0:
        return False
    letters = string.ascii_lowercase * (1 + (place + len(listed)) // len(string.ascii_lowercase))
    return all(
        word.lower()[0] == letter
        for word, letter in zip(listed[1:], letters[place + 1 : place + len(listed)], strict=True)
    )


def _vowels(text: str) -> bool:
    text = text.strip().lower()
    return "\n" not in text and len(set(text) & set("aeiou")) <= _VOWELS


def _palindromes(text: str) -> bool:
    listed = bare(text).lower().split()
    return sum(len(word) >= _LONG and word == word[::-1] for word in listed) >= _PALINDROMES


def _start_verb(text: str) -> bool:
    tagged = tagger().tag(words(text))
    return bool(tagged) and "VB" in tagged[0][1]


def _odd_even_syllables(text: str) -> bool:
    count = syllables().count
    return all(
        count(before) % 2 != count(after) % 2 for before, after in pairwise(bare(text).lower().split())
    )


def _last_first(text: str) -> bool:
    for before, after in pairwise(sentences(text)):
        last, first = before.rstrip(EDGES).split()[-1:], after.lstrip(EDGES).split()[:1]
        if not last or not first or last[0].lower() != first[0].lower():
            return False
    return True


def _paragraph_last_first(text: str) -> bool:
    paragraphs = (line.strip().lower().strip(EDGES).split() for line in text.split("\n"))
    return all(listed[0] == listed[-1] for listed in paragraphs if listed)


def _specific_position(text: str, *, keyword: str, n: int, m: int) -> bool:
    listed = sentences(text)
    if len(listed) < n:
        return False
    spoken = [word for word in words(listed[int(n) - 1]) if any(map(str.isalnum, word))]
    return len(spoken) >= m and spoken[int(m) - 1].lower() == keyword.strip().lower()


def _second_and_second_last(text: str, *, keyword: str) -> bool:
    listed = [word.lower() for word in words(text)]
    # Officially a substring of the marks, as "." and also the empty one and "!\"" are.
    last = 3 if listed and listed[-1] in string.punctuation else 2
    return len(listed) >= last and listed[1] == listed[-last] == keyword.strip().lower()


def _alliteration(text: str) -> bool:
    lengths = [_alliterating(sentence) for sentence in sentences(text)]
    return all(before < after for before, after in pairwise(lengths))


def _alliterating(sentence: str) -> int:
    """The number of words next to a word with an equal first letter, as in the official code."""
    firsts = [word[0] for word in (word.lstrip(EDGES) for word in sentence.lower().split()) if word]
    alike = [before == after for before, after in pairwise(firsts)]
    return sum(alike) + sum(now and not before for before, now in pairwise([False, *alike]))


def _keyword_in_sentence(text: str, *, word: str, N: float) -> bool:  # noqa: N803 (the benchmark's name of it)
    listed = sentences(text)
    pattern = rf"\b{re.escape(word)}\b"
    return len(listed) >= N and re.search(pattern, listed[int(N) - 1], re.IGNORECASE) is not None


def _increment(text: str, *, small_n: float) -> bool:
    counts = [len(bare(sentence).split()) for sentence in sentences(text)]
    return all(after == before + small_n for before, after in pairwise(counts))


WORDS: Final[Mapping[str, Instruction]] = {
    "words:alphabet": plain(_alphabet),
    "words:vowel": plain(_vowels),
    "words:consonants": plain(lambda text: all(_CLUSTER.search(word) for word in text.lower().split())),
    "words:palindrome": plain(_palindromes),
    "words:prime_lengths": plain(lambda text: all(len(word) in _PRIMES for word in bare(text).split())),
    "words:start_verb": plain(_start_verb, requires=tagger),
    "words:repeats": plain(
        lambda text, *, small_n: max(Counter(bare(text.lower()).split()).values(), default=0) <= small_n,
        small_n=COUNT,
    ),
    "words:odd_even_syllables": plain(_odd_even_syllables, requires=syllables),
    "words:last_first": plain(_last_first, requires=model),
    "words:paragraph_last_first": plain(_paragraph_last_first),
    "words:no_consecutive": plain(
        lambda text: all(before[0] != after[0] for before, after in pairwise(bare(text.lower()).split()))
    ),
    "words:keywords_specific_position": plain(
        _specific_position, requires=model, keyword=TEXT, n=PLACE, m=PLACE
    ),
    "words:words_position": plain(_second_and_second_last, requires=model, keyword=TEXT),
    "sentence:alliteration_increment": plain(_alliteration, requires=model),
    "sentence:keyword": plain(_keyword_in_sentence, requires=model, word=TEXT, N=PLACE),
    "sentence:increment": plain(_increment, requires=model, small_n=COUNT),
}
