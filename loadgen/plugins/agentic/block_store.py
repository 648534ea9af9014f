"""Lists of block ids in little memory: each is a prefix of an earlier list, and new ids."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, overload

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterable

NO_BASE: Final = 2**32 - 1


def common_length(first: Sequence[int], other: Sequence[int]) -> int:
    """The number of ids at the start that two lists have in common, by bisection: slices compare fast."""
    low, high = 0, min(len(first), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


@dataclass(frozen=True, slots=True)
class BlockStore:
    """Lists of block ids, by number.

    Attributes:
        bases: The number of the list that each begins like, or `NO_BASE`.
        shared: How many ids at the start are the ones of that list.
        firsts: The new ids of list i are `new[firsts[i]:firsts[i + 1]]`.
        new: The new ids of all lists.
    """

    bases: array[int] = field(default_factory=lambda: array("I"))
    shared: array[int] = field(default_factory=lambda: array("I"))
    firsts: array[int] = field(default_factory=lambda: array("Q", [0]))
    new: array[int] = field(default_factory=lambda: array("Q"))

    def __len__(self) -> int:
        return len(self.bases)

    def add(self, ids: Sequence[int], base: int | None, shared: int) -> None:
        """Add a list.

        Args:
            ids: All ids.
            base: The number of the list that it begins like.
            shared: How many ids at the start are equal to those of that list.
        """
        self.bases.append(NO_BASE if base is None else base)
        self.shared.append(shared)
        self.new.extend(ids[shared:])
        self.firsts.append(len(self.new))

    def length(self, number: int) -> int:
        """The number of ids of a list."""
        return self.shared[number] + self.firsts[number + 1] - self.firsts[number]

    def ids(self, number: int) -> array[int]:
        """All ids of a list."""
        pieces, wanted = [], self.length(number)
        while wanted:
            shared, first = self.shared[number], self.firsts[number]
            if wanted > shared:
                pieces.append(self.new[first : first + wanted - shared])
                wanted = shared
            number = self.bases[number]
        whole = array("Q")
        for piece in reversed(pieces):
            whole.extend(piece)
        return whole


class StoredBlocks(Sequence[int]):
    """A list of a store, which is put together at the first access to an id.

    Args:
        store: The store.
        number: The number of the list.
    """

    def __init__(self, store: BlockStore, number: int) -> None:
        self._store = store
        self._number = number

    def __len__(self) -> int:
        return self._store.length(self._number)

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[int]: ...
    def __getitem__(self, place: int | slice) -> int | Sequence[int]:
        return self._ids[place]

    @cached_property
    def _ids(self) -> array[int]:
        return self._store.ids(self._number)


def longest_match(
    ids: Sequence[int], candidates: Iterable[tuple[int, Sequence[int]]]
) -> tuple[int | None, int]:
    """The candidate that shares the most leading ids, with the number of shared ids; the first of equals.

    Args:
        ids: The list.
        candidates: Numbers with lists.
    """
    best: tuple[int | None, int] = (None, 0)
    for number, other in candidates:
        if len(other) > best[1] and other[: best[1]] == ids[: best[1]]:
            shared = common_length(ids, other)
            if shared > best[1]:
                best = (number, shared)
    return best
