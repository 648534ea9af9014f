"""An event loop that an interrupt leaves whole or closed."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from typing import Any

import pytest

from loadgen.driver.system.signals import run_async


async def double(number: int) -> int:
    """Some work."""
    await asyncio.sleep(0)
    return 2 * number


def test_it_runs_work() -> None:
    """Work in a separate loop."""
    assert run_async(lambda: double(21)) == 42


@pytest.mark.filterwarnings("error")
def test_an_interrupt_while_the_loop_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a warning: of a loop that cannot be closed, of sockets left open, of work never awaited."""
    make = socket.socketpair

    def interrupted(*arguments: Any, **options: Any) -> tuple[socket.socket, socket.socket]:
        signal.raise_signal(signal.SIGINT)
        return make(*arguments, **options)

    monkeypatch.setattr(socket, "socketpair", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_async(lambda: double(21))
    gc.collect()
