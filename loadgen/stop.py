"""How a session is asked to stop: once, it drains; twice, it gives up what is in flight."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop:
    """The request to stop.

    Attributes:
        reason: Why, once it was asked: `interrupted`, or what else has come to pass.
        draining: Set: issue nothing more, await what is in flight.
        aborting: Set: give up what is in flight as well.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self.draining = asyncio.Event()
        self.aborting = asyncio.Event()

    def ask(self) -> None:
        """Ask to stop; asking again means at once."""
        if self.draining.is_set():
            self.aborting.set()
        self.drain("interrupted")

    def drain(self, reason: str) -> None:
        """Have the session end in order; the first reason is the one that counts."""
        self.reason = self.reason or reason
        self.draining.set()

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Let SIGINT, SIGTERM and SIGHUP ask; one that is ignored (`nohup`) stays so."""
        loop = asyncio.get_running_loop()
        heard = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        for number in heard:
            loop.add_signal_handler(number, self.ask)
        try:
            yield
        finally:
            for number in heard:
                loop.remove_signal_handler(number)
