"""The bounds of an arrival, and the gaps between chunks."""

from __future__ import annotations

from array import array
from itertools import chain, compress
from operator import eq, sub
from typing import TYPE_CHECKING, Final, NamedTuple

from loadgen.driver.client.compiled import compiled_function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Late(NamedTuple):
    """The bounds on the arrival of a piece that may precede the stamp."""

    since_ns: int  #: it arrived after this moment, ns of CLOCK_MONOTONIC
    #: Whether that holds for all of the piece; else what completes at its end has the right stamp.
    whole: bool


_MAX_GAP_US: Final = 2**32 - 1


def interpreted_gaps_us(moments: list[int], sent_ns: int) -> bytes:
    """The gaps between moments, the first from `sent_ns` on, in the log's form (see `recorder.schema`)."""
    offsets_us = [(at_ns - sent_ns + 500) // 1000 for at_ns in moments]
    gaps: Iterator[int] = map(sub, offsets_us, chain((0,), offsets_us))
    if offsets_us and offsets_us[-1] > _MAX_GAP_US:
        gaps = (min(gap_us, _MAX_GAP_US) for gap_us in gaps)
    return array("I", gaps).tobytes()


def interpreted_coalesced(moments: list[int]) -> int:
    """How many moments occur more than once: reads that held several chunks."""
    later = moments[1:]
    return len(set(compress(later, map(eq, moments, later))))


gaps_us: Callable[[list[int], int], bytes] = compiled_function("gaps_us") or interpreted_gaps_us
coalesced: Callable[[list[int]], int] = compiled_function("coalesced") or interpreted_coalesced
