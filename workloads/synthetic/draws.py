"""Bulk drawing, equal to one-by-one draws of `Random`: ten thousand prompts take almost a million words."""

from __future__ import annotations

from functools import cache
from struct import iter_unpack
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

MAX_SIZE: Final = 255
"""The largest size that places are drawn for."""

_LANE_BYTES: Final = 8
_LANE: Final = 8 * _LANE_BYTES
"""The bits that one `random()` takes: two outputs of the generator, of 32 bits each."""

_HEAD: Final = 0xFFFF_FFE0
"""The bits that it keeps of the first one: the first 27 of its 53."""

_SPARE: Final = 5
"""How many it drops of the first one."""

_REST: Final = 26
"""How many it keeps of the second one: the first of its bits."""


def places(random: Random, sizes: tuple[int, ...], count: int) -> bytes:
    """Draw `int(random.random() * size)` `count` times for each size, one size after the other.

    The generator is left where single draws leave it. All of them are lanes of one long number, which C
    multiplies in a third of the time. The first 27 bits of a draw decide its place, unless another place
    begins before the next number of 27 bits: then the other bits may matter, or how a product is rounded.

    Args:
        random: The generator.
        sizes: Each from 1 to `MAX_SIZE`.
        count: How many are drawn for each.
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
