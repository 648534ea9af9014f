"""The selection of a part of a benchmark's questions: drawn by a seed, from all groups."""

from __future__ import annotations

from hashlib import sha256
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workloads.question import Question


def drawn(
    questions: Iterable[Question], count: int, seed: int, name: str, groups: Sequence[str]
) -> tuple[set[int], int]:
    """Draw questions: each with equal chance, and from each group in proportion to the group's size.

    It is systematic sampling: the questions are sorted by group, shuffled within each, and every
    k-th is taken, from a random start. So of n drawn questions, a group that makes up a share p of all has
    n·p, rounded up or down. Only the seed, the name and the ids of the questions count, not their order.

    Args:
        questions: All of them; gone through once.
        count: How many to draw; all where there are no more.
        seed: Of the draw.
        name: Of the benchmark, so that two of them with the same ids differ.
        groups: The tags that tell groups apart; empty for one group.

    Returns:
        The places of the drawn questions, from 0; and how many questions there are.
    """
    places = [
        ([question.sample.tags.get(group, "") for group in groups], _key(seed, name, question.id), place)
        for place, question in enumerate(questions)
    ]
    places.sort()
    total, wanted = len(places), min(count, len(places))
    if not wanted:
        return set(), total
    start = Random(f"{seed}/{name}").randrange(total)  # noqa: S311 (no secret)
    return {places[(number * total + start) // wanted][2] for number in range(wanted)}, total


def _key(seed: int, name: str, identity: str) -> bytes:
    return sha256(f"{seed}/{name}/{identity}".encode("utf-8", "surrogatepass")).digest()
