"""TLS between a connection and its socket, as a filter of bytes: arrivals are stamped as without it."""

from __future__ import annotations

import ssl
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from loadgen.mock_endpoint.errors import MockOptionsError

if TYPE_CHECKING:
    from loadgen.mock_endpoint.options import MockOptions

_AT_ONCE: Final = 65536


class TlsLayer:
    """The server's end of one TLS connection.

    Args:
        context: The server's certificate.
    """

    def __init__(self, context: ssl.SSLContext) -> None:
        self._received, self._to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._received, self._to_send, server_side=True)

    def decrypt(self, data: bytes | memoryview) -> bytes:
        """Return the plain bytes of the records that are complete.

        Raises:
            ssl.SSLError: The bytes are not TLS, or the client refuses the certificate.
        """
        self._received.write(data)
        parts = []
        with suppress(ssl.SSLWantReadError):
            while part := self._tls.read(_AT_ONCE):
                parts.append(part)
        return b"".join(parts)

    def encrypt(self, data: bytes) -> bytes:
        """Return data as records, after the answers of the handshake."""
        unwritten = memoryview(data)
        while unwritten:
            unwritten = unwritten[self._tls.write(unwritten) :]
        return self._to_send.read()

    def end(self) -> bytes:
        """Return the record that ends the stream."""
        with suppress(ssl.SSLError):
            self._tls.unwrap()
        return self._to_send.read()


def tls_context(options: MockOptions) -> ssl.SSLContext | None:
    """Read the server's certificate; None for plain HTTP.

    Raises:
        MockOptionsError: A certificate with its key cannot be read.
    """
    if options.tls_cert is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(options.tls_cert, options.tls_key)
    except OSError as error:
        files = " and ".join(str(file) for file in (options.tls_cert, options.tls_key) if file)
        raise MockOptionsError(f"no certificate with its key can be read from {files}: {error}") from error
    return context
