"""Running the mock endpoint: listen, say where, and end on request."""

from __future__ import annotations

import asyncio
import gc
import signal
import ssl
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, Final

from loadgen.driver.system.event_loop import run_async
from loadgen.driver.system.open_files import allow_many_files
from loadgen.mock_endpoint.errors import MockOptionsError
from loadgen.mock_endpoint.lifetime import Lifetime
from loadgen.mock_endpoint.lifetime import read as read_lifetime
from loadgen.mock_endpoint.listening import BACKLOG, announce, cannot_listen, watch_standard_input
from loadgen.mock_endpoint.script import Script
from loadgen.mock_endpoint.stall import read
from loadgen.mock_endpoint.truth import TruthFile
from workloads.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.mock_endpoint.options import MockOptions
    from loadgen.mock_endpoint.punctuality import Punctuality
    from loadgen.mock_endpoint.stall import Stall
    from loadgen.mock_endpoint.truth import Truth

_CANCEL_S: Final = 0.05
"""How long a stop waits for the streams that it cuts off."""


def serve(options: MockOptions) -> Punctuality | None:
    """Serve until SIGTERM or SIGINT (or the end of standard input, with `exit_with_parent`).

    Prints one line, `listening on http://HOST:PORT/v1`, when it can be connected to.

    Returns:
        How punctual the fast engine was; None for the other one, which does not know.

    Raises:
        MockOptionsError: An option cannot be used.
        MockSetupError: The port cannot be listened on.
    """
    script, stall, lifetime_s = (
        Script(options),
        read(options.stall),
        read_lifetime("die_after", options.die_after),
    )
    tls = _tls(options)
    if options.scenario:
        _require_known(options.scenario)
    allow_many_files()
    with closing(TruthFile(options.truth)) if options.truth else nullcontext() as file:
        if options.fast:
            from loadgen.mock_endpoint.fast.server import serve_fast

            return serve_fast(options, script, stall, lifetime_s, file)
        tell = file.write if file else _keep_quiet
        serving = _serve(options, script, stall, lifetime_s, tls, tell)
        run_async(_play(options, tell) if options.scenario else serving)
        return None


def _keep_quiet(_: Truth) -> None:
    """Write no truth."""


async def _serve(
    options: MockOptions,
    script: Script,
    stall: Stall,
    lifetime_s: float | None,
    tls: ssl.SSLContext | None,
    tell: Callable[[Truth], None],
) -> None:
    from loadgen.mock_endpoint.connection import LowLevelServer
    from loadgen.mock_endpoint.handler import Handler

    loop, stop_requested = asyncio.get_running_loop(), _heed_stops(options)
    lifetime = Lifetime(lifetime_s, lambda: loop.call_soon_threadsafe(stop_requested.set))
    server = LowLevelServer(Handler(options, script, stall, lifetime, tell))
    try:
        listener = await loop.create_server(server, options.host, options.port, ssl=tls, backlog=BACKLOG)
    except OSError as error:
        raise cannot_listen(options, error) from error
    announce(options, listener.sockets[0].getsockname()[1])
    gc.collect()
    gc.freeze()  # what lives now lives on; a collection that walked it would hold up tokens for milliseconds
    await stop_requested.wait()
    listener.close()
    await server.shutdown(_CANCEL_S)


def _require_known(scenario: str) -> None:
    from loadgen.mock_endpoint.scenarios.catalog import CHAOS, SCENARIOS

    if scenario not in SCENARIOS and scenario != CHAOS:
        hint = did_you_mean(scenario, [*SCENARIOS, CHAOS]) or "; `loadgen list scenarios` has all of them"
        raise MockOptionsError(f"there is no scenario {scenario!r}{hint}")


def _heed_stops(options: MockOptions) -> asyncio.Event:
    """The event that a stop signal sets."""
    loop = asyncio.get_running_loop()
    stop_requested = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop_requested.set)
    if options.exit_with_parent:
        watch_standard_input(lambda: loop.call_soon_threadsafe(stop_requested.set))
    return stop_requested


async def _play(options: MockOptions, tell: Callable[[Truth], None]) -> None:
    from loadgen.mock_endpoint.scenarios.server import serve_scenarios

    await serve_scenarios(options, tell, _heed_stops(options))


def _tls(options: MockOptions) -> ssl.SSLContext | None:
    if options.tls_cert is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(options.tls_cert, options.tls_key)
    except OSError as error:
        files = " and ".join(str(file) for file in (options.tls_cert, options.tls_key) if file)
        raise MockOptionsError(f"no certificate with its key can be read from {files}: {error}") from error
    return context
