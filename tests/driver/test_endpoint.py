"""Base URLs as people write them, headers as they should not, and secrets that servers repeat."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client.endpoint import Endpoint, Request, endpoint
from loadgen.driver.errors import EndpointError


def chat_line(url: str) -> str:
    """The request line of a chat completion, and the Host header."""
    request = endpoint(url, {}).http1(Request("POST", "/chat/completions", "an-id", b"{}"))
    first, host = request.decode().split("\r\n")[:2]
    return f"{first} | {host}"


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("http://h:8000", "POST /v1/chat/completions HTTP/1.1 | Host: h:8000"),
        ("http://h:8000/", "POST /v1/chat/completions HTTP/1.1 | Host: h:8000"),
        ("http://h:8000/v1", "POST /v1/chat/completions HTTP/1.1 | Host: h:8000"),
        ("http://h:8000/v1/", "POST /v1/chat/completions HTTP/1.1 | Host: h:8000"),
        ("h:8000", "POST /v1/chat/completions HTTP/1.1 | Host: h:8000"),
        ("localhost:8000/v1", "POST /v1/chat/completions HTTP/1.1 | Host: localhost:8000"),
        ("h", "POST /v1/chat/completions HTTP/1.1 | Host: h"),
        ("HTTP://H:80", "POST /v1/chat/completions HTTP/1.1 | Host: h"),
        ("https://h:443/v1", "POST /v1/chat/completions HTTP/1.1 | Host: h"),
        ("https://h:8443/v1", "POST /v1/chat/completions HTTP/1.1 | Host: h:8443"),
        ("http://h/v1/chat/completions", "POST /v1/chat/completions HTTP/1.1 | Host: h"),
        ("http://h/v1/chat/completions/", "POST /v1/chat/completions HTTP/1.1 | Host: h"),
        ("http://h/v1/completions", "POST /v1/chat/completions HTTP/1.1 | Host: h"),
        ("http://h/v1/models", "POST /v1/chat/completions HTTP/1.1 | Host: h"),
        ("http://h/chat/completions", "POST /chat/completions HTTP/1.1 | Host: h"),
        ("http://h/api/chat/completions", "POST /api/chat/completions HTTP/1.1 | Host: h"),
        ("http://h/api", "POST /api/v1/chat/completions HTTP/1.1 | Host: h"),
        ("http://h/api/v1", "POST /api/v1/chat/completions HTTP/1.1 | Host: h"),
        ("http://h/v1beta/openai/", "POST /v1beta/openai/chat/completions HTTP/1.1 | Host: h"),
        ("http://[::1]:8000", "POST /v1/chat/completions HTTP/1.1 | Host: [::1]:8000"),
        ("http://[::1]", "POST /v1/chat/completions HTTP/1.1 | Host: [::1]"),
        ("[::1]:8000", "POST /v1/chat/completions HTTP/1.1 | Host: [::1]:8000"),
        (" http://h:8000\n", "POST /v1/chat/completions HTTP/1.1 | Host: h:8000"),
        ("http://h/a%20b/v1", "POST /a%20b/v1/chat/completions HTTP/1.1 | Host: h"),
        ("http://h/v1#there", "POST /v1/chat/completions HTTP/1.1 | Host: h"),
        ("http://h?x=1", "POST /v1/chat/completions?x=1 HTTP/1.1 | Host: h"),
        ("http://h/v1/?x=1&y#there", "POST /v1/chat/completions?x=1&y HTTP/1.1 | Host: h"),
        (
            "http://h/openai/deployments/d/chat/completions?api-version=2024-02-01",
            "POST /openai/deployments/d/chat/completions?api-version=2024-02-01 HTTP/1.1 | Host: h",
        ),
    ],
)
def test_urls(url: str, line: str) -> None:
    """Every way to write it leads to the operation; what was written in full is not changed."""
    assert chat_line(url) == line


@pytest.mark.parametrize(
    ("url", "shown", "host", "port"),
    [
        ("h", "http://h/v1", "h", 80),
        ("https://h/v1/", "https://h/v1", "h", 443),
        ("http://[::1]:8000", "http://[::1]:8000/v1", "::1", 8000),
        ("http://h:0", "http://h:0/v1", "h", 0),
        ("h?api-version=2024-10-21", "http://h/v1?api-version=2024-10-21", "h", 80),
    ],
)
def test_what_the_log_shows(url: str, shown: str, host: str, port: int) -> None:
    """The base URL in one form."""
    target = endpoint(url, {})
    assert (target.url, target.host, target.port) == (shown, host, port)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "no host"),
        ("http://", "no host"),
        ("http://:8000", "no host"),
        ("ftp://h", "use http:// or https://"),
        ("http://h:port", "(?i)port"),
        ("http://h:99999", "(?i)port"),
        ("http://[::1", "(?i)ipv6"),
        ("http://::1:8000", "IPv6 in brackets"),
        ("http://me:pw@h?x=1", "leave user and password out"),
        ("http://h?api_key=1", "seems to hold a secret"),
        ("http://h/a b", "percent-encode"),
        ("http://ho st", "percent-encode"),
        ("http://h/\r\nX-Evil: 1", "percent-encode"),
        ("http://h/v1\tx", "percent-encode"),
        ("http://h/日本", "percent-encode"),
        ("http://日本.jp", "percent-encode"),
        ("http://h/é", "percent-encode"),
        ("http://h\u2100.com", "percent-encode"),
    ],
)
def test_urls_that_cannot_be_used(url: str, why: str) -> None:
    """A sentence that names the option, and no other exception."""
    with pytest.raises(EndpointError, match=why) as raised:
        endpoint(url, {})
    assert str(raised.value).startswith("--url")


@pytest.mark.parametrize(
    "url",
    [
        *("http://me:hunter22@h", "http://hunter22@h", "http://:hunter22@h", "http://h?key=hunter22"),
        *("ftp://me:hunter22@h", "me:hunter22@h", "http://me:hunter22@h:port", "http://me:hunter22@"),
        *("http://me:hunter22@[::1", "http://:80?key=hunter22", "http://me:hunter22@h/é"),
        *("h?Api-Key=hunter22", "h?a=1&sig=hunter22", "h?access%5Ftoken=hunter22", "h?x=Bearer%20hunter22"),
        *(
            "h?code=hunter22",
            "h?subscription-key=hunter22",
            "h?x=sk-hunter22",
            "h?x=eyJhunter22",
            "h?user@hunter22",
        ),
    ],
)
def test_secrets_in_a_url_are_refused_and_not_repeated(url: str) -> None:
    """Not even where something else is wrong with it too."""
    with pytest.raises(EndpointError) as raised:
        endpoint(url, {})
    assert "hunter22" not in str(raised.value)


@given(url=st.text(max_size=30) | st.text("htp:/@[]?#v1.x-%", max_size=30).map("http://".__add__))
def test_any_text_is_an_endpoint_or_an_error(url: str) -> None:
    """What is accepted makes a request of plain ASCII with one request line."""
    try:
        target = endpoint(url, {})
    except EndpointError:
        return
    head = target.http1(Request("GET", "/models", "an-id"))
    assert head.isascii()
    assert len(head.split(b"\r\n")[0].split(b" ")) == 3
    assert head.count(b"\r\n") == head.count(b"\n") == 6
    assert target.url.startswith(("http://", "https://"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("X-A", value) for value in ("a\r\nX-Evil: 1", "a\nb", "a\rb", "a\x00", "a\x7f", "é", "日本")),
        *((name, "a") for name in ("", "X A", "X:A", "X\r\nA", "é")),
        *((name, "a") for name in ("Host", "content-length", "TRANSFER-ENCODING", "Connection")),
        *((name, "a") for name in ("Content-Type", "X-Request-Id", "Accept-Encoding", "accept")),
    ],
)
def test_headers_that_cannot_be_sent(name: str, value: str) -> None:
    """Neither another header inside one, nor one that the client sets itself; the value is not repeated."""
    with pytest.raises(EndpointError, match="--header") as raised:
        endpoint("h", {name: value})
    assert value == "a" or value not in str(raised.value)


@given(name=st.text(max_size=8), value=st.text(max_size=8))
def test_any_header_is_one_line_or_an_error(name: str, value: str) -> None:
    """There is no way to smuggle a second one in."""
    try:
        target = endpoint("h", {name: value})
    except EndpointError:
        return
    lines = target.http1(Request("GET", "/models", "an-id")).split(b"\r\n")
    assert f"{name}: {value}".encode() in lines
    assert len(lines) == 8


def test_a_request() -> None:
    """Head and body, and no length for a request without one."""
    target = endpoint("h", {"Authorization": "Bearer abc", "X-Tab": "a\tb"})
    assert target.http1(Request("POST", "/completions", "an-id", b"{}")) == (
        b"POST /v1/completions HTTP/1.1\r\n"
        b"Host: h\r\n"
        b"Accept: text/event-stream, application/json\r\n"
        b"Accept-Encoding: identity\r\n"
        b"Authorization: Bearer abc\r\n"
        b"X-Tab: a\tb\r\n"
        b"X-Request-Id: an-id\r\n"
        b"Content-Type: application/json\r\n"
        b"Content-Length: 2\r\n"
        b"\r\n{}"
    )
    assert target.http1(Request("GET", "/models", "an-id")).endswith(b"X-Request-Id: an-id\r\n\r\n")


def secretive(**headers: Any) -> Endpoint:
    """An endpoint with these headers."""
    return endpoint("h", {name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.parametrize(
    "value",
    ["Bearer sk-secret-1", "bearer sk-secret-1", "Basic sk-secret-1", "sk-secret-1", " sk-secret-1 "],
)
def test_secrets_are_taken_out_of_messages(value: str) -> None:
    """With their scheme or without, as often as they come."""
    text = f"no such key: sk-secret-1 (you sent '{value}', sk-secret-1)"
    redacted = secretive(Authorization=value).redact(text)
    assert "sk-secret-1" not in redacted
    assert redacted.startswith("no such key: ***")


def test_common_words_are_not_masked() -> None:
    """Short values are in any text."""
    assert secretive(X_Cache="true", X_Empty="", X_Blank="  ").redact("it is true") == "it is true"


def test_the_longer_of_two_secrets_goes_first() -> None:
    """One that begins like another leaves nothing behind."""
    target = secretive(X_A="secret-1", X_B="secret-1-and-more")
    assert target.redact("got secret-1-and-more") == "got ***"


@given(padding=st.integers(200, 330))
def test_messages_are_short_and_never_cut_a_secret_in_two(padding: int) -> None:
    """They are shortened after the secrets are out."""
    message = secretive(Authorization="Bearer sk-0123456789").redact(
        "x" * padding + "sk-0123456789" + "y" * 999
    )
    assert len(message) <= 301
    assert "sk-" not in message
    assert message.endswith("…")
