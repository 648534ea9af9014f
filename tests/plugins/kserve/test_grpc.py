"""KServe over gRPC: tensors as messages, a server that frames in unusual ways, and the mock endpoint."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import TYPE_CHECKING, Any

import orjson
import pytest
import trustme
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, StreamEnded
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client.codec import Generation
from loadgen.driver.client.endpoint import Request, endpoint
from loadgen.driver.client.exchange import Exchange
from loadgen.driver.client.http_transport import HttpTransport
from loadgen.driver.client.protocols import codec_of
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.errors import CannotAskError, EndpointError, MalformedResponseError
from loadgen.driver.requests.attempt import attempt_request
from loadgen.mock_endpoint.process import start_mock
from loadgen.plugins.kserve.messages import INFER, STREAM, infer_request, json_of, message, tensors_of
from loadgen.plugins.selftest import grpc_requests
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.endpoint_checks import ask_endpoint
from loadgen.sessions.run.preparation import targets_of
from loadgen.sessions.settings.endpoint_options import CheckSettings
from loadgen.sessions.settings.perf import perf_settings
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NUMBERS = {
    "INT32": st.integers(-(2**31), 2**31 - 1),
    "UINT64": st.integers(0, 2**64 - 1),
    "FP64": st.floats(allow_nan=False, allow_infinity=False),
    "BOOL": st.booleans(),
    "BYTES": st.text(st.characters(exclude_categories=("Cs",))),
}


@given(st.data())
def test_tensors_survive_the_way_through_messages(data: st.DataObject) -> None:
    """A request's tensors are read as they were written, in typed contents and in raw ones."""
    kinds = data.draw(st.lists(st.sampled_from(sorted(NUMBERS)), min_size=1, max_size=4))
    tensors = [
        {"name": f"t{place}", "datatype": kind, "shape": [len(values)], "data": values}
        for place, kind in enumerate(kinds)
        for values in [data.draw(st.lists(NUMBERS[kind], max_size=5))]
    ]
    sent = message("ModelInferRequest").FromString(infer_request("m", {"inputs": tensors, "id": "7"}))
    assert (sent.model_name, sent.id) == ("m", "7")
    response = message("ModelInferResponse")()
    response.outputs.extend(sent.inputs)
    assert tensors_of(response)["outputs"] == tensors
    assert orjson.loads(json_of(INFER, response.SerializeToString()))["outputs"] == tensors


def test_messages_that_do_not_fit() -> None:
    """Raw contents are read by datatype; what does not fit is refused, with a reason."""
    response = message("ModelInferResponse")(raw_output_contents=[b"\3\0\0\0one", b"\0\0\x80?"])
    response.outputs.add(name="text_output", datatype="BYTES", shape=[1])
    response.outputs.add(name="x", datatype="FP32", shape=[1])
    assert [each["data"] for each in tensors_of(response)["outputs"]] == [["one"], [1.0]]
    wrapped = message("ModelStreamInferResponse")(infer_response=response.SerializeToString())
    assert json_of(STREAM, wrapped.SerializeToString()) == json_of(STREAM, response.SerializeToString())
    failed = message("ModelStreamInferResponse")(error_message="no such model").SerializeToString()
    assert json_of(STREAM, failed) == b'data: {"error":"no such model"}\n\n'
    for raw in ([b"\xff\0\0\0one", b""], [b""]):
        response.raw_output_contents[:] = raw
        with pytest.raises(MalformedResponseError, match="raw contents"):
            tensors_of(response)
    with pytest.raises(MalformedResponseError, match="not a response of ModelInfer"):
        json_of(INFER, b"\xff")
    with pytest.raises(CannotAskError, match="FP16 of x: gRPC sends BOOL"):
        infer_request("m", {"inputs": [{"name": "x", "datatype": "FP16", "shape": [1], "data": [1]}]})
    with pytest.raises(CannotAskError, match="KeyError: 'datatype'"):
        infer_request("m", {"inputs": [{"name": "x"}]})


def test_an_extra_body_has_places_for_the_prompt() -> None:
    """Tensors of `--extra-body` replace ours, and take the prompt and the limit where they name them."""
    inputs = [{"name": "PROMPT", "shape": [1], "datatype": "BYTES", "data": ["{prompt}", "{temperature}"]}]
    generation = Generation("m", max_tokens=3, extra_body={"inputs": inputs})
    sample = Sample(0, "say {max_tokens}", system="be brief")
    body: Any = codec_of("kserve", {}).request(sample, generation)
    assert body == {"inputs": [inputs[0] | {"data": ["be brief\n\nsay {max_tokens}"]}]}
    encoded = codec_of("triton-grpc", {}).request(sample, Generation("m", max_tokens=3))
    asked = message("ModelInferRequest").FromString(encoded)
    assert [each.name for each in asked.inputs] == ["text_input", "max_tokens", "stream"]
    assert [each.name for each in asked.outputs] == ["text_output"]


@pytest.fixture
def server() -> Iterator[Callable[..., str]]:
    """Start a server of one connection after another, each played by a function."""
    listener = socket.create_server(("127.0.0.1", 0))

    def play(*scripts: Callable[[Peer], None]) -> str:
        def serve() -> None:
            for script in scripts:
                client, _ = listener.accept()
                with client:
                    script(Peer(client))

        threading.Thread(target=serve, daemon=True).start()
        return f"grpc://127.0.0.1:{listener.getsockname()[1]}"

    with listener:
        yield play


class Peer:
    """The server's end of a connection."""

    def __init__(self, client: socket.socket) -> None:
        self.client = client
        self.http2 = H2Connection(H2Configuration(client_side=False))
        self.http2.initiate_connection()

    def request(self) -> int:
        """Read up to the end of a request; return the stream's number, or 0 after the end of all."""
        while data := self.client.recv(65536):
            events = self.http2.receive_data(data)
            for event in events:
                if isinstance(event, DataReceived):
                    size = event.flow_controlled_length or 0
                    self.http2.acknowledge_received_data(size, event.stream_id)
            self.flush()
            for event in events:
                if isinstance(event, StreamEnded):
                    return int(event.stream_id)
        return 0

    def head(self, stream: int, media_type: str = "application/grpc", status: str = "200") -> None:
        """Send the head of a response."""
        self.http2.send_headers(stream, [(":status", status), ("content-type", media_type)])
        self.flush()

    def data(self, stream: int, data: bytes, *, ends: bool = False) -> None:
        """Send a frame of data."""
        self.http2.send_data(stream, data, end_stream=ends)
        self.flush()

    def status(self, stream: int, code: int = 0, text: str = "") -> None:
        """End a response with a status."""
        self.http2.send_headers(stream, [("grpc-status", str(code)), ("grpc-message", text)], end_stream=True)
        self.flush()

    def flush(self) -> None:
        """Send what HTTP/2 has to send."""
        self.client.sendall(self.http2.data_to_send())


def part(text: str) -> bytes:
    """A message of a stream, after the length."""
    response = message("ModelInferResponse")()
    response.outputs.add(name="text_output", datatype="BYTES", shape=[1]).contents.bytes_contents.append(
        text.encode()
    )
    data = message("ModelStreamInferResponse")(
        infer_response=response.SerializeToString()
    ).SerializeToString()
    return b"\0" + len(data).to_bytes(4) + bytes(data)


def ask(url: str, *prompts: str) -> list[tuple[str, str]]:
    """Ask in turn over one transport; return the texts and the failures."""

    async def asked() -> list[tuple[str, str]]:
        codec = codec_of("triton-grpc", {})
        target = endpoint(url, {"Authorization": "Bearer x"}, rooted=True, scheme="grpc")
        transport = HttpTransport(target, Timeouts(timeout_s=10))
        seen = []
        for prompt in prompts:
            exchange = Exchange(ResponseStream(codec), lambda _: None, lambda _: None)
            body = codec.request(Sample(0, prompt), Generation("m"))
            assert isinstance(body, bytes)
            request = Request("POST", codec.path, "id", body, content_type="application/grpc")
            failed = await attempt_request(transport, request, exchange)
            failure = "" if failed is None else f"{failed.failure}: {failed}"
            seen.append(("".join(exchange.stream.answer.content), failure))
        await transport.close()
        return seen

    return asyncio.run(asked())


def test_unusual_frames_are_read(server: Callable[..., str]) -> None:
    """Split and joined messages, pings, a long request, and farewells before, within and after a response."""

    def first(peer: Peer) -> None:
        stream = peer.request()
        peer.head(stream)
        both = part("one") + part(" two")
        for begin, end in ((0, 3), (3, 40), (40, None)):
            peer.data(stream, both[begin:end])
            peer.http2.ping(b"01234567")
            peer.flush()
        peer.status(stream)
        peer.http2.ping(b"76543210")
        peer.flush()
        stream = peer.request()
        peer.http2.close_connection(last_stream_id=stream)
        peer.flush()
        # The present request is answered; h2 would send nothing after a farewell.
        peer.http2.state_machine.state = type(peer.http2.state_machine.state).SERVER_OPEN
        peer.head(stream)
        peer.data(stream, part("three"))
        peer.status(stream)
        assert peer.request() == 0

    def second(peer: Peer) -> None:
        stream = peer.request()
        peer.head(stream)
        peer.data(stream, part("four"))
        peer.status(stream)
        peer.request()
        peer.http2.close_connection(last_stream_id=stream)  # the next request came too late
        peer.flush()

    def third(peer: Peer) -> None:
        stream = peer.request()
        peer.head(stream)
        peer.data(stream, part("five"))
        peer.status(stream, 14, "worker%20lost")
        peer.request()

    def fourth(peer: Peer) -> None:
        stream = peer.request()
        peer.head(stream, "text/plain", "502")
        peer.data(stream, b"bad gateway", ends=True)
        peer.request()

    url = server(first, second, third, fourth)
    assert ask(url, "a", "b" * 300_000, "c", "d", "e") == [
        ("one two", ""),
        ("three", ""),
        ("four", ""),
        ("five", "error_frame: UNAVAILABLE: worker lost"),
        ("", "http_502: bad gateway"),
    ]


def test_what_is_not_grpc_fails_by_name(server: Callable[..., str]) -> None:
    """A server of HTTP/1.1, compression, a half message, no status, and a reset have names."""

    def of_http1(peer: Peer) -> None:
        peer.client.recv(65536)
        peer.client.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        peer.client.recv(65536)

    def answering(data: bytes, code: str) -> Callable[[Peer], None]:
        def script(peer: Peer) -> None:
            stream = peer.request()
            peer.head(stream)
            peer.data(stream, data)
            peer.http2.send_headers(stream, [("grpc-status", code)], end_stream=True)
            peer.flush()
            peer.request()

        return script

    def resetting(peer: Peer) -> None:
        peer.http2.reset_stream(peer.request(), 2)
        peer.flush()
        peer.request()

    url = server(
        of_http1,
        answering(b"\1" + part("x")[1:], "0"),
        answering(part("x")[:-1], "0"),
        answering(part("x"), "99"),
        answering(b"\0\0\0\0\1\xff", "0"),
        resetting,
    )
    failures = [failure.partition(" (")[0].partition(": Error")[0] for _, failure in ask(url, *"abcdef")]
    assert failures == [
        "malformed_frame: the response is not gRPC: the server speaks HTTP/1.1; is the port right?",
        "decode_error: a message is compressed, which was not asked for",
        "truncated: the stream ended inside a message",
        "malformed_frame: the response is not gRPC: grpc-status '99' at the end of the stream",
        "malformed_frame: the response is not gRPC: not a response of ModelStreamInfer",
        "reset: the server reset the stream",
    ]


def test_the_mock_is_read_as_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row of the self-test passes, and fails where the client sees something else."""
    result = grpc_requests.try_grpc("native", tmp_path / "right")
    assert [miss.what for miss in result.misses if not miss.only_time] == []
    monkeypatch.setitem(grpc_requests._SEEN, "plain", "http_500")
    result = grpc_requests.try_grpc("python", tmp_path / "wrong")
    assert [miss.what for miss in result.misses] == ["streams: not http_503, truncated, completed, http_500"]


def test_urls_and_transports_of_grpc() -> None:
    """The protocol decides about the scheme; aiohttp has no HTTP/2; a missing package is named."""
    chosen = {"model": "m", "requests": 1, "protocol": "triton-grpc"}
    for url in ("127.0.0.1:8001", "grpc://127.0.0.1:8001"):
        (target,) = targets_of(perf_settings(url=[url], **chosen).endpoint)
        assert target.url == "grpc://127.0.0.1:8001"
    with pytest.raises(EndpointError, match="use grpc:// or grpcs://"):
        targets_of(perf_settings(url=["http://127.0.0.1:8001"], **chosen).endpoint)
    with pytest.raises(UsageError, match="--transport aiohttp: has no HTTP/2"):
        perf_settings(transport="aiohttp", **chosen)


@pytest.mark.parametrize("scheme", ["grpc", "grpcs"])
def test_a_check_names_tensors_and_protocols(scheme: str, tmp_path: Path) -> None:
    """A check asks for readiness, tensors and protocols before the first question, also through TLS."""
    lines: dict[str, tuple[str, str]] = {}
    certificate = tmp_path / "server.pem"
    trustme.CA().issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(certificate)
    with start_mock(ttft="1ms", **({"tls_cert": certificate} if scheme == "grpcs" else {})) as mock:
        url = f"{scheme}://{mock.url.partition('://')[2].removesuffix('/v1')}"
        settings = CheckSettings(url=url, model="mock", protocol="triton-grpc", insecure=True)
        asyncio.run(
            ask_endpoint(settings, lambda line: lines.update({line.check: (line.status, line.detail)}))
        )
    assert lines["ready"][0] == lines["answers"][0] == lines["streams"][0] == "ok"
    assert lines["tensors"] == (
        "ok",
        "inputs text_input BYTES [-1, 1], max_tokens INT32 [-1, 1]; outputs text_output BYTES [-1, 1]",
    )
    assert lines["protocols"] == ("ok", "triton-grpc, kserve-grpc")
