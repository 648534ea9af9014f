"""Scenarios: what is sent, byte for byte, to whom, and what is said about it afterwards."""

from __future__ import annotations

import asyncio
import re
import socket
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson
import pytest

from loadgen.driver.client.arrival import StampingSocket
from loadgen.driver.client.failure import Failure
from loadgen.mock_endpoint import MockOptionsError, MockSetupError, start_mock
from loadgen.mock_endpoint.scenarios.catalog import CHAOS, SCENARIOS
from loadgen.mock_endpoint.scenarios.chaos import AFTER_UNASKED, FAULTS, SHORT, Chaos
from loadgen.mock_endpoint.scenarios.expectation import expectation
from loadgen.mock_endpoint.scenarios.frame_writers import DIALECTS, STREAMED
from loadgen.mock_endpoint.scenarios.played_socket import PlayedSocket
from loadgen.mock_endpoint.scenarios.scenario import COMPLETED
from loadgen.mock_endpoint.scenarios.steps import Close, Send
from tests.for_each import for_each

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen.mock_endpoint import MockProcess
    from loadgen.mock_endpoint.scenarios.scenario import Scenario

PAIRS = [(scenario, protocol) for scenario in SCENARIOS.values() for protocol in scenario.protocols]


@pytest.fixture(scope="module")
def server() -> Iterator[MockProcess]:
    """Plays `plain` to clients that ask for nothing else."""
    with start_mock(scenario="plain") as process:
        yield process


def ask(mock: MockProcess, path: str, method: str = "POST", request_id: str = "") -> tuple[int, bytes]:
    """One request; the status and the body of its answer."""
    parts = urlsplit(mock.url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=120)
    connection.request(method, path, b"{}" if method == "POST" else None, {"X-Request-Id": request_id})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


def raw(mock: MockProcess, request: bytes) -> bytes:
    """Everything that is answered to these bytes until the server hangs up."""
    parts = urlsplit(mock.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=120) as client:
        client.sendall(request)
        return b"".join(iter(lambda: client.recv(65536), b""))


def post(path: str, **headers: str) -> bytes:
    """The bytes of a request without a body."""
    fields = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"POST {path} HTTP/1.1\r\nHost: mock\r\n{fields}\r\n".encode()


# The values…


@for_each("protocol", DIALECTS)
def test_every_protocol_has_its_scenarios(protocol: str) -> None:
    """What writes its frames, and at least a success, a failure of HTTP and a cut."""
    there = {name for name, scenario in SCENARIOS.items() if protocol in scenario.protocols}
    assert {"http_429", "cut_unanswered", "no_answer"} <= there
    assert {"json_cut", "json_for_a_stream"} <= there if protocol == "json" else {"plain", "cut"} <= there


@for_each(("scenario", "protocol"), PAIRS)
def test_a_script_is_sound(scenario: Scenario, protocol: str) -> None:
    """Its times never go back; what a client must see is a name that exists; a success has tokens."""
    script = scenario.script(DIALECTS[protocol])
    times = [step.at_ms for step in script.steps if hasattr(step, "at_ms")]
    assert times == sorted(times)
    for name in scenario.sees:
        assert name in (COMPLETED, *Failure) or re.fullmatch(r"http_\d{3}", name)
    expected = expectation(scenario, DIALECTS[protocol])
    assert (COMPLETED in scenario.sees) == (expected.tokens is not None)
    assert COMPLETED not in scenario.sees or expected.tokens or expected.output


def test_names_can_be_part_of_a_path() -> None:
    """Lower case, digits and underscores; none is an operation, a version or the mix."""
    assert all(re.fullmatch(r"[a-z][a-z0-9_]+", name) for name in SCENARIOS)
    assert not {"v1", CHAOS, SHORT.name} & set(SCENARIOS)


def test_every_failure_that_a_server_can_cause_is_caused() -> None:
    """The others are this machine's, this program's and the user's; vectors have `--result-fault`."""
    seen = {name for scenario in SCENARIOS.values() for name in scenario.sees} | {"wrong_results"}
    assert set(Failure) - seen == {"cancelled", "client_limit", "worker_lost", "client_bug", "agent_error"}


# What is served…


@pytest.mark.parametrize(
    "name", ["plain", "crlf", "bytewise", "split_events", "garbage_after", "http10", "cut"]
)
@pytest.mark.parametrize("protocol", ["chat", "messages"])
def test_the_bytes_are_those_of_the_script(server: MockProcess, name: str, protocol: str) -> None:
    """All of them, in their order, and nothing else."""
    scenario, dialect = SCENARIOS[name], DIALECTS[protocol]
    if protocol not in scenario.protocols:
        protocol, dialect = "chat", DIALECTS["chat"]
    steps = scenario.script(dialect).steps
    script = b"".join(step.data for step in steps if isinstance(step, Send))
    closes = isinstance(steps[-1], Close)
    # A connection that is left open is closed when something comes that is not a request.
    sent = raw(server, post(f"/{name}/v1{dialect.path}") + (b"" if closes else b"\x16"))
    assert sent.partition(b"HTTP/1.1 400 ")[0] == script


def test_the_first_part_of_a_path_names_the_scenario(server: MockProcess) -> None:
    """Without one, it is the scenario that the server was started with; the truth says which it was."""
    truth = len(server.truth())
    assert ask(server, "/v1/chat/completions", request_id="a")[0] == 200
    assert ask(server, "/http_503/v1/completions?x=1", request_id="b") == (
        503,
        b'{"error":{"message":"overloaded","type":"error","code":503}}',
    )
    first, two = server.truth(truth + 2)[truth:]
    assert (first.request_id, first.scenario, first.expect, first.outcome) == (
        "a",
        "plain",
        ["completed"],
        "completed",
    )
    assert (len(first.chunk_ns), first.tokens, first.status) == (16, 16, 200)
    assert first.received_ns + 20e6 <= first.chunk_ns[0] < first.chunk_ns[-1] < first.done_ns
    assert (two.scenario, two.expect, two.outcome, two.status) == ("http_503", ["http_503"], "failed", 503)
    assert (two.chunk_ns, two.tokens) == ([], 0)


def test_the_table_says_where_each_scenario_is_met(server: MockProcess) -> None:
    """GET / lists all of them; those that no connection is made to are met elsewhere."""
    status, body = ask(server, "/", "GET")
    table = {row["name"]: row for row in orjson.loads(body)}
    assert (status, list(table)) == (200, list(SCENARIOS))
    root = server.url.removesuffix("/v1")
    assert table["cut"]["url"] == f"{root}/cut/v1"
    assert table["tls_plain"]["url"].startswith(root.replace("http:", "https:"))
    assert len({urlsplit(row["url"]).netloc for row in table.values()}) == 6
    assert urlsplit(table["no_host"]["url"]).hostname == "loadgen-conformance.invalid"
    closed = urlsplit(table["refused"]["url"])
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((closed.hostname, closed.port), timeout=120)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/models", 200),
        ("GET", "/cut/v1/models", 200),
        ("GET", "/models_500/v1/models", 500),
        ("GET", "/nowhere", 404),
        ("POST", "/chat/completions", 200),
        ("POST", "/clrf/v1/chat/completions", 404),
        ("POST", "/refused/v1/chat/completions", 404),
        ("POST", "/v1/embeddings", 404),
        ("POST", "/tool_calls/v1/completions", 404),
    ],
)
def test_what_is_served_in_addition_to_scenarios(
    server: MockProcess, method: str, path: str, status: int
) -> None:
    """Model lists, and a plain word for what is not there."""
    assert ask(server, path, method)[0] == status


def test_requests_are_read_in_every_form(server: MockProcess) -> None:
    """With a length, in chunks, with a question whether to go on, one after the other."""
    path = "/http_404/v1/chat/completions"
    chunked = post(path, Transfer_Encoding="chunked") + b"2\r\n{}\r\n0\r\n\r\n"
    polite = post(path, Expect="100-continue", Content_Length="2") + b"{}"
    answer = raw(server, chunked + polite + b"\x16\x03\x01 is TLS")
    heads = re.findall(rb"HTTP/1.1 (\d+) ", answer)
    assert heads == [b"404", b"100", b"404", b"400"]


def test_a_reset_is_a_reset(server: MockProcess) -> None:
    """The client's kernel reports it."""
    with pytest.raises(ConnectionResetError):
        raw(server, post("/reset_unanswered/v1/chat/completions"))


def test_what_is_sent_before_a_reset_arrives() -> None:
    """A reset follows even what the congestion window holds back while the client reads nothing."""
    pieces = [b"x" * 270] * 200

    async def play(sock: StampingSocket) -> None:
        played = PlayedSocket(sock, None)
        for piece in pieces:
            await played.send(piece)
        await played.reset_at_close()

    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname(), timeout=120)
        accepted, _ = listener.accept()
    with client:
        with StampingSocket(fileno=accepted.detach()) as sock:
            sock.settimeout(0)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            asyncio.run(play(sock))
        with pytest.raises(ConnectionResetError):
            received.extend(iter(lambda: client.recv(65536), b""))
    assert b"".join(received) == b"".join(pieces)


def test_a_client_that_leaves_is_noted(server: MockProcess) -> None:
    """The server waits for it no longer, and tells what it had sent."""
    truth = len(server.truth())
    parts = urlsplit(server.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=120) as client:
        client.sendall(post("/stall/v1/chat/completions", X_Request_Id="gone"))
        while b" w7" not in client.recv(65536):
            pass
    (gone,) = server.truth(truth + 1)[truth:]
    assert (gone.request_id, gone.tokens, gone.finish_reason) == ("gone", 8, None)


@pytest.mark.parametrize("name", ["answered_twice", "answered_twice_late"])
def test_a_second_response_is_the_last_on_its_connection(server: MockProcess, name: str) -> None:
    """The next request on it is noted, gets no other, and the connection closes."""
    truth = len(server.truth())
    path = f"/{name}/v1/chat/completions"
    answer = raw(server, post(path, X_Request_Id="a") + post(path, X_Request_Id="b"))
    assert answer.count(b"HTTP/1.1 200 OK") == 2
    assert b" w15" in answer.partition(b"Connection: close")[0]
    assert b" w16" in answer.partition(b"Connection: close")[2]
    first, two = server.truth(truth + 2)[truth:]
    assert (first.request_id, first.scenario, first.tokens, first.unasked_ns) == ("a", name, 16, 0)
    assert (two.request_id, two.scenario) == ("b", AFTER_UNASKED)
    assert two.expect == ["unasked_response", "completed"]
    assert first.done_ns < two.unasked_ns


def test_why_nothing_is_played(server: MockProcess) -> None:
    """A name that is not one, a place that is another, a protocol that the scenario is not for."""
    paths = ("/clrf/v1/chat/completions", "/tls_plain/v1/chat/completions", "/tool_calls/v1/completions")
    words = [orjson.loads(ask(server, path)[1])["error"]["message"] for path in paths]
    assert [word.partition(";")[0] for word in words] == [
        "unknown scenario 'clrf'",
        "tls_plain is met at another address",
        "tool_calls is not for this protocol, but for chat, responses, messages",
    ]
    assert "did you mean 'crlf'" in words[0]


# Options…


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scenario": "plain", "replies": "x.jsonl"}, "replies"),
        ({"scenario": CHAOS, "fault_share": 1.5}, "choose from 0 to 1"),
    ],
)
def test_options_that_do_not_go_together(options: dict[str, Any], message: str) -> None:
    """They are named before anything starts."""
    with pytest.raises(MockOptionsError, match=message):
        start_mock(**options)


def test_a_scenario_that_does_not_exist() -> None:
    """The one that was meant is named."""
    with pytest.raises(MockSetupError, match="unknown scenario 'clrf'; did you mean 'crlf'"):
        start_mock(scenario="clrf")


@pytest.mark.parametrize("name", ["no_host", "tls_expired"])
def test_a_server_says_where_its_scenario_is_met(name: str) -> None:
    """Also where no connection to it can be made."""
    with start_mock(scenario=name) as mock:
        assert re.match(r"https://127|http://loadgen-conformance\.invalid", mock.url)


# Chaos…


def test_chaos_is_drawn_from_a_seed() -> None:
    """The same faults for the same requests, about as many as asked for, all that there are, no timeout."""
    first, again, other = Chaos(0.3, 7), Chaos(0.3, 7), Chaos(0.3, 8)
    drawn = [first.draw("chat") for _ in range(2000)]
    assert drawn == [again.draw("chat") for _ in range(2000)]
    assert drawn != [other.draw("chat") for _ in range(2000)]
    faults = [scenario for scenario in drawn if scenario is not SHORT]
    assert 0.25 < len(faults) / len(drawn) < 0.35
    assert set(faults) == {scenario for scenario in FAULTS if "chat" in scenario.protocols}
    assert not {name for fault in faults for name in fault.sees if "timeout" in name}
    assert {fault.name for fault in faults if COMPLETED in fault.sees} == {
        "answered_twice",
        "answered_twice_late",
    }
    assert Chaos(0, 1).draw("sse") is SHORT
    always = Chaos(1, 1)
    assert SHORT not in {always.draw("json") for _ in range(9)}


@pytest.mark.parametrize("protocol", STREAMED)
def test_a_short_answer_is_whole(protocol: str) -> None:
    """Four tokens in every protocol that streams."""
    expected = expectation(SHORT, DIALECTS[protocol])
    assert (expected.tokens, expected.chunks) == (4, 4)
