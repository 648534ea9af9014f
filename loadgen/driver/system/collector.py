"""Python's garbage collector: pauses are avoided where possible, and measured."""

from __future__ import annotations

import gc
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

_NS_PER_MS: Final = 1e6


def collect_rarely() -> None:
    """Make collections rare: imports, and most objects, live to the end of the program."""
    gc.set_threshold(100_000, 50, 100)


def calm() -> None:
    """Exempt long-lived objects from collection, and make collections rarer.

    A start leaves little over; collecting it among all that was imported would delay the first request.
    """
    gc.freeze()
    collect_rarely()


@contextmanager
def recovering() -> Iterator[None]:
    """At the end, let the collector have everything again, as often as before.

    Libraries count what it leaves over.
    """
    usual = gc.get_threshold()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*usual)


class GcPauses:
    """Measures the collector's pauses; a context manager.

    Attributes:
        longest_ms: The longest since it was last set to 0.
    """

    def __init__(self) -> None:
        self.longest_ms = 0.0
        self._started_ns = 0

    def __enter__(self) -> Self:
        gc.callbacks.append(self._on_gc)
        return self

    def __exit__(self, *_: object) -> None:
        gc.callbacks.remove(self._on_gc)

    def _on_gc(self, phase: str, _info: dict[str, Any]) -> None:
        now_ns = time.monotonic_ns()
        if phase == "start":
            self._started_ns = now_ns
        else:
            self.longest_ms = max(self.longest_ms, (now_ns - self._started_ns) / _NS_PER_MS)
