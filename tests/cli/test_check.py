"""`loadgen check` of servers that are not what they should be: what came back, as soon as it is known."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from loadgen.driver.client.endpoint import endpoint
from loadgen.mock_endpoint.process import start_mock
from loadgen.sessions.run.endpoint_checks import _metrics

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]
    Answer = tuple[int, str, bytes]

PAGE = b"<!DOCTYPE html><html><head><title>Sign in &amp; up</title></head><body>...</body></html>"
TOKEN = json.dumps({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}).encode()


@contextmanager
def server(answer: Callable[[str], Answer | None]) -> Iterator[str]:
    """A server that answers each path so; None for no answer at all until it is closed."""
    closing = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answered = answer(self.path)
            if answered is None:
                closing.wait()
                return
            status, kind, body = answered
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 (the library's name)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=httpd.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{httpd.server_address[1]}"
    finally:
        closing.set()
        httpd.shutdown()
        httpd.server_close()


def lines(run: subprocess.CompletedProcess[str]) -> list[str]:
    """What is printed, a check a line."""
    return [" ".join(line.split()) for line in run.stdout.splitlines()]


def test_a_server_that_answers_500_to_everything(loadgen: Loadgen) -> None:
    """A request is not accepted that failed; without a key, that is said too."""
    with server(lambda _: (500, "application/json", b'{"error": {"message": "no db"}}')) as url:
        run = loadgen("check", "--url", url, "--model", "m")
        keyed = loadgen("check", "--url", url, "--model", "m", "--api-key", "sk-a-key")
    assert run.returncode == 4
    assert lines(run) == [
        f"ok reachable {url}/v1",
        "warning model no model list: HTTP 500: no db",
        "failed answers HTTP 500: no db; no API key was sent (--api-key or LOADGEN_API_KEY)",
    ]
    assert lines(keyed)[-1] == "failed answers HTTP 500: no db"


@pytest.mark.parametrize("status", [200, 502])
def test_a_server_that_answers_a_web_page(loadgen: Loadgen, status: int) -> None:
    """It is called one, by its title."""
    with server(lambda _: (status, "text/html; charset=utf-8", PAGE)) as url:
        run = loadgen("check", "--url", url, "--model", "m")
    assert run.returncode == 4
    assert "a web page, 'Sign in & up'" in lines(run)[1]
    assert "a web page, 'Sign in & up'" in lines(run)[2]
    assert ("is the URL right?" in lines(run)[2]) == (status == 200)


def test_a_server_that_hangs(start_loadgen: Callable[..., subprocess.Popen[str]]) -> None:
    """Each line is printed when it is known: the first one while the server is still silent."""
    released = threading.Event()

    def answer(path: str) -> Answer | None:
        if path.endswith("/models"):
            released.wait()
        return 200, "application/json", TOKEN

    with server(answer) as url:
        process = start_loadgen("check", "--url", url, "--model", "m")
        assert process.stdout is not None
        first = process.stdout.readline()
        released.set()
        rest, _ = process.communicate(timeout=120)
    assert first.split() == ["ok", "reachable", f"{url}/v1"]
    assert rest.splitlines()[0].split()[:2] == ["warning", "model"]
    assert process.returncode == 0


def test_a_limit_is_the_users(loadgen: Loadgen) -> None:
    """`--timeout` is heeded, and the message names it."""
    with server(lambda _: None) as url:
        run = loadgen("check", "--url", url, "--model", "m", "--timeout", "600ms")
    assert run.returncode == 4
    assert (
        lines(run)[1] == "warning model no model list: no complete response within 0.6 s (for a model list)"
    )
    assert lines(run)[2].startswith("failed answers no complete response within 0.6 s (--timeout)")


def test_a_model_that_is_accepted_but_not_listed(loadgen: Loadgen) -> None:
    """Only an answer shows that a path accepts a request; a speech path that fails without a file exists."""

    def answer(path: str) -> Answer:
        listed = {"data": [{"id": "other"}]}
        if path.endswith("/transcriptions"):
            return 500, "text/plain", b"Internal Server Error"
        return 200, "application/json", json.dumps(listed).encode() if path.endswith("/models") else TOKEN

    with server(answer) as url:
        run = loadgen("check", "--url", url, "--model", "m")
    assert run.returncode == 0
    assert lines(run)[1] == "warning model the server accepts 'm' but does not list it; it lists other"
    assert "ok speech paths of --protocol transcription" in lines(run)


def test_a_limit_of_the_rate(loadgen: Loadgen) -> None:
    """A 429 has its own remedy."""
    with server(lambda _: (429, "text/plain", b"slow down")) as url:
        run = loadgen("check", "--url", url, "--model", "m")
    assert lines(run)[-1] == (
        "failed answers HTTP 429: slow down; the server limits the rate of requests: wait, or raise its limit"
    )


@pytest.mark.parametrize("model", ["claude", "m", "messages"])
def test_a_protocol_that_the_server_does_not_speak(loadgen: Loadgen, model: str) -> None:
    """The path is missing, not the model."""

    def answer(path: str) -> Answer:
        if path.endswith("/models"):
            return 200, "application/json", b'{"data": [{"id": "mock"}]}'
        return 404, "application/json", b'{"error": {"message": "There is nothing at /v1/messages"}}'

    with server(answer) as url:
        run = loadgen("check", "--url", url, "--model", model, "--protocol", "messages")
    assert run.returncode == 2
    assert run.stderr == (
        f"error: {url}/v1 has no /messages (HTTP 404): There is nothing at /v1/messages; choose the "
        "--protocol that the server speaks, or check --url\n"
    )


@pytest.mark.parametrize("transport", ["native", "aiohttp"])
def test_tls_to_a_plain_endpoint(loadgen: Loadgen, mock: MockProcess, transport: str) -> None:
    """The remedy, not OpenSSL's name for it."""
    url = mock.url.replace("http:", "https:")
    run = loadgen("perf", "--url", url, "--model", "m", "--transport", transport)
    assert run.returncode == 3
    assert "the server does not speak TLS; try http:// in place of https://" in run.stderr
    assert "_ssl.c" not in run.stderr


@pytest.mark.parametrize("transport", ["native", "aiohttp"])
def test_a_closed_port(loadgen: Loadgen, refusing: str, transport: str) -> None:
    """What the system says, and no tuple of Python."""
    run = loadgen("perf", "--url", refusing, "--model", "m", "--transport", transport)
    assert run.returncode == 3
    where = refusing.removeprefix("http://")
    assert run.stderr == (
        f"error: {refusing}/v1 cannot be reached: no connection to {where} (Connection refused); "
        "is the server up?\n"
    )


def test_what_a_server_accepts_and_refuses(loadgen: Loadgen) -> None:
    """The parameters that a run may send, the page of metrics, other protocols, and media to abandonment."""
    mocked: dict[str, Any] = {"ttft": "1ms", "itl": "3ms", "tokens": "300", "overrun": "60s"}
    with start_mock(models=("m", "lora"), refuse=("stream_options", "seed", "input_type"), **mocked) as mock:
        run = loadgen("check", "--url", mock.url, "--model", "m")
        by_path = loadgen("check", "--url", mock.url, "--model", "m", "--protocol", "completions")
        asked = loadgen("check", "--url", mock.url, "--model", "m", "--extra-body", '{"seed": 1}')
    assert asked.returncode == 2
    assert asked.stderr.endswith("for model 'm' (HTTP 422): seed: Extra inputs are not permitted\n")
    assert run.returncode == 0
    origin = mock.url.removesuffix("/v1")
    vectors = "embeddings, infinity, cohere-embed, pooling, classify, rerank, infinity-rerank, sglang-rerank"
    vectors += ", tei-rerank, nim-ranking, score"
    abandon = "--abandon 5%:after=first-token"
    assert "ok models 2 listed: --models 'm=1,lora=1' mixes them" in lines(run)
    assert lines(run)[-10:] == [
        "ok accepts ignore_eos, min_tokens, logprobs, tools",
        "warning refuses stream_options",
        "warning refuses seed (HTTP 422: seed: Extra inputs are not permitted)",
        f"ok metrics {origin}/metrics: a run records them",
        "ok states no times of a request by the server's clock, and no drafts",
        "ok protocols chat, completions; not responses, messages",
        f"warning abandoning a request whose client left still ran 2 s later: {abandon} shows the waste",
        "ok media takes --images 1, --audio 1",
        "ok speech paths of --protocol transcription, translation, speech, image-generation",
        f"ok vectors answers --protocol {vectors}",
    ]
    assert lines(by_path)[-10] == "ok accepts ignore_eos, min_tokens, logprobs"
    assert lines(by_path)[-3] == "ok media not tried: --protocol chat has media"
    assert "unknown while 1 requests of other clients run" in lines(by_path)[-4]


def test_usage_that_counts_characters(loadgen: Loadgen) -> None:
    """Infinity's usage is the number of characters, unless --lengths-via-tokenize is given."""
    with start_mock(ttft="1ms", result_fault="characters") as mock:
        run = loadgen("check", "--url", mock.url, "--model", "mock", "--protocol", "embeddings")
    (usage,) = (line for line in lines(run) if " usage " in line)
    assert usage.startswith("warning usage 27 input tokens for texts of 26 characters: ")


def test_the_only_model_need_not_be_named(loadgen: Loadgen, tmp_path: Path) -> None:
    """A check and a run ask the list; where it has several, one must be named."""
    small = {"ttft": "1ms", "itl": "0", "tokens": "2"}
    with start_mock(models=("org/only",), **small) as mock, start_mock(models=("a", "b"), **small) as two:
        check = loadgen("check", "--url", mock.url)
        run = loadgen("perf", "--url", mock.url, "-n", 2, "-c", 1, "--on-invalid", "warn")
        refused = [loadgen(name, "--url", two.url, "-q") for name in ("perf",)]
        refused.append(loadgen("check", "--url", two.url))
    assert "ok model org/only is listed" in lines(check)
    assert run.returncode == 0, run.stderr
    assert "model: org/only, the only one listed" in run.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.endswith("only")
    assert [each.returncode for each in refused] == [2, 2]
    message = f"error: --model is missing: {two.url} lists a, b; choose one with --model NAME"
    assert [each.stderr.splitlines()[0] for each in refused] == [message] * 2


def test_a_server_without_a_list_needs_a_named_model(loadgen: Loadgen, refusing: str) -> None:
    """The reason is that of the list."""
    with server(lambda _: (404, "text/plain", b"nothing")) as url:
        without = loadgen("perf", "--url", url)
    closed = loadgen("perf", "--url", refusing)
    assert (without.returncode, closed.returncode) == (2, 2)
    assert (
        without.stderr == f"error: --model is missing: {url}/v1 lists no model (HTTP 404: nothing); name it\n"
    )
    assert closed.stderr.startswith(f"error: --model is missing: {refusing}/v1 cannot be reached")


def test_a_proxy_that_the_transport_does_not_use_is_named(loadgen: Loadgen) -> None:
    """Where a host is not known, and in a run that went to it directly; not with no_proxy."""
    proxied = {"http_proxy": "http://me:hunter22@127.0.0.1:9", "no_proxy": ""}
    unknown = loadgen("check", "--url", "http://host.invalid", "--model", "m", **proxied)
    assert unknown.returncode == 3
    assert "http_proxy is set, and only --transport aiohttp uses it" in unknown.stderr
    with start_mock(ttft="1ms", itl="0", tokens="2") as mock:
        common = ("perf", "--url", mock.url, "--model", "m", "-n", 2, "-c", 1, "--on-invalid", "warn", "-q")
        loadgen(*common, "--out", "direct", **proxied)
        loadgen(*common, "--out", "excepted", **proxied | {"no_proxy": "127.0.0.1"})
    reported = [
        {finding["code"] for finding in json.loads(loadgen("report", run, "--json").stdout)["findings"]}
        for run in ("direct", "excepted")
    ]
    assert ["proxy_ignored" in codes for codes in reported] == [True, False]
    assert "hunter22" not in unknown.stderr


@pytest.mark.parametrize(
    ("page", "has_drafts"),
    [
        ("llamacpp:spec_decode_num_drafts_total 0", False),
        ("llamacpp:spec_decode_num_drafts_total 7", True),
        ('vllm:spec_decode_num_drafts_total{engine="0"} 0.0', True),
    ],
)
def test_counters_of_speculation(page: str, *, has_drafts: bool) -> None:
    """A page of llama.cpp has zeros without speculation; that of vLLM has no such counters then."""
    name = page.partition(":")[0]
    tokens = {"llamacpp": "llamacpp:prompt_tokens_total", "vllm": "vllm:prompt_tokens_total"}[name]
    text = f"# TYPE {tokens} counter\n{tokens} 1\n{page}\n"
    with server(lambda _: (200, "text/plain", text.encode())) as url:
        line = asyncio.run(_metrics(cast("Any", SimpleNamespace(endpoint=endpoint(url, {})))))
    assert line.status == "ok"
    assert ("speculative decoding" in line.detail) == has_drafts
