"""What keeps the memory of the server bounded, however long it runs."""

from __future__ import annotations

import asyncio
import gc
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from loadgen.plugins.viewing.folder import Identity

    _Key = tuple[tuple[Path, ...], Identity]

_Result = TypeVar("_Result")

MOST_REPORTS: Final = 16
MOST_BYTES: Final = 32 * 1024 * 1024
"""How many rendered reports stay in memory, and how long they are together."""


class ReportPages:
    """Rendered pages, each for one state of the logs; the least recently used are dropped."""

    def __init__(self) -> None:
        self._pages: OrderedDict[_Key, bytes] = OrderedDict()

    def get(self, key: _Key) -> bytes | None:
        """A report that is there."""
        page = self._pages.get(key)
        if page is not None:
            self._pages.move_to_end(key)
        return page

    def keep(self, key: _Key, page: bytes) -> None:
        """Keep a report in place of reports of earlier states of the logs."""
        for other in [other for other in self._pages if other[0] == key[0]]:
            del self._pages[other]
        self._pages[key] = page
        while len(self._pages) > MOST_REPORTS or sum(map(len, self._pages.values())) > MOST_BYTES:
            self._pages.popitem(last=False)

    def __len__(self) -> int:
        return len(self._pages)


class OneThread:
    """Runs functions in one thread, one at a time: each takes a core and memory.

    The C library keeps freed memory for each thread that has used some. The reports of a long list are cycles
    of few objects with much data, and few objects do not start Python's collection of the oldest generation.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)

    async def run(self, function: Callable[[], _Result]) -> _Result:
        """Run a function, and free what it leaves behind."""

        def collected() -> _Result:
            try:
                return function()
            finally:
                gc.collect()

        return await asyncio.get_running_loop().run_in_executor(self._thread, collected)
