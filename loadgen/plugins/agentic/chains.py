"""Chains of requests: the agents of a trace that was flattened into one list of requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from loadgen.plugins.agentic.block_store import common_length

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_SEAM_NS: Final = 3_600_000_000_000
"""A prompt that is rewritten after a longer pause is another chain."""

LEAST_OVERLAP: Final = 0.5
"""The share of the tail, or of the chain's first prompt, that a prompt of the chain must begin with."""


@dataclass(frozen=True, slots=True)
class ChainLink:
    """A request of an agent.

    Attributes:
        start_ns: When it began.
        end_ns: When it ended.
        blocks: The ids of its blocks.
        model: Its model.
    """

    start_ns: int
    end_ns: int
    blocks: Sequence[int]
    model: str


def chains_of(links: Sequence[ChainLink]) -> list[list[int]]:
    """The requests of an agent as chains of request numbers, the main chain first.

    A request extends a chain of its model whose tail had ended, if its blocks extend those of the tail, of
    which the end may be rewritten. A prompt that keeps less of the tail, yet most of the chain's first
    prompt, is a compaction, unless a later request uses the longer state: then it is a fork.

    Args:
        links: The requests by start.
    """
    chains: list[list[int]] = []
    for number in range(len(links)):
        best, longest = None, -1
        for chain in chains:
            shared = _shared(links, chain, number)
            if shared is not None and shared > longest:
                best, longest = chain, shared
        if best is None:
            chains.append([number])
        else:
            best.append(number)
    return chains


def _shared(links: Sequence[ChainLink], chain: Sequence[int], number: int) -> int | None:
    """The number of blocks that a request keeps of a chain's tail; None for a request of another chain."""
    link, tail = links[number], links[chain[-1]]
    if tail.model != link.model or tail.end_ns > link.start_ns:
        return None
    shared = common_length(tail.blocks, link.blocks)
    if shared == len(tail.blocks):
        return shared
    opening = links[chain[0]].blocks
    if shared < LEAST_OVERLAP * min(len(opening), len(link.blocks)):
        return None
    is_rewritten = shared < LEAST_OVERLAP * len(tail.blocks)
    if is_rewritten and link.start_ns - tail.end_ns > LONGEST_SEAM_NS:
        return None
    dropped = tail.blocks[shared]
    is_used_again = any(
        len(later.blocks) > shared and later.blocks[shared] == dropped for later in links[number + 1 :]
    )
    return None if is_used_again else shared
