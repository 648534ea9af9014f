"""Frames: however the bytes are cut, what goes in comes out."""

from __future__ import annotations

import asyncio
import socket
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.workers.framing import FrameReader, Outbox, framed


@given(
    payloads=st.lists(st.binary(max_size=50), max_size=8),
    places=st.lists(st.integers(min_value=0, max_value=400), max_size=10),
)
def test_frames_come_out_as_they_went_in(payloads: list[bytes], places: list[int]) -> None:
    """For any split of the bytes."""
    whole = b"".join(map(framed, payloads))
    cuts = sorted({min(place, len(whole)) for place in places} | {0, len(whole)})
    frames, result = FrameReader(), []
    for start, end in pairwise(cuts):
        result += frames.feed(whole[start:end])
    assert result == payloads


def test_what_the_socket_does_not_take_waits() -> None:
    """In order and without a loss, and the outbox knows how much it is."""

    async def scenario() -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.settimeout(0)
            theirs.settimeout(0)
            loop = asyncio.get_running_loop()
            moved = asyncio.Event()
            outbox = Outbox(ours, loop, moved.set)
            payloads = [bytes([number]) * 100_000 for number in range(20)]
            for payload in payloads:
                outbox.send(framed(payload), events=10)
            waiting = outbox.events
            assert 0 < waiting < 200
            assert waiting * 10_000 - 100_000 < outbox.bytes <= (waiting // 10) * 100_004
            frames, result = FrameReader(), []
            while len(result) < len(payloads):
                result += frames.feed(await loop.sock_recv(theirs, 65536))
            assert result == payloads
            assert moved.is_set()
            assert (outbox.bytes, outbox.events, outbox.empty) == (0, 0, True)

    asyncio.run(scenario())


def test_sending_to_a_closed_end_raises_nothing() -> None:
    """What cannot be sent any more is dropped; the reader learns of it."""

    async def scenario() -> None:
        ours, theirs = socket.socketpair()
        with ours:
            ours.settimeout(0)
            theirs.close()
            outbox = Outbox(ours, asyncio.get_running_loop())
            outbox.send(framed(b"hello"), events=1)
            assert (outbox.bytes, outbox.events, outbox.empty) == (0, 0, True)

    asyncio.run(scenario())
