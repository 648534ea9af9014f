"""Pages of servers that are slow, endless, elsewhere or no pages: each ends in a named error."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from recorder.sensors import scrape as module
from recorder.sensors.prometheus import PrometheusSensor
from recorder.sensors.scrape import MetricsPage, ScrapeError, ScrapeTarget, scrape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n"


@contextmanager
def served(answer: Callable[[socket.socket], None]) -> Iterator[tuple[str, list[bytes]]]:
    """A server that answers each connection in its own way; its URL, and the requests that it got."""
    listening = socket.create_server(("127.0.0.1", 0))
    asked: list[bytes] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                with connection, suppress(OSError):
                    asked.append(connection.recv(65536))
                    answer(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/metrics", asked
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join(10)


def sends(data: bytes) -> Callable[[socket.socket], None]:
    """Answers with these bytes, and closes."""
    return lambda connection: connection.sendall(data)


def error_of(answer: Callable[[socket.socket], None], timeout_s: float = 30) -> str:
    """The name of the error that such a server causes."""
    with served(answer) as (url, _), pytest.raises(ScrapeError) as caught:
        scrape(ScrapeTarget(url, timeout_s=timeout_s))
    return caught.value.name


def test_a_page() -> None:
    """Its text, its type, and a moment between request and response; headers are sent."""
    with served(sends(HEAD + b"Content-Length: 3\r\n\r\na 1")) as (url, asked):
        page = scrape(ScrapeTarget(url, {"Authorization": "Bearer key"}))
    assert (page.text, page.kind) == ("a 1", "text/plain; version=0.0.4")
    assert page.took_ms > 0
    assert asked[0].startswith(b"GET /metrics HTTP/1.1\r\n")
    assert b"Authorization: Bearer key\r\n" in asked[0]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2/\r\n\r\n", "redirect"),
        (b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", "http_401"),
        (b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "http_503"),
        (b"SSH-2.0-OpenSSH\r\n", "unreachable"),
        (b"", "unreachable"),
        (HEAD + b"Content-Length: 100\r\n\r\na 1", "unreachable"),
        (HEAD + b"X: " + b"x" * 100_000 + b"\r\n\r\n", "unreachable"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "unreachable"),
    ],
)
def test_what_is_not_a_page(data: bytes, name: str) -> None:
    """A redirect is not followed, so that no key goes elsewhere; each failure has a name."""
    assert error_of(sends(data)) == name


def test_an_endless_page() -> None:
    """It is left where it has become too long."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"\r\n")
        while True:
            connection.sendall(b"a 1\n" * 10_000)

    assert error_of(answer) == "too_large"


def test_a_page_longer_than_the_limit_although_it_ends() -> None:
    """10 MB with a length are refused as well."""
    body = b"#" * 10_000_000
    assert error_of(sends(HEAD + b"Content-Length: 10000000\r\n\r\n" + body)) == "too_large"


@pytest.mark.parametrize("beginning", [b"", HEAD, HEAD + b"\r\n"])
def test_a_server_that_sends_a_byte_at_a_time(beginning: bytes) -> None:
    """The limit is for the whole exchange, whatever it is that is slow."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(beginning)
        for _ in range(1000):
            connection.sendall(b"x")
            threading.Event().wait(0.02)

    assert error_of(answer, timeout_s=0.3) == "timeout"


def test_no_server(refusing: str) -> None:
    """A port without a listener."""
    with pytest.raises(ScrapeError) as caught:
        scrape(ScrapeTarget(f"{refusing}/metrics"))
    assert caught.value.name == "unreachable"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("<html>Sign in</html>", "no_known_metric"),
        ('[{"cpuMemUsage": 3, "iter": 1}]', "no_known_metric"),
        ("vllm:something_else 1\n", "no_known_metric"),
        ("vllm:num_requests_running{ 1\n", "not_prometheus"),
    ],
)
def test_a_page_of_something_else(monkeypatch: pytest.MonkeyPatch, text: str, error: str) -> None:
    """The reading says what the page is, and no secret that is in it."""
    monkeypatch.setattr(
        "recorder.sensors.prometheus.scrape", lambda _: MetricsPage(text + "# key", "text/html", 5, 1.0)
    )
    sensor = PrometheusSensor(
        "server", ScrapeTarget("http://h"), 1, {}, lambda text: text.replace("key", "***")
    )
    reading, *_ = sensor.read(whole=False)
    assert (reading.error, reading.at_ns) == (error, 5)
    assert "key" not in str(reading.message)


def test_the_limit_is_what_the_docs_say() -> None:
    """4 MiB."""
    assert module.MOST_BYTES == 4 * 1024**2
