"""The truth between the end of a request and the file: written when nothing else is to be done."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from loadgen.mock_endpoint.truth import Truth, TruthFile

_FEW: Final = 8
_MANY: Final = 64
_SHARE: Final = 32


class Ledger:
    """The truths of ended requests, written to a file in small slices.

    Args:
        file: Where it goes; None forgets it.
    """

    def __init__(self, file: TruthFile | None) -> None:
        self._file = file
        self._unwritten: deque[Truth] = deque()

    def __len__(self) -> int:
        return len(self._unwritten)

    def enter(self, truth: Truth) -> None:
        """Queue the truth of a request."""
        if self._file is not None:
            self._unwritten.append(truth)

    @property
    def pressing(self) -> bool:
        """Whether so much is unwritten that a slice must not wait for an idle moment."""
        return len(self._unwritten) >= _MANY

    def write_slice(self) -> None:
        """Write the oldest truths: more with a longer queue, so that the queue is bounded."""
        number = min(len(self._unwritten), _FEW + len(self._unwritten) // _SHARE)
        if self._file is not None:
            self._file.write(*(self._unwritten.popleft() for _ in range(number)))

    def write_all(self) -> None:
        """Write everything."""
        while self._unwritten:
            self.write_slice()
