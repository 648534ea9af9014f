"""A server that stands still for a while: nothing leaves, the truth stays true, and then all goes on."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.mock_endpoint import MockOptions, MockOptionsError, MockProcess, start_mock
from loadgen.mock_endpoint.stall import Stall, read

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Wire

MS = 1_000_000
TOKENS = 150
"""Some of a stream of one each 10 ms are due behind the stall."""


@given(st.integers(1, 10**12), st.integers(1, 10**10), st.integers(1, 10**10), st.integers(-(10**10), 10**11))
def test_who_wants_to_leave_waits_until_it_is_over(first: int, after: int, lasting: int, moment: int) -> None:
    """Within the stall what is left of it, outside nothing; later requests do not move it."""
    stall = Stall(after, lasting)
    assert stall.left_s(first + after) == 0
    stall.heard(first)
    stall.heard(first + 1)
    begin, now = first + after, first + moment
    left = begin + lasting - now if begin <= now < begin + lasting else 0
    assert stall.left_s(now) == pytest.approx(left / 1e9)


def test_a_server_without_one_never_stands_still() -> None:
    """Without a stall there is no moment at which anything waits."""
    stall = read(None)
    stall.heard(5)
    assert [stall.left_s(index) for index in (0, 5, 6, 10**18)] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "text", ["", "2s", "2s,", "2s,3", "0s,1s", "1s,0s", "1s,exponential:1s", "1s,-1s", "a,b"]
)
def test_a_stall_that_cannot_be(text: str) -> None:
    """It is two times above 0, and the message shows how it is written."""
    with pytest.raises(MockOptionsError, match="write 2s,500ms"):
        read(text)


def test_a_scenario_has_no_stall() -> None:
    """What a scenario sends, and when, it says itself."""
    with pytest.raises(MockOptionsError, match="leave out stall"):
        MockOptions(scenario="crlf", stall="1s,1s")


def test_nothing_leaves_and_all_goes_on(connect: Callable[[MockProcess], Wire]) -> None:
    """A stream pauses for the stall alone; who comes during it was received then and is answered after it."""
    with start_mock(ttft="20ms", itl="10ms", tokens=str(TOKENS), stall="600ms,850ms") as mock:
        streaming = connect(mock)
        streaming.ask(request_id="streaming")
        streaming.read_until(b'"content":" A"')
        time.sleep(0.65)
        late, whole = connect(mock), connect(mock)
        late.ask(request_id="late")
        whole.ask(request_id="whole", stream=False, max_tokens=1)
        streaming.read_until(b"[DONE]")
        late.read_until(b"[DONE]")
        whole.read_json()
        truths = {truth.request_id: truth for truth in mock.truth(3)}
    begin_ns = truths["streaming"].received_ns + 600 * MS
    end_ns = begin_ns + 850 * MS
    left_ns = sorted(itertools.chain.from_iterable(truth.chunk_ns for truth in truths.values()))
    # What was on its way when the stall began is sent to its end: a busy machine may stop the server there.
    assert not [sent for sent in left_ns if begin_ns + 550 * MS < sent < end_ns]
    assert [sent for sent in left_ns if sent < begin_ns]
    assert truths["streaming"].tokens == TOKENS
    assert truths["streaming"].late_ns > 200 * MS
    for name in ("late", "whole"):
        assert begin_ns < truths[name].received_ns < end_ns, name
        assert truths[name].done_ns >= end_ns, name
    # What was due in the stall leaves together at its end, and the rest in its time.
    due_at_the_end = (end_ns - truths["streaming"].received_ns - 20 * MS) // (10 * MS)
    last_due_ns = truths["streaming"].received_ns + 20 * MS + (TOKENS - 1) * 10 * MS
    assert truths["streaming"].chunk_ns[due_at_the_end] >= end_ns
    assert truths["streaming"].chunk_ns[-1] >= last_due_ns - 1000


def test_a_page_waits_too(connect: Callable[[MockProcess], Wire]) -> None:
    """A stall is the whole server's: its list of models comes after it as well."""
    with start_mock(ttft="0", itl="0", tokens="1", stall="1ms,300ms") as mock:
        wire = connect(mock)
        wire.ask(stream=False)
        wire.read_json()
        (truth,) = mock.truth(1)
        other = connect(mock)
        time.sleep(0.05)
        other.socket.sendall(b"GET /v1/models HTTP/1.1\r\nHost: mock\r\n\r\n")
        other.read_head()
        assert time.monotonic_ns() >= truth.received_ns + 301 * MS


def test_it_ends_within_a_stall(connect: Callable[[MockProcess], Wire]) -> None:
    """Asked to stop, the server does not wait until an hour's stall is over, nor send what was due in it."""
    with start_mock(ttft="650ms", itl="0", tokens="1", stall="600ms,3600s") as mock:
        wire = connect(mock)
        wire.ask()
        wire.read_head()
        time.sleep(0.7)
        assert mock.stop() == 0
        (truth,) = mock.truth()
    assert (truth.tokens, truth.outcome) == (0, "aborted")


def test_a_stall_is_not_the_engine_s_lateness(connect: Callable[[MockProcess], Wire]) -> None:
    """The server's punctuality leaves out chunks that were due in the stall."""
    with start_mock(ttft="20ms", itl="1ms", tokens="200", stall="40ms,700ms") as mock:
        wires = [connect(mock) for _ in range(3)]
        wires[0].ask()
        wires[1].ask(stream=False)
        time.sleep(0.1)
        wires[2].ask(max_tokens=1)
        wires[0].read_until(b"[DONE]")
        wires[1].read_json()
        wires[2].read_until(b"[DONE]")
        records = mock.truth(3)
    assert max(truth.late_ns for truth in records) > 100 * MS
    # Twenty or so are due before it; where a busy machine stops the server, some more leave late and count.
    assert mock.punctuality().chunks < 100
