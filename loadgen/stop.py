"""How a session is asked to stop: once, it drains; twice, it gives up what is in flight."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """The request to stop.

    Attributes:
        draining: Set: issue nothing more, await what is in flight.
        aborting: Set: give up what is in flight as well.
    """

    def __init__(self) -> None:
        self.draining = asyncio.Event()
        self.aborting = asyncio.Event()

    def ask(self) -> None:
        """Ask to stop; asking again means at once."""
        if self.draining.is_set():
            self.aborting.set()
        self.draining.set()

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Let SIGINT and SIGTERM ask."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self.ask)
        try:
            yield
        finally:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)
