"""Made-up questions, for when no file is named.

They are readable, the same for the same seed, and no two are alike from the first word on, so that a server's
prefix cache cannot answer one with the work that it did for another.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from random import Random
from struct import iter_unpack
from typing import Final, overload

from lazy_dataclasses import dataclass
from workloads.dataset import Dataset
from workloads.errors import PromptError
from workloads.sample import Sample


@dataclass(frozen=True, slots=True)
class TextSamples(Sequence[Sample]):
    """A sequence of questions, each made at access."""

    texts: Sequence[str]
    places: Sequence[int]

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, place: int) -> Sample: ...
    @overload
    def __getitem__(self, place: slice) -> TextSamples: ...
    def __getitem__(self, place: int | slice) -> Sample | TextSamples:
        if isinstance(place, slice):
            return TextSamples(self.texts, self.places[place])
        index = self.places[place]
        return Sample(index, self.texts[index])

    def examples(self) -> tuple[Sample, ...]:
        """One question: other questions differ only in texts."""
        return (self[0],)

    def alone(self) -> TextSamples:
        """The questions without follow-up turns."""
        return TextSamples(self.texts[: max(self.places, default=-1) + 1], self.places)

    def made(self) -> tuple[Sample, ...]:
        """All questions, made once, for repeated access."""
        return tuple(map(Sample, self.places, map(self.texts.__getitem__, self.places)))


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

_WORDS: Final = (_ADJECTIVES, _NOUNS, _ADVERBS, _VERBS, _NOUNS, _PLACES)
"""What each sentence takes one of, in this order."""

_SIZES: Final = tuple(map(len, _WORDS))
_OTHERS: Final = range(1, len(_WORDS))

_WHOSE: Final = tuple(f"The {word} " for word in _ADJECTIVES)
_WHO: Final = tuple(f"{word} " for word in _NOUNS)
_HOW: Final = tuple(f"{word} " for word in _ADVERBS)
_DID: Final = tuple(f"{word} the " for word in _VERBS)
_WHERE: Final = tuple(f"of the {word}." for word in _PLACES)
"""The pieces of a sentence, with the words between them."""

OPENING_WORDS: Final = 8
"""The words of a story's first sentence, its number included."""

SENTENCE_WORDS: Final = 10


def synthetic_prompts(count: int, words: int = DEFAULT_WORDS, seed: int = 0, salt: int = 0) -> Dataset:
    """Make up questions: the start of a story, and the request to continue the story.

    Raises:
        PromptError: `count` or `words` is less than 1.
    """
    if count < 1 or words < 1:
        raise PromptError(
            f"{count} synthetic prompts of {words} words cannot be made; ask for at least 1 of each"
        )
    random = Random(f"{seed}/{salt}" if salt else seed)  # noqa: S311 (reproducible text, not a secret)
    # The number is the first word, and each is drawn once: that alone makes the prompts distinct.
    numbers = random.sample(range(1_000, 10_000 + 10 * count), count)
    texts = [_text(random, number, words) for number in numbers]
    samples = TextSamples(texts, range(count))
    content = f"{count}/{words}/{seed}" if salt else "\n".join(texts)
    return Dataset("synthetic", samples, sha256(content.encode()).hexdigest(), synthetic=True)


def _text(random: Random, number: int, words: int) -> str:
    opening = f"{number} {_opening(random)}"
    is_short = words < SENTENCE_WORDS + len(REQUEST)
    whole, left = divmod((words if is_short else words - len(REQUEST)) - OPENING_WORDS, SENTENCE_WORDS)
    following = sentences(random, 1 + words // SENTENCE_WORDS, made=whole + 1)
    if whole < 0:
        return " ".join(opening.split()[:words])
    # Sentences have a known length: only the last one is taken apart, in whose middle it may end.
    last = following[whole].split()[:left] if left else ()
    story = " ".join((opening, *following[:whole], *last))
    return story if is_short else f"{story.rstrip('.')}. {_REQUESTED}"


def _opening(random: Random) -> str:
    adjective, other = random.choices(_ADJECTIVES, k=2)
    things, place = random.choice(_THINGS), random.choice(_PLACES)
    return f"{adjective} {things} disappeared from the {other} {place}."


def sentences(random: Random, count: int, made: int | None = None) -> list[str]:
    """Make sentences of `SENTENCE_WORDS` words each; first all adjectives are drawn, then all nouns."""
    drawn = places(random, _SIZES, count)
    first = drawn[: count if made is None else made]
    following = [drawn[kind * count :] for kind in _OTHERS]
    return [
        f"{_WHOSE[adjective]}{_WHO[noun]}{_HOW[adverb]}{_DID[verb]}{_WHO[other]}{_WHERE[place]}"
        for adjective, noun, adverb, verb, other, place in zip(first, *following, strict=False)
    ]


MAX_SIZE: Final = 255
"""The largest size that places are drawn for."""

_LANE_BYTES: Final = 8
_LANE: Final = 8 * _LANE_BYTES
"""The bits that one `random()` takes: two outputs of the generator, of 32 bits each."""

_HEAD: Final = 0xFFFF_FFE0
"""The bits kept of the first draw: 27 of 53."""

_SPARE: Final = 5
"""The number of bits dropped of the first draw."""

_REST: Final = 26
"""The number of bits kept of the second draw: the first ones."""


def places(random: Random, sizes: tuple[int, ...], count: int) -> bytes:
    """Draw `int(random.random() * size)` `count` times for each size, one size after the other.

    The generator is left where single draws leave it. All of them are lanes of one long number, which C
    multiplies in a third of the time. The first 27 bits of a draw decide its place, unless another place
    begins before the next number of 27 bits: then the other bits may matter, or how a product is rounded.
    """
    heads, step, whole, lanes = _lanes(sizes, count)
    drawn, least = random.getrandbits(_LANE * lanes), 0
    for size, head in heads:
        least += (drawn & head) * size
    if (least ^ (least + step)) & whole:
        outputs = iter_unpack("<II", drawn.to_bytes(_LANE_BYTES * lanes, "little"))
        return bytes(
            _place(first, second, sizes[lane // count]) for lane, (first, second) in enumerate(outputs)
        )
    return least.to_bytes(_LANE_BYTES * lanes, "little")[_LANE_BYTES // 2 :: _LANE_BYTES]


@cache
def _lanes(sizes: tuple[int, ...], count: int) -> tuple[Sequence[tuple[int, int]], int, int, int]:
    """The parameters and the number of the lanes.

    Of each size the bits that are kept in its lanes; what one more of these adds to a product; and where
    places are.
    """
    heads = [
        (size, _number([_HEAD * (other == size) for other in sizes], count)) for size in dict.fromkeys(sizes)
    ]
    step = _number([size << _SPARE for size in sizes], count)
    return heads, step, _number([MAX_SIZE << _LANE // 2 for _ in sizes], count), len(sizes) * count


def _number(values: Sequence[int], count: int) -> int:
    """A long number of lanes, `count` lanes for each value."""
    lanes = b"".join(value.to_bytes(_LANE_BYTES, "little") * count for value in values)
    return int.from_bytes(lanes, "little")


def _place(first: int, second: int, size: int) -> int:
    return int(((first >> _SPARE << _REST) + (second >> 32 - _REST)) / 2 ** (32 - _SPARE + _REST) * size)
