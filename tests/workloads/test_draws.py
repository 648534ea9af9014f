"""Places drawn at once are those that `Random.random` gives one by one, and leave the same generator."""

from __future__ import annotations

import pickle
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.sample import Sample, examples
from workloads.synthetic import synthetic_prompts
from workloads.synthetic.word_prompts import MAX_SIZE, TextSamples, places

SIZES = st.lists(st.integers(min_value=1, max_value=MAX_SIZE), min_size=1, max_size=6).map(tuple)


@given(seed=st.integers(), sizes=SIZES, count=st.integers(min_value=1, max_value=40))
def test_the_same_as_one_by_one(seed: int, sizes: tuple[int, ...], count: int) -> None:
    """For any sizes, all draws of one before those of the next."""
    at_once, one_by_one = Random(seed), Random(seed)  # noqa: S311 (no secret)
    assert places(at_once, sizes, count) == bytes(
        int(one_by_one.random() * size) for size in sizes for _ in range(count)
    )
    assert at_once.getstate() == one_by_one.getstate()


class Outputs(Random):
    """A generator whose outputs are given: those of 32 bits that `random` and `getrandbits` are made of."""

    def __init__(self, outputs: list[int]) -> None:
        super().__init__()
        self.outputs = outputs

    def getrandbits(self, bits: int) -> int:
        """All of them, the first one lowest."""
        assert bits == 32 * len(self.outputs)
        return sum(output << 32 * place for place, output in enumerate(self.outputs))

    def random(self) -> float:
        """As CPython's `_random.c` makes it of two."""
        first, second, *self.outputs = self.outputs
        return ((first >> 5) * 67108864.0 + (second >> 6)) * (1.0 / 9007199254740992.0)


@given(
    size=st.integers(min_value=1, max_value=MAX_SIZE),
    place=st.integers(min_value=0, max_value=MAX_SIZE),
    off=st.integers(min_value=-3, max_value=3),
    second=st.sampled_from([0, 1, 2**31, 2**32 - 64, 2**32 - 1]) | st.integers(0, 2**32 - 1),
)
def test_where_a_place_begins(size: int, place: int, off: int, second: int) -> None:
    """Draws next to the border between two places, whatever the second output is."""
    border = min(place, size) * 2**27 // size + off
    outputs = [min(max(border, 0), 2**27 - 1) << 5 | 31, second] * 2
    expected = Outputs(outputs)
    assert list(places(Outputs(outputs), (size,), 2)) == [int(expected.random() * size) for _ in range(2)]


def text_samples(count: int) -> TextSamples:
    """Made-up questions."""
    samples = synthetic_prompts(count).samples
    assert isinstance(samples, TextSamples)
    return samples


@pytest.mark.parametrize("part", [slice(None), slice(3), slice(2, 9, 3), slice(None, None, -1)])
def test_made_when_asked_for(part: slice) -> None:
    """Made-up questions are a sequence like any other, also a part of them."""
    samples = text_samples(10)
    whole = tuple(samples)
    assert [sample.index for sample in whole] == list(range(10))
    assert tuple(samples[part]) == whole[part]
    assert pickle.loads(pickle.dumps(samples)) == samples  # noqa: S301 (its own)
    assert samples[part].made() == whole[part]
    assert samples[part].alone().made() == whole[part]
    with pytest.raises(IndexError):
        samples[10]


def test_what_is_not_asked_stays_behind() -> None:
    """The first questions travel without the texts of the others."""
    assert len(text_samples(10)[:3].alone().texts) == 3
    assert not text_samples(10)[10:].alone().texts


def test_one_stands_for_all() -> None:
    """Checks that look at each kind of question look at one."""
    samples = synthetic_prompts(1000).samples
    assert examples(samples) == (samples[0],)
    assert isinstance(samples[0], Sample)
