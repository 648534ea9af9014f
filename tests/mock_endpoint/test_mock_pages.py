"""What is served in addition to answers: health, figures, models, and paths that do not exist."""

from __future__ import annotations

import http.client
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import orjson
import pytest

from loadgen.mock_endpoint import MockProcess, start_mock

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Wire


def get(mock: MockProcess, path: str, method: str = "GET") -> tuple[int, bytes, str]:
    """Make a request without a body; return status, body and content type."""
    connection = http.client.HTTPConnection(urlsplit(mock.url).netloc, timeout=120)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        return response.status, response.read(), response.headers["Content-Type"]
    finally:
        connection.close()


def figures(mock: MockProcess) -> dict[str, float]:
    """Scrape the figures: value by name with labels."""
    _, text, _ = get(mock, "/metrics")
    lines = [line for line in text.decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_health(instant: MockProcess) -> None:
    """A server that is there is healthy."""
    assert get(instant, "/health")[:2] == (200, b"")


def test_models(instant: MockProcess) -> None:
    """A server without names lists the name that it answers with by default."""
    status, body, _ = get(instant, "/v1/models")
    assert status == 200
    assert [model["id"] for model in orjson.loads(body)["data"]] == ["mock"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/v2/models", 404), ("GET", "/v1/chat/completions", 405), ("POST", "/health", 405)],
)
def test_what_is_not_there(instant: MockProcess, method: str, path: str, status: int) -> None:
    """A path that does not exist is a 404, one that takes another method a 405, both in OpenAI's words."""
    answered, body, _ = get(instant, path, method)
    assert answered == status
    assert orjson.loads(body)["error"].keys() == {"message", "type", "param", "code"}


def test_the_key_guards_only_the_api() -> None:
    """Health and figures need no key, as with vLLM."""
    with start_mock(api_key="k") as mock:
        assert [get(mock, path)[0] for path in ("/v1/models", "/health", "/metrics")] == [401, 200, 200]


def test_figures_count_what_was_served(connect: Callable[[MockProcess], Wire]) -> None:
    """Tokens, ends and responses are counted, in Prometheus' format."""
    with start_mock(ttft="0", itl="0", tokens="8", models=['a"b']) as mock:
        wire = connect(mock)
        for limit in (8, 8, 5):
            wire.ask(model='a"b', max_tokens=limit, stream=False)
            assert wire.read_json()[0] == 200
        wire.send(b"{")
        assert wire.read_json()[0] == 400
        mock.truth(4)
        status, text, kind = get(mock, "/metrics")
        counted = figures(mock)
    assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert b"# TYPE vllm:generation_tokens_total counter\n" in text
    model = r'model_name="a\"b"'
    assert counted[f"vllm:prompt_tokens_total{{{model}}}"] == 9
    assert counted[f"vllm:generation_tokens_total{{{model}}}"] == 21
    ends = [
        counted[f'vllm:request_success_total{{{model},finished_reason="{end}"}}']
        for end in ("stop", "length")
    ]
    assert ends == [2, 1]
    chat = 'handler="/v1/chat/completions",method="POST"'
    assert counted[f'http_requests_total{{{chat},status="200"}}'] == 3
    assert counted[f'http_requests_total{{{chat},status="400"}}'] == 1


def test_figures_show_the_queue(connect: Callable[[MockProcess], Wire]) -> None:
    """While one request is served and two wait, the figures say so; those who leave are aborted."""
    with start_mock(ttft="0", itl="3600s", slots=1) as mock:
        served, *waiting = wires = [connect(mock) for _ in range(3)]
        for wire in wires:
            wire.ask()
            wire.read_head()
        served.read_until(b'"content":" A"')
        counted = figures(mock)
        for wire in (*waiting, served):
            wire.socket.close()
        mock.truth(3)
        after = figures(mock)
    model = 'model_name="mock"'
    names = [f"vllm:num_requests_{what}{{{model}}}" for what in ("running", "waiting")]
    assert [counted[name] for name in names] == [1, 2]
    assert counted[f"vllm:generation_tokens_total{{{model}}}"] <= 1
    assert [after[name] for name in names] == [0, 0]
    assert after[f'vllm:request_success_total{{{model},finished_reason="abort"}}'] == 3
