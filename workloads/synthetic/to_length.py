"""Questions of given lengths: prompts, follow-up turns, prefixes, and output tokens."""

from __future__ import annotations

import re
from array import array
from hashlib import sha256
from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from workloads.dataset import Dataset
from workloads.errors import MalformedError, PromptError, SourceError
from workloads.lengths import MOST_TOKENS
from workloads.sources import read_stored
from workloads.synthetic.cyclic_text import cyclic_text, made_up_text
from workloads.synthetic.synthetic_text import MadeSamples, NumberedTexts, shuffled
from workloads.synthetic.text_length import TOKENS_PER_WORD, Counted, Measure, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from workloads.lengths import Lengths
    from workloads.synthetic.cyclic_text import CyclicText
    from workloads.synthetic.text_length import TokenCount

DEFAULT_LENGTHS: Final = "130"
"""As many tokens as the prompts have that are made when nothing is said about lengths."""

MOST_MESSAGES: Final = 5_000_000
"""Of a dataset, all turns together."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The specification of the questions."""

    count: int
    input_tokens: Lengths
    output_tokens: Lengths | None = None  #: how long each answer may be; None says nothing of it
    turns: Lengths | None = None  #: how many questions a conversation has; None makes single ones
    prefix: SharedPrefix | None = None
    corpus: Corpus | None = None  #: what they are cut from; None cuts them from a made-up story
    seed: int = 0  #: the same seed draws the same lengths, and with the same salt the same texts
    salt: int = 0  #: another salt makes other texts of the same lengths, which no cache of prefixes has


def prompts_to_length(wanted: Wanted, count: TokenCount | None = None) -> Dataset:
    """Make questions of given lengths, or raise `PromptError`. The marks of a chat template do not count.

    `count` counts tokens, so that lengths are exact; without it they are approximate (`TOKENS_PER_WORD`).
    """
    if wanted.count < 1:
        raise PromptError(f"{wanted.count} synthetic prompts cannot be made; ask for at least 1")
    measure = Measure(count)
    source = source_text(wanted.corpus, measure)
    firsts = _firsts(wanted)
    tokens = _drawn(wanted, "input", wanted.input_tokens, firsts[-1])
    numbers = shuffled(firsts[-1], seeded(wanted.seed, "numbers"))
    texts = NumberedTexts(source, numbers, measure.all_units(tokens), salt=wanted.salt)
    checked = counted(texts, tokens, count) if count else Counted()
    samples = MadeSamples(
        texts,
        firsts,
        _drawn(wanted, "output", wanted.output_tokens, firsts[-1]) if wanted.output_tokens else (),
        _prefixes(wanted, source, measure),
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


def source_text(corpus: Corpus | None, measure: Measure) -> CyclicText:
    """The text to cut prompts from; raise `PromptError` where no length is possible, see `Measure`."""
    return made_up_text(measure) if corpus is None else cyclic_text(corpus.text, measure)


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


def _prefixes(wanted: Wanted, source: CyclicText, measure: Measure) -> tuple[str, ...]:
    if wanted.prefix is None:
        return ()
    tokens, groups = wanted.prefix.tokens, wanted.prefix.groups
    numbers = shuffled(groups, seeded(wanted.seed, "prefixes"))
    texts = NumberedTexts(source, numbers, [measure.units(tokens)] * groups, ends=False, salt=wanted.salt)
    checked = counted(texts, [tokens] * groups, measure.count) if measure.count else Counted()
    return tuple(texts.text(group, *checked.corrections.get(group, ())) for group in range(groups))


def _checksum(samples: MadeSamples, prefix: SharedPrefix | None) -> str:
    """The checksum of the texts' parameters, without the salt, and of the further request settings."""
    texts = samples.texts
    assert isinstance(texts, NumberedTexts)  # noqa: S101 (made here)
    parts: Iterable[object] = (
        *(texts.source.text, texts.source.filler, texts.numbers, *texts.units),
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


MOST_GROUPS: Final = 100_000
MOST_TOGETHER: Final = 50_000_000
"""Tokens of all prefixes of a run: they are kept in memory."""

_SPEC: Final = re.compile(r"(\d{1,9})(?:x(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """Prompts in groups, with a shared prefix for each group."""

    tokens: int
    groups: int = 1


def shared_prefix(option: str, spec: str) -> SharedPrefix:
    """Read `TOKENS` or `TOKENSxGROUPS`; raise `PromptError` for anything else, or too much."""
    match = _SPEC.fullmatch(spec.strip())
    if match is None:
        raise PromptError(f"{option} {spec!r}: write TOKENS, or TOKENSxGROUPS, e.g. 500 or 500x8")
    tokens, groups = int(match[1]), int(match[2] or 1)
    if not (1 <= tokens <= MOST_TOKENS and 1 <= groups <= MOST_GROUPS):
        raise PromptError(
            f"{option} {spec!r}: tokens must be from 1 to {MOST_TOKENS}, groups from 1 to {MOST_GROUPS}"
        )
    if tokens * groups > MOST_TOGETHER:
        raise PromptError(
            f"{option} {spec!r}: more than {MOST_TOGETHER} tokens together; ask for fewer groups"
        )
    return SharedPrefix(tokens, groups)


MOST_BYTES: Final = 64 * 2**20
"""More text than that is not read: prompts cut from it would hardly be more different."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """One."""

    name: str
    text: str
    sha256: str


def read_corpus(path: Path) -> Corpus:
    """Read a file of UTF-8 text; raise `PromptError` for one without words, or as `read_stored`."""
    stored = read_stored(path)
    if len(stored) > MOST_BYTES:
        raise SourceError(f"{path}: more than {MOST_BYTES} bytes, which is too large; name a part of it")
    try:
        text = stored.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = stored.count(b"\n", 0, error.start) + 1
        raise MalformedError(f"{path}, line {line}: not UTF-8; save the file as plain UTF-8 text") from error
    if not text.strip():
        raise PromptError(f"{path}: contains no word to cut prompts from")
    return Corpus(path.name, text, sha256(stored).hexdigest())
