"""Questions of given lengths: prompts, follow-up turns, prefixes, and output tokens."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING, Any, Final

from workloads.dataset import Dataset
from workloads.errors import PromptError
from workloads.synthetic.exact import Counted, counted
from workloads.synthetic.numbers import shuffled
from workloads.synthetic.synthetic_text import MadeSamples, NumberedTexts
from workloads.synthetic.tape import story_tape, tape
from workloads.synthetic.text_length import TOKENS_PER_WORD, Measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workloads.lengths import Lengths
    from workloads.synthetic.corpus import Corpus
    from workloads.synthetic.prefixes import SharedPrefix
    from workloads.synthetic.tape import Tape
    from workloads.synthetic.text_length import TokenCount

DEFAULT_LENGTHS: Final = "130"
"""As many tokens as the prompts have that are made when nothing is said about lengths."""

MOST_MESSAGES: Final = 5_000_000
"""Of a dataset, all turns together."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The specification of the questions.

    Attributes:
        output_tokens: How long each answer may be; None says nothing of it.
        turns: How many questions a conversation has; None makes single ones.
        corpus: What they are cut from; None cuts them from a made-up story.
        seed: The same seed draws the same lengths, and with the same salt the same texts.
        salt: Another salt makes other texts of the same lengths, which no cache of prefixes has.
    """

    count: int
    input_tokens: Lengths
    output_tokens: Lengths | None = None
    turns: Lengths | None = None
    prefix: SharedPrefix | None = None
    corpus: Corpus | None = None
    seed: int = 0
    salt: int = 0


def prompts_to_length(wanted: Wanted, count: TokenCount | None = None) -> Dataset:
    """Make questions of given lengths, or raise `PromptError`. The marks of a chat template do not count.

    `count` counts tokens, so that lengths are exact; without it they are approximate (`TOKENS_PER_WORD`).
    """
    if wanted.count < 1:
        raise PromptError(f"{wanted.count} synthetic prompts cannot be made; ask for at least 1")
    measure = Measure(count)
    paper = tape_of(wanted.corpus, measure)
    firsts = _firsts(wanted)
    tokens = _drawn(wanted, "input", wanted.input_tokens, firsts[-1])
    numbers = shuffled(firsts[-1], seeded(wanted.seed, "numbers"))
    texts = NumberedTexts(paper, numbers, measure.all_units(tokens), salt=wanted.salt)
    checked = counted(texts, tokens, count) if count else Counted()
    samples = MadeSamples(
        texts,
        firsts,
        _drawn(wanted, "output", wanted.output_tokens, firsts[-1]) if wanted.output_tokens else (),
        _prefixes(wanted, paper, measure),
        checked.corrections,
        range(wanted.count),
    )
    return Dataset(
        "synthetic",
        samples,
        _checksum(samples, wanted.prefix),
        synthetic=True,
        facts=_facts(wanted, count, checked),
    )


def tape_of(corpus: Corpus | None, measure: Measure) -> Tape:
    """The text to cut prompts from; raise `PromptError` where it cannot be cut to length, see `Measure`."""
    return story_tape(measure) if corpus is None else tape(corpus.text, measure)


def length_facts(count: TokenCount | None, checked: Counted, corpus: Corpus | None) -> dict[str, Any]:
    """How lengths were counted, for the log."""
    how = {"by": "words", "tokens_per_word": TOKENS_PER_WORD} if count is None else {"by": "tokenizer"}
    facts: dict[str, Any] = {"lengths": how | (checked.facts() if count else {})}
    return facts if corpus is None else {**facts, "corpus": {"name": corpus.name, "sha256": corpus.sha256}}


def seeded(seed: int, purpose: str) -> Random:
    """A random state for each purpose, so that one more option leaves other draws unchanged."""
    return Random(f"{seed}/{purpose}")  # noqa: S311 (reproducible draws, no secrets)


def _drawn(wanted: Wanted, purpose: str, lengths: Lengths, many: int) -> array[int]:
    random = seeded(wanted.seed, purpose)
    return array("Q", (lengths.drawn(random) for _ in range(many)))


def _firsts(wanted: Wanted) -> Sequence[int]:
    if wanted.turns is None:
        return range(wanted.count + 1)
    firsts = array("Q", accumulate(_drawn(wanted, "turns", wanted.turns, wanted.count), initial=0))
    if firsts[-1] > MOST_MESSAGES:
        raise PromptError(
            f"--turns: {wanted.count} conversations have {firsts[-1]} turns together, and at most "
            f"{MOST_MESSAGES} are made: give shorter ones, or fewer --sessions"
        )
    return firsts


def _prefixes(wanted: Wanted, paper: Tape, measure: Measure) -> tuple[str, ...]:
    if wanted.prefix is None:
        return ()
    tokens, groups = wanted.prefix.tokens, wanted.prefix.groups
    numbers = shuffled(groups, seeded(wanted.seed, "prefixes"))
    texts = NumberedTexts(paper, numbers, [measure.units(tokens)] * groups, ends=False, salt=wanted.salt)
    checked = counted(texts, [tokens] * groups, measure.count) if measure.count else Counted()
    return tuple(texts.text(group, *checked.corrections.get(group, ())) for group in range(groups))


def _checksum(samples: MadeSamples, prefix: SharedPrefix | None) -> str:
    """The checksum of the texts' parameters, without the salt, and of the further request settings."""
    texts = samples.texts
    assert isinstance(texts, NumberedTexts)  # noqa: S101 (made here)
    parts: Iterable[object] = (
        *(texts.tape.text, texts.tape.filler, texts.numbers, *texts.units),
        *(*samples.firsts, *samples.outputs, prefix),
    )
    digest = sha256()
    for part in parts:
        digest.update(f"{part}\n".encode())
    return digest.hexdigest()


def _facts(wanted: Wanted, count: TokenCount | None, checked: Counted) -> dict[str, Any]:
    facts = {
        "input_tokens": wanted.input_tokens.spec,
        "output_tokens": wanted.output_tokens and wanted.output_tokens.spec,
        "turns": wanted.turns and wanted.turns.spec,
        "shared_prefix": wanted.prefix and {"tokens": wanted.prefix.tokens, "groups": wanted.prefix.groups},
    }
    present = {name: value for name, value in facts.items() if value is not None}
    return {**present, **length_facts(count, checked, wanted.corpus)}
