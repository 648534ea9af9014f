"""What the server knows of its requests, whatever becomes of them."""

from __future__ import annotations

import itertools
import os
import signal
import time
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from loadgen.mock_endpoint import MockOptionsError, MockProcess, Truth, start_mock
from loadgen.mock_endpoint.truth import TruthFile, read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Wire

MS = 1_000_000


def test_a_stream_is_known_in_order(connect: Callable[[MockProcess], Wire]) -> None:
    """Times are in order, on the client's clock, and none is before it was due."""
    with start_mock(ttft="20ms", itl="2ms", tokens="10") as mock:
        wire = connect(mock)
        before = time.monotonic_ns()
        wire.ask(request_id="abc")
        wire.read_head()
        wire.read_events()
        after = time.monotonic_ns()
        (truth,) = mock.truth(1)
    assert (truth.request_id, truth.path) == ("abc", "/v1/chat/completions")
    assert (truth.status, truth.outcome, truth.finish_reason) == (200, "completed", "stop")
    assert (truth.tokens, truth.input_tokens, truth.queued_ns) == (10, 3, 0)
    assert before < truth.received_ns < truth.chunk_ns[0]
    assert truth.chunk_ns == sorted(truth.chunk_ns)
    assert truth.chunk_ns[-1] < after
    due = [truth.received_ns + 20 * MS + token * 2 * MS for token in range(10)]
    # The event loop's clock counts in float seconds: a microsecond covers its rounding.
    assert all(sent >= index - 1000 for sent, index in zip(truth.chunk_ns, due, strict=True))
    assert truth.chunk_ns[-1] <= truth.done_ns


def test_being_late_is_not_passed_on(connect: Callable[[MockProcess], Wire]) -> None:
    """A server that was held up for half a second sends later tokens when they were due all along."""
    with start_mock(ttft="0", itl="10ms", tokens="100") as mock:
        wire = connect(mock)
        wire.ask()
        wire.read_until(b'"content":" A"')
        os.kill(mock.pid, signal.SIGSTOP)
        time.sleep(0.5)
        os.kill(mock.pid, signal.SIGCONT)
        wire.read_until(b"[DONE]")
        (truth,) = mock.truth(1)
    late = [sent - truth.received_ns - token * 10 * MS for token, sent in enumerate(truth.chunk_ns)]
    assert max(late) > 400 * MS
    # A busy machine may stop the server once more, at whichever of the later ones.
    assert min(late[late.index(max(late)) :]) < max(late) / 2


def test_an_answer_in_one_piece_has_no_chunks(connect: Callable[[MockProcess], Wire]) -> None:
    """Without a stream the tokens are known, their times are not; the end is not before the last is due."""
    with start_mock(ttft="20ms", itl="2ms", tokens="10") as mock:
        wire = connect(mock)
        wire.ask(stream=False)
        wire.read_json()
        (truth,) = mock.truth(1)
    assert (truth.chunk_ns, truth.tokens, truth.outcome) == ([], 10, "completed")
    assert truth.done_ns - truth.received_ns >= (20 + 9 * 2) * MS


def test_a_client_that_leaves_is_known(connect: Callable[[MockProcess], Wire]) -> None:
    """The truth of a request whose client left in the middle holds the tokens up to then."""
    with start_mock(ttft="0", itl="1ms", tokens="100000") as mock:
        wire = connect(mock)
        wire.ask()
        wire.read_until(b'"content":" endpoint"')
        wire.socket.close()
        (truth,) = mock.truth(1)
    assert (truth.status, truth.outcome, truth.finish_reason) == (200, "aborted", None)
    assert 3 <= truth.tokens < 100_000
    assert truth.tokens <= len(truth.chunk_ns) <= truth.tokens + 1
    assert truth.done_ns >= truth.chunk_ns[-1]


def test_a_client_that_leaves_before_its_answer_is_known(connect: Callable[[MockProcess], Wire]) -> None:
    """A request that was never answered has status 499 and no tokens."""
    with start_mock(ttft="3600s") as mock:
        wire = connect(mock)
        wire.ask(stream=False)
        other = connect(mock)
        other.ask(stream=True)
        other.read_head()
        wire.socket.close()
        (truth,) = mock.truth(1)
    assert (truth.status, truth.outcome, truth.tokens) == (499, "aborted", 0)


def test_a_client_that_leaves_within_its_request_is_known(connect: Callable[[MockProcess], Wire]) -> None:
    """A request whose body never came in full is in the truth as well."""
    with start_mock() as mock:
        wire = connect(mock)
        wire.socket.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: mock\r\nContent-Length: 99\r\n\r\n{")
        # A second request in full shows that the server has had the time to read the first.
        other = connect(mock)
        other.ask(stream=True, max_tokens=1)
        other.read_head()
        other.read_events()
        wire.socket.close()
        last = mock.truth(2)[-1]
    assert (last.path, last.status, last.outcome) == ("/v1/completions", 499, "aborted")


def test_a_refusal_is_known(instant: MockProcess, connect: Callable[[MockProcess], Wire]) -> None:
    """A request that was refused is in the truth with its status."""
    wire = connect(instant)
    earlier = len(instant.truth())
    wire.send(b"{", X_Request_Id="refused")
    wire.read_json()
    truth = instant.truth(earlier + 1)[-1]
    assert (truth.request_id, truth.status, truth.outcome) == ("refused", 400, "failed")


def test_a_stopped_server_tells_what_it_cut_off(connect: Callable[[MockProcess], Wire]) -> None:
    """What was being served when the server was stopped is in the truth."""
    with start_mock(ttft="0", itl="3600s") as mock:
        wire = connect(mock)
        wire.ask()
        wire.read_until(b'"content":" A"')
        assert mock.stop() == 0
        (truth,) = mock.truth()
    assert (truth.outcome, truth.tokens) == ("aborted", 1)


def test_slots_are_given_in_order_of_arrival(connect: Callable[[MockProcess], Wire]) -> None:
    """With one slot, requests are served one after the other as they came, and know how long they waited.

    One that the server reads late, when the slot is free again, has not waited for it.
    """
    with start_mock(ttft="100ms", itl="1ms", tokens="5", slots=1) as mock:
        wires = [connect(mock) for _ in range(5)]
        for number, wire in enumerate(wires):
            wire.ask(request_id=str(number))
            wire.read_head()
        for wire in wires:
            wire.read_events()
        served = mock.truth(5)
    assert [truth.request_id for truth in served] == ["0", "1", "2", "3", "4"]
    assert served[0].queued_ns == 0
    assert any(truth.queued_ns for truth in served)
    for earlier, later in itertools.pairwise(served):
        assert later.chunk_ns[0] > earlier.chunk_ns[-1]
        assert not later.queued_ns or later.received_ns + later.queued_ns > earlier.chunk_ns[-1]
        assert later.chunk_ns[0] >= later.received_ns + later.queued_ns + 100 * MS - 1000


def test_no_more_than_the_slots_are_served_at_once(connect: Callable[[MockProcess], Wire]) -> None:
    """With two slots, a third stream never has its tokens among those of two others."""
    with start_mock(ttft="100ms", itl="1ms", tokens="5", slots=2) as mock:
        wires = [connect(mock) for _ in range(6)]
        for wire in wires:
            wire.ask()
        for wire in wires:
            wire.read_head()
            wire.read_events()
        served = mock.truth(6)
    spans = sorted((truth.chunk_ns[0], truth.chunk_ns[-1]) for truth in served)
    for begin, _ in spans:
        assert sum(first <= begin <= last for first, last in spans) <= 2
    assert 0 < sum(truth.queued_ns > 0 for truth in served) <= 4


def test_one_who_leaves_the_queue_frees_no_slot(
    connect: Callable[[MockProcess], Wire], tmp_path: Path
) -> None:
    """A client that leaves while it waits is passed over, and the next one is still served alone."""
    replies = tmp_path / "replies.jsonl"
    replies.write_text('{"match": "slow", "reply": "a b", "ttft": "700ms"}')
    with start_mock(ttft="10ms", itl="0", tokens="2", slots=1, replies=replies) as mock:
        first, leaver, last = (connect(mock) for _ in range(3))
        for number, wire in enumerate((first, leaver, last)):
            question = "quick" if number else "slow"
            wire.ask(request_id=str(number), messages=[{"role": "user", "content": question}])
            wire.read_head()
        leaver.socket.close()
        first.read_events()
        last.read_events()
        served = {truth.request_id: truth for truth in mock.truth(3)}
    assert served["1"].outcome == "aborted"
    assert served["1"].chunk_ns == []
    assert served["2"].chunk_ns[0] > served["0"].chunk_ns[-1]


def test_a_line_without_its_end_is_left_out(tmp_path: Path) -> None:
    """A file that is being written is read up to its last whole line."""
    path = tmp_path / "truth.jsonl"
    file = TruthFile(path)
    file.write(Truth("a", "/v1/completions", 5))
    file.write(Truth("b", "/v1/completions", 6))
    file.close()
    path.write_bytes(path.read_bytes()[:-1])
    (truth,) = read(path)
    assert (truth.request_id, truth.received_ns) == ("a", 5)


def test_a_truth_that_cannot_be_written_is_explained(tmp_path: Path) -> None:
    """A folder that does not exist is named."""
    with pytest.raises(MockOptionsError, match=r"cannot be written to .*none/t\.jsonl: No such file"):
        TruthFile(tmp_path / "none" / "t.jsonl")


def test_what_was_asked_is_known(connect: Callable[[MockProcess], Wire]) -> None:
    """Model, number of messages and their digest; a prompt has a digest alone, a refused request nothing."""
    messages = [
        {"role": "user", "content": "größer"},
        {"content": None, "role": "assistant", "tool_calls": [{"id": "a"}]},
        {"role": "user", "content": "2"},
    ]
    with start_mock(ttft="0", itl="0", tokens="1") as mock:
        wire = connect(mock)
        for ask in (
            lambda: wire.ask(request_id="chat", model="small", stream=False, messages=messages),
            lambda: wire.ask("/v1/completions", request_id="ids", stream=False, prompt=[1, 2]),
            lambda: wire.ask(request_id="refused", stream=False, messages=[]),
        ):
            ask()
            wire.read_json()
        records = {truth.request_id: truth for truth in mock.truth(3)}
    chat, ids, refused = records["chat"], records["ids"], records["refused"]
    text = (
        '[{"content":"größer","role":"user"},{"content":null,"role":"assistant","tool_calls":[{"id":"a"}]},'
    )
    text += '{"content":"2","role":"user"}]'
    assert (chat.model, chat.messages, chat.asked_sha256) == ("small", 3, sha256(text.encode()).hexdigest())
    assert (ids.model, ids.messages, ids.asked_sha256) == ("mock", None, sha256(b"[1,2]").hexdigest())
    assert (refused.model, refused.messages, refused.asked_sha256) == (None, None, None)
