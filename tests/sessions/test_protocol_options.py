"""Protocol options of the command line: accepted whole, or refused in a sentence."""

from __future__ import annotations

import pickle
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.driver.client.endpoint import Request
from loadgen.driver.client.protocols import codec_of
from loadgen.driver.errors import EndpointError
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.preparation import prepare, targets_of
from loadgen.sessions.run.protocol_options import headers_of, options_of
from loadgen.sessions.settings.endpoint_options import EndpointSettings
from loadgen.sessions.settings.perf import perf_settings
from reporter.log.query import query
from workloads.sample import Sample

if TYPE_CHECKING:
    from pathlib import Path

BODY = '{"inputs": "{prompt}", "parameters": {"max_new_tokens": "{max_tokens}", "do_sample": false}}'


def settings(**options: Any) -> EndpointSettings:
    """Settings of an endpoint."""
    return EndpointSettings(url="http://h:8000", model="m", **options)


def test_a_described_protocol_sends_what_was_described() -> None:
    """Path from the host's root, body filled in, members without a value left out; the log has all of it."""
    original = perf_settings(
        url="http://h:8000",
        model="m",
        protocol="sse",
        path="/generate_stream?alt=sse",
        body=BODY,
        text_at="token.text",
        max_tokens=7,
        requests=1,
    )
    ready = prepare(original)
    stored = orjson.loads(orjson.dumps(ready.settings()))
    assert stored["protocol"] == "sse"
    assert stored["url"] == "http://h:8000"
    plan = pickle.loads(pickle.dumps(ready.plan))  # noqa: S301 (made right here)
    for options in (plan.protocol_options, stored["protocol_options"]):
        codec = codec_of("sse", options)
        assert codec.request(Sample(0, "why?"), plan.generation) == {
            "inputs": "why?",
            "parameters": {"max_new_tokens": 7, "do_sample": False},
        }
        assert codec.chunk({"token": {"text": "a"}}).content == "a"
        head = ready.targets[0].http1(Request("POST", codec.path, "an-id", b"{}"))
        assert head.startswith(b"POST /generate_stream?alt=sse HTTP/1.1\r\nHost: h:8000\r\n")


def test_options_have_defaults() -> None:
    """The log has them, so that a later version with other defaults repeats the same."""
    assert options_of(settings()) == {}
    sse, plain = options_of(settings(protocol="sse")), options_of(settings(protocol="json"))
    assert (sse["path"], sse["text_at"], sse["cumulative"]) == ("/generate", "text", False)
    assert sse["body"]["stream"] is True
    assert "stream" not in plain["body"]
    assert "cumulative" not in plain
    assert options_of(settings(protocol="sse", cumulative=True))["cumulative"] is True


def test_json_does_not_stream() -> None:
    """Whatever `--stream` says; and the report expects no stream."""
    ready = prepare(perf_settings(url="h", model="m", protocol="json", requests=1))
    assert ready.plan.generation.stream is False


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"path": "/x"}, "--path: --protocol chat needs no description"),
        (
            {"protocol": "messages", "body": "{}", "cumulative": True},
            "--body and --cumulative: --protocol messages",
        ),
        ({"protocol": "json", "cumulative": True}, "--cumulative applies to the events of a stream"),
        ({"protocol": "sse", "path": "x"}, "--path 'x': write what follows the host"),
        ({"protocol": "sse", "path": "/a b"}, "--path '/a b'"),
        ({"protocol": "sse", "path": "/a\r\nX: y"}, "--path"),
        ({"protocol": "sse", "path": "/a#b"}, "--path"),
        ({"protocol": "sse", "body": "{"}, "--body is not JSON"),
        ({"protocol": "sse", "body": '["{prompt}"]'}, "--body must be a JSON object"),
        ({"protocol": "sse", "body": '{"a": "b"}'}, "--body has no {prompt} in it"),
        (
            {"protocol": "sse", "body": '{"a": ["{promt}"], "b": "{prompt}"}'},
            "unknown placeholder {promt}",
        ),
        ({"protocol": "sse", "text_at": "a..b"}, "--text-at 'a..b' is not a place in JSON"),
        ({"protocol": "json", "tokens_at": ""}, "--tokens-at '' is not a place in JSON"),
        ({"protocol": "json", "finish_at": "."}, "--finish-at '.' is not a place in JSON"),
    ],
)
def test_descriptions_that_cannot_be_used(options: dict[str, Any], why: str) -> None:
    """The option, and what is wrong with it."""
    with pytest.raises(UsageError) as raised:
        options_of(settings(**options))
    assert why in str(raised.value)


def test_a_stream_protocol_without_a_stream_is_refused() -> None:
    """Two options that contradict each other."""
    with pytest.raises(UsageError, match="--no-stream"):
        perf_settings(url="h", model="m", protocol="sse", stream=False)


@pytest.mark.parametrize("url", ["http://h", "http://h/", "h"])
def test_the_path_belongs_to_the_path_option(url: str) -> None:
    """A URL of a described protocol is that of the host."""
    endpoint = EndpointSettings(url=url, model="m", protocol="sse")
    assert targets_of(endpoint)[0].url == "http://h"
    with pytest.raises(EndpointError, match="--path says where requests go"):
        targets_of(EndpointSettings(url=f"{url.rstrip('/')}/v1", model="m", protocol="json"))


def test_headers_of_a_protocol() -> None:
    """Its own and the key; the user's override them, in any letter case; one without a value removes one."""
    plain = headers_of(settings(protocol="messages", api_key="k"))
    assert {name: plain[name] for name in ("anthropic-version", "x-api-key", "Authorization")} == {
        "anthropic-version": "2023-06-01",
        "x-api-key": "k",
        "Authorization": "Bearer k",
    }
    own = ["Anthropic-Version: 2099-01-01", "authorization:", "X-Other: 1", "X-Empty:"]
    headers = dict(headers_of(settings(protocol="messages", api_key="k", header=own)))
    del headers["User-Agent"]
    assert headers == {"x-api-key": "k", "Anthropic-Version": "2099-01-01", "X-Other": "1", "X-Empty": ""}
    assert "x-api-key" not in headers_of(settings(api_key="k"))


def test_the_version_of_a_protocol_is_not_a_secret() -> None:
    """A date in an answer stays what it is; the key does not."""
    (target,) = targets_of(settings(protocol="messages", api_key="sk-0123456789"))
    assert target.hide("on 2023-06-01 with sk-0123456789") == "on 2023-06-01 with ***"


def test_sglang_is_a_preset() -> None:
    """Its name means a stream of events that repeat the text so far; the log has the full description."""
    ready = prepare(
        perf_settings(url="http://h:30000", model="m", protocol="sglang", max_tokens=7, requests=1)
    )
    stored = orjson.loads(orjson.dumps(ready.settings()))
    assert stored["protocol"] == "sse"
    codec = codec_of(stored["protocol"], stored["protocol_options"])
    assert codec.request(Sample(0, "why?"), ready.plan.generation) == {
        "text": "why?",
        "sampling_params": {"max_new_tokens": 7},
        "stream": True,
    }
    head = ready.targets[0].http1(Request("POST", codec.path, "an-id", b"{}"))
    assert head.startswith(b"POST /generate HTTP/1.1\r\n")


@pytest.mark.slow
def test_sglang_is_measured(tmp_path: Path) -> None:
    """Over a real connection: each event is one token, and the counts are the server's."""
    events = [
        {"text": text, "meta_info": {"completion_tokens": n, "finish_reason": why}}
        for n, (text, why) in enumerate([("a", None), ("ab", None), ("abc", {"type": "stop"})], 1)
    ]
    body = b"".join(b"data: " + orjson.dumps(event) + b"\n\n" for event in events) + b"data: [DONE]\n\n"

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        subprocess.run(
            [
                *(sys.executable, "-m", "loadgen", "perf", "--url", f"http://127.0.0.1:{server.server_port}"),
                *(
                    "--model",
                    "m",
                    "--protocol",
                    "sglang",
                    "-n",
                    "2",
                    "--no-probe",
                    "-q",
                    "--out",
                    str(tmp_path / "r"),
                ),
            ],
            check=False,
            stdout=subprocess.DEVNULL,
        )
        server.shutdown()
    answer = query(
        tmp_path / "r",
        "select output, output_tokens, chunks, finish_reason from samples join outputs using (sample_uuid)",
    )
    assert answer.rows == [("abc", 3, 3, "stop")] * 2
