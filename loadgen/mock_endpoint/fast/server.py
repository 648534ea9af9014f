"""Running the fast engine: sockets, signals, and the final output."""

from __future__ import annotations

import gc
import signal
import socket
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from loadgen.mock_endpoint.fast.engine import Engine
from loadgen.mock_endpoint.fast.ledger import Ledger
from loadgen.mock_endpoint.fast.poller import system_poller
from loadgen.mock_endpoint.fast.service import Service
from loadgen.mock_endpoint.fast.slots import FastSlots
from loadgen.mock_endpoint.lifetime import Lifetime
from loadgen.mock_endpoint.listening import BACKLOG, announce, cannot_listen, watch_standard_input
from loadgen.mock_endpoint.punctuality import Lateness

if TYPE_CHECKING:
    from loadgen.mock_endpoint.options import MockOptions
    from loadgen.mock_endpoint.punctuality import Punctuality
    from loadgen.mock_endpoint.script import Script
    from loadgen.mock_endpoint.stall import Stall
    from loadgen.mock_endpoint.truth import TruthFile


def serve_fast(
    options: MockOptions,
    script: Script,
    stall: Stall,
    lifetime_s: float | None,
    file: TruthFile | None,
) -> Punctuality:
    """Serve until SIGTERM or SIGINT (or the end of standard input, with `exit_with_parent`).

    Args:
        options: How.
        script: Decides what is answered.
        stall: When nothing is done.
        lifetime_s: How long after the first completion request the server ends by itself; None for never.
        file: Where the truth goes; None for nowhere.

    Returns:
        How punctual it was.

    Raises:
        MockSetupError: The port cannot be listened on.
    """
    lateness, ledger = Lateness(), Ledger(file)
    slots = FastSlots(options.slots) if options.slots else None
    with ExitStack() as opened:
        stop, stop_fd = _stop_signals(opened)
        lifetime = Lifetime(lifetime_s, lambda: stop.send(b"!"))
        service = Service(options, script, stall, lifetime, slots, ledger.enter, lateness)
        if options.exit_with_parent:
            # No signal: this may be heard while the server ends already, which a signal would cut short.
            watch_standard_input(lambda: stop.send(b"!"))
        listeners = _listen(options, opened)
        poller = opened.enter_context(closing(system_poller()))
        engine = Engine(poller, listeners, service, ledger, stall, closes=options.close)
        announce(options, listeners[0].getsockname()[1])
        gc.collect()
        gc.freeze()
        gc.disable()  # it makes no cycles, and a collection would hold up tokens
        engine.run(stop_fd.fileno())
        ledger.write_all()
    return lateness.punctuality()


def _stop_signals(opened: ExitStack) -> tuple[socket.socket, socket.socket]:
    """A socket pair for stopping: a signal writes into the first, and the second becomes readable."""
    stop, stopped = socket.socketpair()
    opened.enter_context(stop)
    opened.enter_context(stopped)
    stop.settimeout(0)
    before = signal.set_wakeup_fd(stop.fileno())
    opened.callback(signal.set_wakeup_fd, before)
    for number in (signal.SIGTERM, signal.SIGINT):
        opened.callback(signal.signal, number, signal.signal(number, lambda *_: None))
    return stop, stopped


def _listen(options: MockOptions, opened: ExitStack) -> list[socket.socket]:
    """Listen on every address that the host name stands for."""
    listeners = []
    try:
        addresses = socket.getaddrinfo(
            options.host, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        for family, kind, protocol, _, address in dict.fromkeys(addresses):
            listener = opened.enter_context(socket.socket(family, kind, protocol))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
            listener.settimeout(0)
            listeners.append(listener)
    except OSError as error:
        raise cannot_listen(options, error) from error
    return listeners
