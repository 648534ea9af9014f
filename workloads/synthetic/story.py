"""Made-up questions, for when no file is named.

They are readable, the same for the same seed, and no two are alike from the first word on, so that a server's
prefix cache cannot answer one with the work that it did for another.
"""

from __future__ import annotations

from hashlib import sha256
from itertools import repeat
from random import Random
from typing import TYPE_CHECKING, Final

from workloads.dataset import Dataset
from workloads.errors import PromptError
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_WORDS: Final = 100
"""About 130 tokens with the usual tokenizers."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_ADJECTIVES: Final = _words(
    "amber ancient bitter bright broken busy careful clever cold curious distant dusty early empty famous "
    "faint gentle golden grey heavy hidden hollow honest iron late little lonely loud lucky narrow "
    "northern old patient plain proud quiet rapid rough rusty secret sharp silver simple sleepy slow"
)
_NOUNS: Final = _words(
    "actor baker barber boatman builder captain carpenter clerk cook dancer doctor driver editor engineer "
    "farmer fisher gardener guard guide hunter inventor jeweller judge keeper librarian mason merchant "
    "miller miner nurse officer painter pilot pianist poet porter potter printer sailor scholar singer "
    "smith soldier tailor teacher"
)
_ADVERBS: Final = _words(
    "again almost boldly briefly calmly carefully eagerly finally gladly gravely happily hastily idly "
    "kindly lately merely mostly nearly never often openly partly politely promptly quickly quietly "
    "rarely sadly safely secretly seldom silently slowly softly soon suddenly sweetly swiftly twice "
    "warmly"
)
_VERBS: Final = _words(
    "admired answered blamed called carried chased counted described drew envied followed forgave found "
    "greeted guarded helped hid invited joined judged knew left liked lost met missed mocked named needed "
    "noticed obeyed painted paid praised recalled saw searched served sold startled taught thanked "
    "trusted visited warned"
)
_THINGS: Final = _words(
    "anchors apples barrels baskets bells blankets bottles bricks buttons cables candles carpets chairs "
    "clocks coins drums engines feathers flags gardens hammers islands journals kettles keys ladders "
    "lamps lanterns letters maps mirrors needles oars orchards paintings pianos ropes saddles shells "
    "spoons stamps tables tickets violins wheels"
)
_PLACES: Final = _words(
    "abbey airport alley bakery bridge canal castle cellar chapel cliff courtyard desert factory ferry "
    "forest fountain garden harbour hospital hotel island kitchen lake library lighthouse market meadow "
    "mill monastery mountain museum observatory orchard palace port quarry river school square station "
    "tavern theatre tower tunnel valley"
)
REQUEST: Final = _words("Continue the story at length.")
"""What every story ends with."""

_REQUESTED: Final = " ".join(REQUEST)

OPENING_WORDS: Final = 8
"""The words of a story's first sentence, its number included."""

SENTENCE_WORDS: Final = 10


def synthetic_prompts(count: int, words: int = DEFAULT_WORDS, seed: int = 0) -> Dataset:
    """Make up questions: the start of a story, and the request to continue it.

    Args:
        count: How many.
        words: Length of each, in words; English has about 1.3 tokens a word.
        seed: The same seed makes the same questions.

    Raises:
        PromptError: `count` or `words` is less than 1.
    """
    if count < 1 or words < 1:
        raise PromptError(
            f"{count} synthetic prompts of {words} words cannot be made; ask for at least 1 of each"
        )
    random = Random(seed)  # noqa: S311 (reproducible text, not a secret)
    # The number is the first word, and each is drawn once: that alone makes the prompts distinct.
    numbers = random.sample(range(1_000, 10_000 + 10 * count), count)
    texts = [_text(random, number, words) for number in numbers]
    samples = tuple(Sample(index, text) for index, text in enumerate(texts))
    return Dataset("synthetic", samples, sha256("\n".join(texts).encode()).hexdigest(), synthetic=True)


def _text(random: Random, number: int, words: int) -> str:
    opening = f"{number} {_opening(random)}"
    following = sentences(random, 1 + words // SENTENCE_WORDS)
    if words < SENTENCE_WORDS + len(REQUEST):
        return _cut(opening, following, words)
    # It may end in the middle of a sentence.
    story = _cut(opening, following, words - len(REQUEST)).rstrip(".")
    return f"{story}. {_REQUESTED}"


def _cut(opening: str, following: Sequence[str], words: int) -> str:
    """The first words of an opening and the sentences that follow it."""
    whole, left = divmod(words - OPENING_WORDS, SENTENCE_WORDS)
    if whole < 0:
        return " ".join(opening.split()[:words])
    # Sentences have a known length: only the last one is taken apart.
    last = following[whole].split()[:left] if left else ()
    return " ".join((opening, *following[:whole], *last))


def _opening(random: Random) -> str:
    adjective, other = random.choices(_ADJECTIVES, k=2)
    things, place = random.choice(_THINGS), random.choice(_PLACES)
    return f"{adjective} {things} disappeared from the {other} {place}."


def sentences(random: Random, count: int) -> list[str]:
    """Make sentences of `SENTENCE_WORDS` words each."""
    drawn = [
        _choices(random, words, count) for words in (_ADJECTIVES, _NOUNS, _ADVERBS, _VERBS, _NOUNS, _PLACES)
    ]
    return [
        f"The {adjective} {noun} {adverb} {verb} the {other} of the {place}."
        for adjective, noun, adverb, verb, other, place in zip(*drawn, strict=True)
    ]


def _choices(random: Random, words: Sequence[str], count: int) -> list[str]:
    """What `Random.choices` draws, in half its time: ten thousand prompts take almost a million words."""
    draw, size = random.random, float(len(words))
    return [words[int(draw() * size)] for _ in repeat(None, count)]
