"""Chains of requests: the agents of a trace that was flattened into one list of requests."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from loadgen.plugins.agentic.block_store import common_length

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.plugins.agentic.recorded import RecordedTurn

LONGEST_SEAM_NS: Final = 3_600_000_000_000
"""A prompt that is rewritten after a longer pause is another chain."""

LEAST_OVERLAP: Final = 0.5
"""The share of the tail, or of the chain's first prompt, that a prompt of the chain must begin with."""

SHORT_PROMPT: Final = 16_384
SHORT_SHARE: Final = 0.1
"""Of the longest prompt of the main chain. These bounds of labels are AIPerf's."""

SHORT_ANSWER: Final = 4_000
REDUCED: Final = 20
"""Tokens of the prompt for each of the answer."""

LEAST_WORKERS: Final = 3


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


def labels_of(chains: Sequence[Sequence[RecordedTurn]]) -> list[str]:
    """What each chain is, by its requests: empty for the main chain, and for those of which nothing is known.

    `auxiliary`: one request with a short prompt (a title, a check); `reduction`: one request with a long
    prompt and a short answer (a summary); `worker`: one of several chains that begin with the same block.

    Args:
        chains: The requests of each chain, the main chain first.
    """
    longest = max(turn.input_tokens for turn in chains[0])
    openings = Counter(chain[0].blocks[0] for chain in chains[1:] if chain[0].blocks)
    return ["", *(_label(chain, longest, openings) for chain in chains[1:])]


def _label(chain: Sequence[RecordedTurn], longest: int, openings: Mapping[int, int]) -> str:
    first = chain[0]
    if len(chain) == 1 and first.input_tokens <= max(SHORT_PROMPT, SHORT_SHARE * longest):
        return "auxiliary"
    is_short = first.output_tokens <= SHORT_ANSWER
    if len(chain) == 1 and is_short and first.input_tokens >= REDUCED * first.output_tokens:
        return "reduction"
    return "worker" if first.blocks and openings[first.blocks[0]] >= LEAST_WORKERS else ""


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
