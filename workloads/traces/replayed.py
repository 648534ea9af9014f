"""The questions of a trace: prompts and answers of the recorded lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lazy_dataclasses import dataclass
from workloads.dataset import Dataset
from workloads.synthetic.synthetic_text import MadeSamples, NumberedTexts, shuffled
from workloads.synthetic.text_length import Counted, Measure, counted, words_of
from workloads.synthetic.to_length import length_facts, seeded, source_text

if TYPE_CHECKING:
    from workloads.synthetic.cyclic_text import CyclicText
    from workloads.synthetic.text_length import Texts, TokenCount
    from workloads.synthetic.to_length import Corpus
    from workloads.traces.replayed_part import Trace


@dataclass(frozen=True, slots=True)
class BlockTexts:
    """Texts in blocks: a block's text depends only on the block id, so prompts share texts like blocks.

    Attributes:
        source: What they are cut from.
        trace: Says which blocks each has.
        in_words: Whether the source's unit is a word; it is a token else.
        shift: Added to each id, so that another seed makes other texts.
        salt: See `CyclicText.numbered`.
    """

    source: CyclicText
    trace: Trace
    in_words: bool
    shift: int
    salt: int = 0

    def text(self, message: int, less: int = 0, fillers: int = 0) -> str:
        """See `Texts`."""
        first, end = self.trace.first_blocks[message], self.trace.first_blocks[message + 1]
        left, texts = self.trace.inputs[message], []
        for block in range(first, end):
            tokens = min(left, self.trace.block_tokens)
            left -= tokens
            number = self.trace.blocks[block] + self.shift
            units = (words_of(tokens) if self.in_words else tokens) - (0 if left else less)
            texts.append(self.source.numbered(number, units, first=block == first, salt=self.salt))
        return ("".join(texts) + fillers * self.source.filler).lstrip()


def questions(
    trace: Trace, seed: int, count: TokenCount | None = None, corpus: Corpus | None = None, salt: int = 0
) -> Dataset:
    """Make the questions of a trace.

    Args:
        trace: Arrival times, and the lengths of prompts and answers.
        seed: The same seed makes the same texts.
        count: Counts tokens, so that lengths are exact; without it they are approximate.
        corpus: What the texts are cut from; None cuts them from a made-up story.
        salt: Another salt makes other texts, which share as many blocks.

    Raises:
        PromptError: They cannot be made with this tokenizer.
    """
    measure = Measure(count)
    texts = _texts(trace, seed, salt, source_text(corpus, measure), measure)
    checked = counted(texts, trace.inputs, count) if count else Counted()
    many = len(trace.inputs)
    samples = MadeSamples(texts, range(many + 1), trace.outputs, (), checked.corrections, range(many))
    facts = {
        "trace": {
            "format": trace.format,
            "unit": trace.unit,
            "block_tokens": trace.block_tokens if trace.blocks else None,
            "requests": many,
            "span_s": trace.offsets_ns[-1] / 1e9,
            "whole": trace.is_whole,
        },
        **trace.left_out.facts(),
        **length_facts(count, checked, corpus),
    }
    return Dataset(
        *(trace.name, samples, trace.sha256), synthetic=False, offsets_ns=trace.offsets_ns, facts=facts
    )


def _texts(trace: Trace, seed: int, salt: int, source: CyclicText, measure: Measure) -> Texts:
    random = seeded(seed, "numbers")
    if trace.blocks:
        return BlockTexts(source, trace, measure.count is None, random.randrange(1_000, 1_000_000), salt)
    return NumberedTexts(
        source, shuffled(len(trace.inputs), random), measure.all_units(trace.inputs), salt=salt
    )
