"""The hits of prefix caching that the prompts of sessions allow: those of a cache without bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from loadgen.plugins.agentic.workbench import finished

if TYPE_CHECKING:
    from loadgen.plugins.agentic.session_tree import SessionTree
    from loadgen.plugins.agentic.workbench import Steps


class PrefixHits(NamedTuple):
    """Blocks of prompts, and those of them that a cache without bound has.

    Attributes:
        hits: The leading blocks of each prompt that earlier prompts of the session have.
        blocks: The blocks of all prompts.
    """

    hits: int
    blocks: int

    @property
    def rate(self) -> float | None:
        """The share of hits; None without blocks."""
        return self.hits / self.blocks if self.blocks else None


def counting_hits(tree: SessionTree, cached: set[int] | None = None) -> Steps[list[int]]:
    """The counting of the hits of each turn: its leading blocks that prompts with an earlier start have.

    Turns are in the order of their recorded start, or of their numbers where no start is recorded.

    Args:
        tree: The session.
        cached: The blocks of earlier sessions, to which those of the session are added; None for a cache of
            the session alone.
    """
    seen = set() if cached is None else cached
    hits = [0] * len(tree.turns)
    for number in sorted(range(len(hits)), key=lambda number: tree.turns[number].start_ns or 0):
        turn = tree.turns[number]
        # A prompt follows the one that it extends.
        new = turn.blocks[turn.kept_blocks :]
        known_new = next((place for place, block in enumerate(new) if block not in seen), len(new))
        hits[number] = turn.kept_blocks + known_new
        seen.update(new)
        yield
    return hits


def prefix_hits(tree: SessionTree, cached: set[int] | None = None) -> PrefixHits:
    """The hits among the prompts of a session; see `counting_hits`."""
    return PrefixHits(
        sum(finished(counting_hits(tree, cached))), sum(len(turn.blocks) for turn in tree.turns)
    )


def peak_width(tree: SessionTree) -> int | None:
    """The most requests of a session at one time, as recorded; None where no ends are recorded."""
    steps = sorted(
        step
        for turn in tree.turns
        if turn.start_ns is not None and turn.end_ns is not None
        for step in ((turn.start_ns, 1), (turn.end_ns, -1))
    )
    level = peak = 0
    for _, step in steps:
        level += step
        peak = max(peak, level)
    return peak if steps else None
