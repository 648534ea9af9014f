"""TLS: the same server, behind a filter of bytes."""

from __future__ import annotations

import socket
import ssl
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
import trustme

from loadgen.mock_endpoint import MockProcess, start_mock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUESTION = b'{"prompt": "one two", "stream": true}'
HEAD = b"POST /v1/completions HTTP/1.1\r\nHost: mock\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
LAST = b"data: [DONE]\n\n\r\n0\r\n\r\n"


@pytest.fixture(scope="module")
def context() -> ssl.SSLContext:
    """The authority of the server's certificate, which a client trusts."""
    return ssl.create_default_context()


@pytest.fixture(scope="module")
def files(context: ssl.SSLContext, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The server's certificate and its key."""
    authority, folder = trustme.CA(), tmp_path_factory.mktemp("certificate")
    certificate = authority.issue_cert("127.0.0.1")
    chain, key = folder / "chain.pem", folder / "key.pem"
    chain.write_bytes(b"".join(blob.bytes() for blob in certificate.cert_chain_pems))
    key.write_bytes(certificate.private_key_pem.bytes())
    authority.configure_trust(context)
    return {"tls_cert": chain, "tls_key": key}


@contextmanager
def connected(mock: MockProcess, context: ssl.SSLContext) -> Iterator[ssl.SSLSocket]:
    """A connection that ends with an error where the server ends it without saying so."""
    parts = urlsplit(mock.url)
    assert parts.scheme == "https"
    with (
        socket.create_connection((parts.hostname, parts.port), timeout=120) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1", suppress_ragged_eofs=False) as secure,
    ):
        yield secure


def answer(mock: MockProcess, context: ssl.SSLContext, body: bytes, pieces: int = 1) -> bytes:
    """Ask, with the body in pieces, and read to the end."""
    with connected(mock, context) as client:
        client.sendall(HEAD % len(body))
        size = -(-len(body) // pieces)
        for begin in range(0, len(body), size):
            client.sendall(body[begin : begin + size])
        return b"".join(iter(lambda: client.recv(65536), b""))


@pytest.mark.parametrize("itl", ["0", "1ms"])
def test_a_stream_comes_whole(files: dict[str, Path], context: ssl.SSLContext, itl: str) -> None:
    """At once and paced; the truth has each token, and the punctuality each that had a time."""
    with start_mock(ttft="0", itl=itl, tokens="20", **files) as mock:
        received = answer(mock, context, QUESTION)
        (truth,) = mock.truth(1)
    assert (received.count(b"data: "), received.endswith(LAST)) == (22, True)
    assert (truth.outcome, len(truth.chunk_ns), truth.input_tokens) == ("completed", 20, 2)
    assert mock.punctuality().chunks == (0 if itl == "0" else 20)


def test_long_questions_and_answers(files: dict[str, Path], context: ssl.SSLContext) -> None:
    """Megabytes in both directions take many records, and many turns of both buffers."""
    question = b'{"prompt": "%b", "stream": true}' % (b"word " * 500_000)
    with start_mock(ttft="0", itl="0", tokens="60000", **files) as mock:
        received = answer(mock, context, question, pieces=7)
        (truth,) = mock.truth(1)
    assert (received.count(b"data: "), received.endswith(LAST)) == (60_002, True)
    assert (truth.outcome, truth.input_tokens) == ("completed", 500_000)


def test_other_clients_are_served_after_one_that_speaks_no_tls(
    files: dict[str, Path], context: ssl.SSLContext
) -> None:
    """Plain HTTP, and a client that does not trust the certificate, end alone."""
    with start_mock(ttft="0", itl="0", tokens="2", **files) as mock:
        parts = urlsplit(mock.url)
        with socket.create_connection((parts.hostname, parts.port), timeout=120) as plain:
            plain.sendall(HEAD % len(QUESTION) + QUESTION)
            assert plain.recv(4096) == b""
        with pytest.raises(ssl.SSLCertVerificationError), connected(mock, ssl.create_default_context()):
            pass
        assert answer(mock, context, QUESTION).endswith(LAST)
        (truth,) = mock.truth(1)
    assert truth.outcome == "completed"
