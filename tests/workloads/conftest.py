"""Tokenizers of each kind that there is, small and made here: no test needs a network."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

from workloads.synthetic import synthetic_prompts

if TYPE_CHECKING:
    from collections.abc import Callable

_LETTERS = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
"""Words with the white space before them, punctuation with the line ends after it: as Llama 3 and Qwen do."""


@cache
def _texts() -> list[str]:
    return [sample.prompt for sample in synthetic_prompts(60).samples]


def _byte_level(before: pre_tokenizers.PreTokenizer, words: int) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = before
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=words, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(_texts(), trainer)
    return tokenizer


def _like_gpt2() -> Tokenizer:
    return _byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False), 450)


def _like_llama3() -> Tokenizer:
    split = pre_tokenizers.Split(Regex(_LETTERS), "isolated")
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return _byte_level(pre_tokenizers.Sequence([split, level]), 800)


def _like_t5() -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    special = {"unk_token": "<unk>", "special_tokens": ["<unk>"]}
    tokenizer.train_from_iterator(
        _texts(), trainers.UnigramTrainer(vocab_size=600, show_progress=False, **special)
    )
    return tokenizer


def _like_llama2() -> Tokenizer:
    """Nothing cuts the text: tokens may go from one word to the next."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))  # noqa: S106 (no password)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    trainer = trainers.BpeTrainer(
        vocab_size=600, special_tokens=["<unk>"], max_token_length=12, show_progress=False
    )
    tokenizer.train_from_iterator(_texts(), trainer)
    return tokenizer


def _words() -> Tokenizer:
    """A token a word: what the mock endpoint counts too."""
    tokenizer = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))  # noqa: S106 (no password)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


KINDS = {
    "gpt2": _like_gpt2,
    "llama3": _like_llama3,
    "t5": _like_t5,
    "llama2": _like_llama2,
    "words": _words,
}


@pytest.fixture(scope="session", params=KINDS)
def count(request: pytest.FixtureRequest) -> Callable[[str], int]:
    """What counts the tokens of a text, by a tokenizer of each kind."""
    tokenizer = KINDS[request.param]()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False))
