"""An OpenAI-compatible endpoint in a separate process that records every sent chunk with its time.

Start it from Python with `start_mock`, from a shell with `loadgen mock`. docs/mock.md describes it. It is one
thread with a dedicated event loop, made to be on time:

    poller       waits for sockets, and for a moment to the microsecond
    connection   one client: bytes to requests, and answers to bytes; `tls` encrypts them
    service      from a request to its answer, as a task that says when it wants to go on
    events       the bytes of a stream's events, encoded before they are needed
    slots        the queue
    engine       the loop: runs what is due, then what the sockets bring
    ledger       keeps the truth until there is time to write it

A task is a generator that yields the time at which it is to be resumed: a coroutine, as under asyncio, but a
queue of due times is the whole scheduler. Scenarios, played byte for byte, have a server under asyncio.
"""

from loadgen.mock_endpoint.errors import MockError, MockOptionsError, MockSetupError
from loadgen.mock_endpoint.options import MockOptions
from loadgen.mock_endpoint.process import MockProcess, start_mock
from loadgen.mock_endpoint.punctuality import Punctuality
from loadgen.mock_endpoint.truth import Truth

__all__ = [
    "MockError",
    "MockOptions",
    "MockOptionsError",
    "MockProcess",
    "MockSetupError",
    "Punctuality",
    "Truth",
    "start_mock",
]

mock = start_mock
"""As the package `loadgen` names it."""
