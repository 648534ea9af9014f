"""Asking an endpoint about itself: what is good enough to begin, and what the refusal says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.http_transport import HttpTransport
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.errors import RejectedError, UnreachableError
from loadgen.driver.probe import Probe, Prober

if TYPE_CHECKING:
    from collections.abc import Callable

MODEL = "llama-3-8b"
KEY = "sk-0123456789-abcdef"


def listing(*names: str) -> dict[str, Any]:
    """What `GET /models` answers."""
    return {"object": "list", "data": [{"id": name, "object": "model"} for name in names]}


@pytest.fixture(scope="module")
def probed(run: Any, serve: Any) -> Callable[..., Any]:
    """Call one method of a prober against a server that plays these scripts; the server and the result."""

    def probed(method: str, *scripts: Any, timeout_s: float = 10.0) -> tuple[Any, Any]:
        async def scenario() -> tuple[Any, Any]:
            async with serve(*scripts) as server:
                target = endpoint(server.url, {"Authorization": f"Bearer {KEY}"})
                transport = HttpTransport(target, Timeouts(timeout_s))
                try:
                    prober = Prober(transport, chat_completions, Generation(MODEL))
                    return server, await getattr(prober, method)()
                finally:
                    await transport.close()

        return run(scenario())

    return probed


def paths(server: Any) -> list[str]:
    """What a server was asked for."""
    return [" ".join(request.decode().split(" ")[:2]) for request in server.requests]


# Ready…


def test_a_listed_model_needs_no_further_request(probed: Any, wire: Any) -> None:
    """One `GET` settles it."""
    server, (models, probe) = probed("require_ready", [wire.json(listing("gpt-2", MODEL))])
    assert models == ["gpt-2", MODEL]
    assert probe is None
    assert paths(server) == ["GET /v1/models"]


def test_a_model_that_is_taken_though_not_listed(probed: Any, wire: Any) -> None:
    """Some servers take aliases: a request tells."""
    server, (models, probe) = probed(
        "require_ready", [wire.json(listing("gpt-2"))], [wire.chunked(wire.STREAM)]
    )
    assert models == ["gpt-2"]
    assert probe.failure is None
    assert b'"max_tokens":8' in server.requests[1]
    assert paths(server) == ["GET /v1/models", "POST /v1/chat/completions"]


@pytest.mark.parametrize("status", [404, 405, 500])
def test_an_endpoint_without_a_list(probed: Any, wire: Any, status: int) -> None:
    """Completions may work all the same."""
    asked = [wire.json({"detail": "no"}, status)], [wire.chunked(wire.STREAM)]
    assert probed("require_ready", *asked)[1][0] is None


@pytest.mark.parametrize(
    "listed",
    [
        [],
        {},
        None,
        "x",
        7,
        {"data": None},
        {"data": 7},
        {"data": ["x"]},
        {"data": [{"name": "x"}]},
        {"data": {"x": 1}},
    ],
)
def test_a_list_of_another_shape_is_ignored(probed: Any, wire: Any, listed: Any) -> None:
    """What cannot be read says nothing."""
    assert probed("models", [wire.json(listed)])[1] is None


@pytest.mark.parametrize("body", [b"<html>", b"", b'{"data":['])
def test_a_list_that_is_not_json_is_ignored(probed: Any, wire: Any, body: bytes) -> None:
    """Nor does a page."""
    assert probed("models", [wire.sized(body)])[1] is None


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_in_trouble_is_there(probed: Any, wire: Any, status: int) -> None:
    """Whether it can be measured is for the run to say, not for one request."""
    refusal = [wire.json({"error": "busy"}, status)]
    assert probed("require_ready", refusal, refusal)[1][0] is None


# Not ready…


@pytest.mark.parametrize(
    ("expected", "hint"),
    [
        (["llama-3-8B-instruct", "gpt-2"], "did you mean 'llama-3-8B-instruct'?"),
        (["gpt-2", "opt"], "it lists gpt-2, opt"),
        ([f"m{k}" for k in range(9)], "it lists m0, m1, m2, m3, m4"),
        ([], ""),
    ],
)
def test_a_wrong_model(probed: Any, wire: Any, expected: list[str], hint: str) -> None:
    """The server's own word, and the nearest name."""
    refusal = wire.json({"error": {"message": "no such model"}}, 404)
    with pytest.raises(RejectedError, match=r"\(HTTP 404\): no such model") as raised:
        probed("require_ready", [wire.json(listing(*expected))], [refusal])
    assert f"model '{MODEL}'" in str(raised.value)
    assert str(raised.value).endswith(hint or "no such model")


def test_a_refusal_that_is_not_json(probed: Any, wire: Any) -> None:
    """A gateway's page is quoted as it is."""
    with pytest.raises(RejectedError, match=r"\(HTTP 404\): <h1>nothing here</h1>; choose the --protocol"):
        probed("require_ready", [wire.sized(b"", 404)], [wire.sized(b"<h1>nothing here</h1>", 404)])


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("first", [True, False])
def test_a_key_that_is_not_taken(probed: Any, wire: Any, status: int, first: bool) -> None:  # noqa: FBT001 (a case)
    """By the list or by the request; what to do is said, and the key is not."""
    refusal = [wire.json({"error": {"message": f"Incorrect API key: {KEY}"}}, status)]
    before = [] if first else [[wire.sized(b"", 404)]]
    with pytest.raises(
        RejectedError, match=r"Incorrect API key: \*\*\*; the key that was sent is not accepted"
    ) as raised:
        probed("require_ready", *before, refusal)
    assert f"HTTP {status}" in str(raised.value)
    assert KEY not in str(raised.value)


def test_no_process_listens(run: Any, refusing: str) -> None:
    """The URL, the reason, and a question."""

    async def scenario() -> None:
        transport = HttpTransport(endpoint(refusing, {}), Timeouts(60))
        with pytest.raises(
            UnreachableError, match=r"cannot be reached: no connection to .*; is the server up\?"
        ) as raised:
            await Prober(transport, chat_completions, Generation(MODEL)).require_ready()
        await transport.close()
        assert refusing in str(raised.value)

    run(scenario())


def test_a_connection_that_is_closed_at_once(probed: Any, step: Any) -> None:
    """A caller listens: it is for the run to say what becomes of that."""
    assert probed("require_ready", [step.RESET])[1][0] is None


# One request…


def completion(probed: Any, *script: Any, timeout_s: float = 10.0) -> Probe:
    """What one request shows."""
    result: Probe = probed("completion", list(script), timeout_s=timeout_s)[1]
    return result


def test_a_good_answer(probed: Any, wire: Any) -> None:
    """It streams, and says how many tokens that was."""
    usage = wire.events({"choices": [], "usage": {"completion_tokens": 1}})
    probe = completion(probed, wire.chunked(wire.TOKEN, wire.STOP, usage, wire.DONE))
    assert (probe.status, probe.failure, probe.message) == (200, None, "")
    assert (probe.streams, probe.usage) == (True, True)
    assert probe.ttft_ms > 0


def test_an_answer_that_is_not_streamed(probed: Any, wire: Any) -> None:
    """It answers, without times and without usage."""
    probe = completion(probed, wire.json({"choices": [{"message": {"content": "hi"}}]}))
    assert (probe.failure, probe.streams, probe.usage, probe.ttft_ms) == (None, False, False, None)


@pytest.mark.parametrize(
    ("body", "failure", "message"),
    [
        (b'data: {"error":{"message":"boom"}}\n\n', "error_frame", "boom"),
        (b"data: {oops\n\n", "malformed_frame", "oops"),
    ],
)
def test_an_answer_with_an_error_in_it(
    probed: Any, wire: Any, body: bytes, failure: str, message: str
) -> None:
    """A status of 200 is not the whole story."""
    probe = completion(probed, wire.chunked(body))
    assert (probe.status, probe.failure) == (200, failure)
    assert message in probe.message


@pytest.mark.parametrize("content_type", ["application/json", "text/html", "text/event-stream"])
@pytest.mark.parametrize("body", [b'{"error":"nope"}', b"nope", b"data: nope\n\n"])
def test_an_http_error_is_a_response(probed: Any, wire: Any, content_type: str, body: bytes) -> None:
    """It is named by its status, as in a run; the message is the server's, whatever its form."""
    probe = completion(probed, wire.sized(body, 500, content_type=content_type))
    assert (probe.status, probe.failure) == (500, "http_500")
    assert probe.message.strip() == ("nope" if body.startswith(b"{") else body.decode().strip())


def test_silence(probed: Any, step: Any) -> None:
    """The deadline is ours, and has a name."""
    probe = completion(probed, step.HANG, timeout_s=0.1)
    assert (probe.status, probe.failure) == (None, "total_timeout")
    assert "--timeout" in probe.message


def test_a_cut_answer(probed: Any, wire: Any, step: Any) -> None:
    """It is truncated, whatever had come before."""
    probe = completion(probed, wire.head(content_length=999) + wire.TOKEN + b"data: {", step.CLOSE)
    assert (probe.failure, probe.streams) == ("truncated", True)


def test_a_key_is_not_repeated(probed: Any, wire: Any) -> None:
    """In no message."""
    assert KEY not in completion(probed, wire.chunked(wire.events({"error": f"bad {KEY}"}))).message
