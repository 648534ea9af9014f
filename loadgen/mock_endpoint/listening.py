"""Listening addresses, listening errors, and stopping, for answers and for scenarios."""

from __future__ import annotations

import os
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from loadgen.mock_endpoint.errors import MockSetupError
from loadgen.mock_endpoint.options import LISTENING

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from loadgen.mock_endpoint.options import MockOptions

_BACKLOG: Final = 4096
"""How many connections may wait to be accepted."""


def announce(options: MockOptions, port: int) -> None:
    """Print the one line that says where the server listens."""
    scheme = "https" if options.tls_cert else "http"
    host = f"[{options.host}]" if ":" in options.host else options.host
    announce_url(f"{scheme}://{host}:{port}/v1")


def announce_url(url: str) -> None:
    """Print the one line that says where the server is met."""
    print(f"{LISTENING}{url}", flush=True)  # noqa: T201 (its interface)


def listen(options: MockOptions, opened: ExitStack) -> list[socket.socket]:
    """Listen, without blocking, on every address that the host name stands for.

    Raises:
        MockSetupError: The port cannot be listened on.
    """
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
            listener.listen(_BACKLOG)
            listener.settimeout(0)
            listeners.append(listener)
    except OSError as error:
        raise _cannot_listen(options, error) from error
    return listeners


def _cannot_listen(options: MockOptions, error: OSError) -> MockSetupError:
    """The error of a server that cannot listen, with the remedy."""
    # asyncio words the error differently from version to version; a name that is not found has no errno.
    why = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
    return MockSetupError(
        f"cannot listen on {options.host}, port {options.port}: {why}. "
        "Choose another host or port; port 0 takes a free one",
    )


def watch_standard_input(ended: Callable[[], object]) -> None:
    """Call `ended`, in a separate thread, when standard input ends."""

    def watch() -> None:
        while os.read(0, 4096):
            pass
        # Where the server ends for another reason there is nothing left to tell it.
        with suppress(OSError, RuntimeError):
            ended()

    threading.Thread(target=watch, name="standard-input", daemon=True).start()
