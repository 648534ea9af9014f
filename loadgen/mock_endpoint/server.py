"""Running the mock endpoint: listen, say where, and end on request."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from typing import TYPE_CHECKING

from loadgen.driver.system.memory import allow_many_files
from loadgen.driver.system.signals import run_async
from loadgen.mock_endpoint.engine import Engine
from loadgen.mock_endpoint.errors import MockOptionsError
from loadgen.mock_endpoint.ledger import Ledger
from loadgen.mock_endpoint.lifetime import Lifetime
from loadgen.mock_endpoint.lifetime import read as read_lifetime
from loadgen.mock_endpoint.listening import announce, listen, watch_standard_input
from loadgen.mock_endpoint.poller import system_poller
from loadgen.mock_endpoint.punctuality import Lateness
from loadgen.mock_endpoint.script import Script
from loadgen.mock_endpoint.service import Service
from loadgen.mock_endpoint.slots import Slots
from loadgen.mock_endpoint.stall import read
from loadgen.mock_endpoint.tls_filter import tls_context
from loadgen.mock_endpoint.truth import TruthFile
from workloads.errors import did_you_mean

if TYPE_CHECKING:
    from loadgen.mock_endpoint.options import MockOptions
    from loadgen.mock_endpoint.punctuality import Punctuality


def serve(options: MockOptions) -> Punctuality | None:
    """Serve until SIGTERM or SIGINT (or the end of standard input, with `exit_with_parent`).

    Prints one line, `listening on http://HOST:PORT/v1`, when it can be connected to.

    Returns:
        How punctual it was; None for a scenario, which promises no times.

    Raises:
        MockOptionsError: An option cannot be used.
        MockSetupError: The port cannot be listened on.
    """
    script = Script(options)
    allow_many_files()
    if not options.scenario:
        return _serve(options, script)
    _require_known(options.scenario)
    with _truth_file(options) as file:
        run_async(lambda: _play(options, file))
    return None


def _serve(options: MockOptions, script: Script) -> Punctuality:
    stall, lateness = read(options.stall), Lateness()
    lifetime_s, tls = read_lifetime("die_after", options.die_after), tls_context(options)
    with ExitStack() as opened:
        ledger = Ledger(opened.enter_context(_truth_file(options)))
        stop, stop_fd = _stop_signals(opened)
        lifetime = Lifetime(lifetime_s, lambda: stop.send(b"!"))
        slots = Slots(options.slots) if options.slots else None
        service = Service(options, script, stall, lifetime, slots, ledger.enter, lateness)
        if options.exit_with_parent:
            # No signal: this may be heard while the server ends already, which a signal would cut short.
            watch_standard_input(lambda: stop.send(b"!"))
        listeners = listen(options, opened)
        poller = opened.enter_context(closing(system_poller()))
        engine = Engine(poller, listeners, service, ledger, stall, closes=options.close, tls=tls)
        announce(options, listeners[0].getsockname()[1])
        gc.collect()
        gc.freeze()
        gc.disable()  # it makes no cycles, and a collection would hold up tokens
        engine.run(stop_fd.fileno())
        ledger.write_all()
    return lateness.punctuality()


def _truth_file(options: MockOptions) -> AbstractContextManager[TruthFile | None]:
    return closing(TruthFile(options.truth)) if options.truth else nullcontext()


def _require_known(scenario: str) -> None:
    from loadgen.mock_endpoint.scenarios.catalog import CHAOS, SCENARIOS

    if scenario not in SCENARIOS and scenario != CHAOS:
        hint = did_you_mean(scenario, [*SCENARIOS, CHAOS]) or "; `loadgen list scenarios` has all of them"
        raise MockOptionsError(f"unknown scenario {scenario!r}{hint}")


async def _play(options: MockOptions, file: TruthFile | None) -> None:
    """Serve scenarios, which are played byte for byte, until a stop signal."""
    from loadgen.mock_endpoint.scenarios.scenario_server import serve_scenarios

    loop = asyncio.get_running_loop()
    stop_requested = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop_requested.set)
    if options.exit_with_parent:
        watch_standard_input(lambda: loop.call_soon_threadsafe(stop_requested.set))
    await serve_scenarios(options, file.write if file else lambda _: None, stop_requested)


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
