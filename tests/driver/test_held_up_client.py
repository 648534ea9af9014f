"""A client that is held up measures the server all the same, and says that it was held up."""

from __future__ import annotations

import asyncio
import gc
import time
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.client import chat_completions
from loadgen.driver.client.arrival import timestamp_source
from loadgen.driver.client.endpoint import Request
from loadgen.driver.client.exchange import Exchange
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.own_health import watch
from loadgen.mock_endpoint import start_mock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from loadgen.mock_endpoint import MockProcess
    from recorder.event import Event

BODY = b'{"model": "m", "stream": true, "messages": [{"role": "user", "content": "hi"}]}'
REQUESTS = 20
MS = 1_000_000
HELD_UP_S = 0.1
TICK_S = 0.05
"""How often the client looks how late its event loop is: one look is due in the first half of the hold-up."""


@pytest.fixture(scope="module", params=["http", "https"])
def mock(
    request: pytest.FixtureRequest, authority: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MockProcess]:
    """A server of which the first token arrives while the client is held up, and the second long afterwards.

    Of bytes that are read together the kernel keeps one stamp, and a busy machine stops the client further.
    """
    pem: Path = tmp_path_factory.mktemp("tls") / "server.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(pem)
    tls = {"tls_cert": pem} if request.param == "https" else {}
    with start_mock(ttft="40ms", itl="900ms", tokens="2", **tls) as process:
        yield process


def busy() -> None:
    """A callback that is slow."""
    time.sleep(HELD_UP_S)


def collecting() -> None:
    """The garbage collector is slow."""

    def pause(phase: str, _: Any) -> None:
        if phase == "start":
            time.sleep(HELD_UP_S)

    gc.callbacks.append(pause)
    gc.collect(0)
    gc.callbacks.remove(pause)


class Round:
    """Requests that are all under way at once.

    Args:
        transport: Carries them.
        numbers: Make their names.
        hold_up: What the event loop does once all are sent.

    Attributes:
        first_token_ns: By name.
    """

    def __init__(self, transport: Any, numbers: Iterator[int], hold_up: Callable[[], None]) -> None:
        self.first_token_ns: dict[str, int] = {}
        self._transport = transport
        self._names = [f"request-{next(numbers)}" for _ in range(REQUESTS)]
        self._unsent = set(self._names)
        self._hold_up = hold_up

    async def run(self) -> None:
        """See them through."""
        await asyncio.gather(*map(self._ask, self._names))

    async def _ask(self, name: str) -> None:
        def note_first_token(at_ns: int) -> None:
            self.first_token_ns[name] = at_ns

        exchange = Exchange(
            ResponseStream(chat_completions), lambda _: self._note_sent(name), note_first_token
        )
        await self._transport.send(Request("POST", "/chat/completions", name, BODY), exchange)
        assert exchange.failure is None, exchange.message

    def _note_sent(self, name: str) -> None:
        self._unsent.discard(name)
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._hold_up)


@pytest.mark.skipif(
    timestamp_source() != "kernel",
    reason="only kernel stamps (SO_TIMESTAMPING, Linux) say when bytes arrived at a busy client; "
    "elsewhere the client stamps late reads, and the report says so",
)
def test_what_holds_the_client_up_does_not_move_the_first_token(
    run: Any, connect: Any, mock: MockProcess
) -> None:
    """By the server's own stamps of the same requests; and telemetry has both delays.

    The hold-up meets all requests of a round; a busy machine delays one or another on either side, so the
    least of the errors counts.
    """
    events: list[Event] = []

    async def scenario() -> list[Round]:
        numbers = count(len(mock.truth()))
        async with connect(mock.url, verify=False) as transport:
            watching = asyncio.create_task(watch(events.append, dict))
            rounds = [Round(transport, numbers, hold_up) for hold_up in (int, busy, collecting)]
            for each in rounds:
                await each.run()
                await asyncio.sleep(TICK_S)
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            return rounds

    earlier = len(mock.truth())
    rounds = run(scenario())
    left_ns = {truth.request_id: truth.chunk_ns[0] for truth in mock.truth(earlier + 3 * REQUESTS)}
    undisturbed, *held_up = [
        min(at_ns - left_ns[name] for name, at_ns in each.first_token_ns.items()) for each in rounds
    ]
    assert [len(each.first_token_ns) for each in rounds] == [REQUESTS] * 3
    assert [abs(error_ns - undisturbed) <= MS for error_ns in held_up] == [True, True], (undisturbed, held_up)
    assert max(event.data["loop_lag_max_ms"] for event in events) >= (HELD_UP_S - TICK_S) * 1e3
    assert max(event.data["gc_pause_max_ms"] for event in events) >= HELD_UP_S * 1e3
