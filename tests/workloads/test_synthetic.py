"""Made-up prompts are distinct, as long as was asked for, and the same for the same seed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.errors import PromptError
from workloads.synthetic import synthetic_prompts

LENGTHS = st.integers(min_value=1, max_value=300)
COUNTS = st.integers(min_value=1, max_value=30)
SEEDS = st.integers(min_value=0, max_value=2**64)


@given(count=COUNTS, words=LENGTHS, seed=SEEDS)
def test_as_many_and_as_long_as_asked(count: int, words: int, seed: int) -> None:
    """There are exactly this many prompts of exactly this many words, numbered in order."""
    dataset = synthetic_prompts(count, words, seed)
    assert [sample.index for sample in dataset.samples] == list(range(count))
    assert {len(sample.prompt.split(" ")) for sample in dataset.samples} == {words}
    assert {sample.system for sample in dataset.samples} == {None}


@given(count=COUNTS, words=LENGTHS, seed=SEEDS)
def test_no_two_begin_alike(count: int, words: int, seed: int) -> None:
    """The first word of each prompt is its own, so that a prefix cache helps with none."""
    dataset = synthetic_prompts(count, words, seed)
    assert len({sample.prompt.split(" ")[0] for sample in dataset.samples}) == count


@given(words=LENGTHS, seed=SEEDS)
def test_seed_decides(words: int, seed: int) -> None:
    """The same seed makes the same dataset, another seed another one."""
    assert synthetic_prompts(5, words, seed) == synthetic_prompts(5, words, seed)
    assert synthetic_prompts(5, words, seed).sha256 != synthetic_prompts(5, words, seed + 1).sha256


def test_what_they_say_is_pinned() -> None:
    """A run can be repeated with another version of Python or of this program."""
    dataset = synthetic_prompts(1000)
    assert dataset.name == "synthetic"
    assert dataset.synthetic
    assert dataset.sha256 == "ec3f43a48b58cefa94502745a1fbba987017d19c24285ad4ca182bb5959d26fe"
    assert synthetic_prompts(1, words=20, seed=7).samples[0].prompt == (
        "6305 simple baskets disappeared from the golden bridge. "
        "The rapid singer mostly blamed the miner. Continue the story at length."
    )


@pytest.mark.parametrize(("count", "words"), [(0, 10), (10, 0)])
def test_nothing_cannot_be_made(count: int, words: int) -> None:
    """No prompts, or prompts of no words, are refused in a sentence."""
    with pytest.raises(PromptError, match="ask for at least 1 of each"):
        synthetic_prompts(count, words)


def test_another_salt_makes_other_questions() -> None:
    """Of the same length; the checksum says that both are the same choice."""
    first, second = (synthetic_prompts(50, salt=salt) for salt in (1, 2))
    assert first.sha256 == second.sha256
    assert first == synthetic_prompts(50, salt=1)
    begun = [{sample.prompt[:30] for sample in dataset.samples} for dataset in (first, second)]
    assert not begun[0] & begun[1]
    assert {len(sample.prompt.split()) for sample in (*first.samples, *second.samples)} == {100}
