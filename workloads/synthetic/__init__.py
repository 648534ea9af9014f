"""Questions that are made up: of a number of words, or to given lengths in tokens."""

from workloads.synthetic.word_prompts import DEFAULT_WORDS, synthetic_prompts

__all__ = ["DEFAULT_WORDS", "synthetic_prompts"]
