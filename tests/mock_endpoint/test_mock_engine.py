"""The engine: what its clients may do to it, and what it knows of itself."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loadgen.mock_endpoint import MockProcess, Punctuality, start_mock

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Wire

MS = 1_000_000
HEALTH = b"GET /health HTTP/1.1\r\nHost: mock\r\n\r\n"
QUESTION = b'{"prompt": "one two", "stream": true}'
ASK = b"POST /v1/completions HTTP/1.1\r\nHost: mock\r\nContent-Length: %d\r\n\r\n%b" % (
    len(QUESTION),
    QUESTION,
)


def to_the_end(wire: Wire) -> bytes:
    """Read until the server closes its end."""
    return b"".join(iter(lambda: wire.socket.recv(65536), b""))


def healthy(mock: MockProcess) -> bool:
    """Whether it still answers a newcomer."""
    parts = urlsplit(mock.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=120) as client:
        client.sendall(HEALTH)
        return client.recv(4096).startswith(b"HTTP/1.1 200 OK")


# What clients send


def test_requests_in_a_row_are_answered_in_a_row(
    instant: MockProcess,
    connect: Callable[[MockProcess], Wire],
) -> None:
    """A client that does not wait for an answer before it asks again gets answers in order."""
    wire = connect(instant)
    wire.socket.sendall((ASK + HEALTH) * 2)
    for _ in range(2):
        assert b"text/event-stream" in wire.read_head()
        assert len(wire.read_events()) == 9
        assert b"Content-Length: 0" in wire.read_head()


def test_paced_requests_in_a_row_wait_for_each_other(connect: Callable[[MockProcess], Wire]) -> None:
    """A question that came while another was being answered is answered after it."""
    with start_mock(ttft="5ms", itl="1ms", tokens="3") as mock:
        wire = connect(mock)
        wire.socket.sendall(ASK * 3)
        for _ in range(3):
            wire.read_head()
            assert len(wire.read_events()) == 4
        first, second, third = mock.truth(3)
    assert first.chunk_ns[-1] < second.chunk_ns[0] < second.chunk_ns[-1] < third.chunk_ns[0]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, len(ASK)), max_size=6))
def test_however_it_is_split_a_request_is_the_same(
    instant: MockProcess,
    connect: Callable[[MockProcess], Wire],
    cuts: list[int],
) -> None:
    """A request that arrives in pieces gets the answer of one that arrives whole."""
    wire = connect(instant)
    wire.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    edges = [0, *sorted(cuts), len(ASK)]
    for begin, end in itertools.pairwise(edges):
        wire.socket.sendall(ASK[begin:end])
    assert b"200 OK" in wire.read_head()
    assert len(wire.read_events()) == 9
    wire.socket.close()


def test_a_body_in_chunks_is_taken(instant: MockProcess, connect: Callable[[MockProcess], Wire]) -> None:
    """A body whose length is not known in advance is a body."""
    wire = connect(instant)
    head = b"POST /v1/completions HTTP/1.1\r\nHost: mock\r\nTransfer-Encoding: chunked\r\n\r\n"
    pieces = [QUESTION[begin : begin + 5] for begin in range(0, len(QUESTION), 5)]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in [*pieces, b""])
    wire.socket.sendall(head + chunks)
    assert b"200 OK" in wire.read_head()
    assert len(wire.read_events()) == 9


def test_a_client_that_waits_to_be_asked_is_asked(
    instant: MockProcess,
    connect: Callable[[MockProcess], Wire],
) -> None:
    """A client that expects `100 Continue`, as curl does before a long body, gets it."""
    wire = connect(instant)
    head = (
        b"POST /v1/completions HTTP/1.1\r\nHost: mock\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n"
    )
    wire.socket.sendall(head % len(QUESTION))
    assert wire.read_head() == b"HTTP/1.1 100 Continue\r\n\r\n"
    wire.socket.sendall(QUESTION)
    assert b"200 OK" in wire.read_head()


def test_a_connection_ends_when_its_client_wants_it(
    instant: MockProcess,
    connect: Callable[[MockProcess], Wire],
) -> None:
    """After `Connection: close` the answer comes in full, says the same, and is the last thing that comes."""
    wire = connect(instant)
    wire.socket.sendall(ASK.replace(b"Host: mock", b"Host: mock\r\nConnection: close"))
    answer = to_the_end(wire)
    assert b"\r\nConnection: close\r\n" in answer
    assert answer.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n")


def test_another_protocol_is_not_spoken(instant: MockProcess, connect: Callable[[MockProcess], Wire]) -> None:
    """A client that offers HTTP/2 is answered in HTTP/1.1; what it sends after that is not a request."""
    wire = connect(instant)
    offer = b"Host: mock\r\nConnection: Upgrade\r\nUpgrade: h2c"
    wire.socket.sendall(HEALTH.replace(b"Host: mock", offer) + b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    assert to_the_end(wire).count(b"HTTP/1.1") == 1


def test_the_head_alone_has_no_body(instant: MockProcess, connect: Callable[[MockProcess], Wire]) -> None:
    """The answer to HEAD says its length, but nothing of that length follows."""
    wire = connect(instant)
    wire.socket.sendall(HEALTH.replace(b"GET", b"HEAD") + HEALTH)
    assert b" 405 " in wire.read_head()
    assert wire.read_head().startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("path", ["/v1/completions", "/health"])
def test_older_clients_are_answered(
    instant: MockProcess, connect: Callable[[MockProcess], Wire], path: str
) -> None:
    """HTTP/1.0, which many proxies speak, has no chunks: the end of the connection ends a stream."""
    wire = connect(instant)
    asked = ASK if path == "/v1/completions" else HEALTH
    wire.socket.sendall(asked.replace(b"HTTP/1.1", b"HTTP/1.0"))
    head, _, body = to_the_end(wire).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK")
    assert (b"chunked" in head, b"\r\nConnection: close" in head) == (False, True)
    if asked == ASK:
        *events, rest = body.split(b"\n\n")
        assert (len(events), events[-1], rest) == (10, b"data: [DONE]", b"")
        assert all(event.startswith(b"data: ") for event in events)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x16\x03\x01 this is TLS", 400),
        (b"GET / HTTP/1.1\r\nContent-Length: many\r\n\r\n", 400),
        (HEALTH.replace(b"1.1", b"2.0"), 505),
        (b"GET /" + b"a" * 70_000, 431),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000, 431),
    ],
)
def test_what_is_not_understood_is_refused(
    instant: MockProcess,
    connect: Callable[[MockProcess], Wire],
    sent: bytes,
    status: int,
) -> None:
    """What is not HTTP/1.1 gets an error in OpenAI's form, and the connection ends."""
    wire = connect(instant)
    wire.socket.sendall(sent)
    answered, body = wire.read_json()
    assert (answered, body["error"]["type"]) == (status, "invalid_request_error")
    assert to_the_end(wire) == b""


def test_a_compressed_question_is_known(instant: MockProcess, connect: Callable[[MockProcess], Wire]) -> None:
    """A compressed body is refused with 415, which the truth knows, and the connection goes on."""
    wire = connect(instant)
    truth = len(instant.truth())
    wire.send(b"\x1f\x8b", Content_Encoding="gzip", X_Request_Id="zipped")
    assert wire.read_json()[0] == 415
    wire.send(QUESTION, "/v1/completions")
    wire.read_head()
    first, _ = instant.truth(truth + 2)[truth:]
    assert (first.request_id, first.status, first.outcome) == ("zipped", 415, "failed")


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.one_of(st.binary(max_size=200), st.sampled_from([ASK, HEALTH, ASK[:-9], b"\r\n"])), max_size=5
    )
)
def test_nothing_that_is_sent_stops_it(instant: MockProcess, sent: list[bytes]) -> None:
    """Whatever a client sends before it leaves, the next one is served."""
    parts = urlsplit(instant.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=120) as client:
        client.sendall(b"".join(sent))
    assert healthy(instant)


def test_a_client_that_resets_does_not_stop_it(connect: Callable[[MockProcess], Wire]) -> None:
    """Clients that break off in the middle, with a reset instead of an end, are known as aborted."""
    with start_mock(ttft="0", itl="1ms", tokens="100000") as mock:
        wires = [connect(mock) for _ in range(5)]
        for wire in wires:
            wire.ask()
            wire.read_until(b'"content":" endpoint"')
        for wire in wires:
            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            wire.socket.close()
        assert {truth.outcome for truth in mock.truth(5)} == {"aborted"}
        assert healthy(mock)


# Clients that do not read


@pytest.mark.parametrize("itl", ["0", "1us"])
def test_who_does_not_read_gets_everything_later(connect: Callable[[MockProcess], Wire], itl: str) -> None:
    """A long answer to a client that reads late arrives in full; meanwhile others are served."""
    with start_mock(ttft="0", itl=itl, tokens="60000") as mock:
        wire = connect(mock)
        wire.ask()
        wire.read_head()
        assert healthy(mock)
        received = bytearray(wire._unread)
        while not received.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n"):
            received += wire.socket.recv(1 << 20)
        (truth,) = mock.truth(1)
    assert received.count(b"data: ") >= 60_000
    assert (truth.tokens, len(truth.chunk_ns), truth.outcome) == (60_000, 60_000, "completed")


# The truth


def test_many_tokens_a_chunk_are_counted(connect: Callable[[MockProcess], Wire]) -> None:
    """Sent at once or one by one, chunks of seven tokens hold all tokens, and the last the rest."""
    for itl in ("0", "1us"):
        with start_mock(ttft="0", itl=itl, tokens="8000", tokens_per_chunk=7) as mock:
            wire = connect(mock)
            wire.ask()
            wire.read_head()
            assert len(wire.read_events()) == 1 + 1143 + 1
            (truth,) = mock.truth(1)
        assert (truth.tokens, len(truth.chunk_ns), truth.outcome) == (8000, 1143, "completed")


@pytest.mark.skipif(
    sys.platform != "linux",
    reason="received_ns is the kernel's stamp, which only Linux has; elsewhere it is the time of the read",
)
def test_a_request_is_received_when_it_arrives(connect: Callable[[MockProcess], Wire]) -> None:
    """A request that waits because the server is held up was received before, and its answer is late."""
    with start_mock(ttft="1ms", itl="1ms", tokens="2") as mock:
        wire = connect(mock)
        wire.ask()
        wire.read_until(b"[DONE]")
        os.kill(mock.pid, signal.SIGSTOP)
        before = time.monotonic_ns()
        wire.ask()
        after = time.monotonic_ns()
        time.sleep(0.1)
        os.kill(mock.pid, signal.SIGCONT)
        wire.read_until(b"[DONE]")
        _, truth = mock.truth(2)
    # The wall clock, in which the kernel stamps, is converted to within a few microseconds.
    assert before - MS < truth.received_ns < after + MS
    assert truth.late_ns > 50 * MS


def test_the_truth_is_in_the_file_when_it_ends(connect: Callable[[MockProcess], Wire]) -> None:
    """What waited to be written when the server was stopped is written, in order."""
    with start_mock(ttft="0", itl="0", tokens="2") as mock:
        wire = connect(mock)
        for number in range(300):
            wire.ask(request_id=str(number))
            wire.read_until(b"[DONE]")
        mock.stop()
        assert [truth.request_id for truth in mock.truth()] == [str(number) for number in range(300)]


# Punctuality


def test_it_knows_how_late_its_chunks_left(connect: Callable[[MockProcess], Wire]) -> None:
    """After its end it knows the number of chunks, and the latest is that of the truth."""
    with start_mock(ttft="2ms", itl="1ms", tokens="20") as mock:
        wires = [connect(mock) for _ in range(3)]
        for stream in (True, True, False):
            for wire in wires:
                wire.ask(stream=stream)
            for wire in wires:
                wire.read_until(b"[DONE]" if stream else b"total_tokens")
        with pytest.raises(ValueError, match="was stopped in order"):
            mock.punctuality()
    late = [truth.late_ns for truth in mock.truth()]
    expected = mock.punctuality()
    assert (expected.chunks, expected.late_max_ns) == (6 * 20 + 3, max(late))
    assert 0 <= expected.late_p50_ns <= expected.late_p99_ns <= expected.late_max_ns
    assert min(late) > 0


def test_it_knows_when_it_did_not_keep_up(connect: Callable[[MockProcess], Wire]) -> None:
    """A server that was held up for a while says so."""
    with start_mock(ttft="0", itl="1ms", tokens="1200") as mock:
        wire = connect(mock)
        wire.ask()
        wire.read_until(b'"content":" endpoint"')
        os.kill(mock.pid, signal.SIGSTOP)
        time.sleep(0.2)
        os.kill(mock.pid, signal.SIGCONT)
        wire.read_until(b"[DONE]")
    expected = mock.punctuality()
    assert not expected.kept_up
    assert expected.late_max_ns > 100 * MS
    assert expected.late_1ms > 100


def test_what_has_no_due_time_cannot_be_late(connect: Callable[[MockProcess], Wire]) -> None:
    """Answers without any delay are not counted: nothing was promised."""
    with start_mock(ttft="0", itl="0", tokens="4") as mock:
        for stream in (True, False):
            wire = connect(mock)
            wire.ask(stream=stream)
            wire.read_until(b"[DONE]" if stream else b"total_tokens")
    assert mock.punctuality() == Punctuality(0, 0, 0, 0, 0)


def test_a_scenario_does_not_know() -> None:
    """Asking for the punctuality of a scenario, which promises no times, is an error that says so."""
    with start_mock(scenario="crlf") as mock:
        pass
    with pytest.raises(ValueError, match="without a scenario"):
        mock.punctuality()


def test_the_command_says_whether_it_kept_up() -> None:
    """`loadgen mock` ends with a sentence on standard error."""
    arguments = ["--port", "0", "--ttft", "1ms", "--tokens", "1"]
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "loadgen",
            "mock",
            *arguments,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline().rpartition(b":")[2].partition(b"/")[0])
        with socket.create_connection(("127.0.0.1", port), timeout=120) as client:
            client.sendall(ASK)
            while b"[DONE]" not in client.recv(65536):
                pass
        server.send_signal(signal.SIGINT)
        text, errors = server.communicate(timeout=120)
    assert (server.returncode, text) == (0, b"")
    assert b"keep up: 1 chunks, late p50 " in errors.replace(b"kept", b"keep")


# Limits of the machine


def test_without_files_left_clients_wait() -> None:
    """With no file left for a client, it waits until another one leaves, and nothing is lost."""
    options = orjson.dumps({"port": 0}).decode()
    with subprocess.Popen(
        ["/bin/sh", "-c", 'ulimit -n 24; exec "$0" -m loadgen.mock_endpoint "$1"', sys.executable, options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline().rpartition(b":")[2].partition(b"/")[0])
        clients = [socket.create_connection(("127.0.0.1", port), timeout=120) for _ in range(40)]
        for client in clients:
            client.sendall(HEALTH)
        for client in clients:
            assert client.recv(4096).startswith(b"HTTP/1.1 200 OK")
            client.close()
        server.terminate()
        _, errors = server.communicate(timeout=120)
    assert (server.returncode, errors) == (0, b"")
