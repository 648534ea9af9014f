"""TLS between a socket that stamps and a connection: bytes in, bytes out, no socket here.

asyncio's TLS hides from its user when bytes reach the kernel and when they left it. Here each read of the
socket is decrypted at once, so the plaintext has the stamp of the read, and what is sent is encrypted
beforehand.
"""

from __future__ import annotations

import ssl
import sys
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.compiled import compiled_function

if TYPE_CHECKING:
    from loadgen.driver.client.endpoint import Endpoint

_READ_BYTES: Final = 64 * 1024

_KNOWN_FROM: Final = (3, 11)
_KNOWN_BEFORE: Final = (3, 15)
_BARE_OBJECT: Final = 16
"""Bytes of an object without members, in a Python without additions for debugging or free threads."""

_TRUST: Final = "trust the issuer (SSL_CERT_FILE names a file of authorities), or give --insecure"
_REMEDIES: Final = {
    9: "not valid yet: compare the clocks of both machines",
    10: "expired: renew the certificate on the server",
    18: _TRUST,
    19: _TRUST,
    20: _TRUST,
    21: _TRUST,
    62: "use a host name from the server's certificate",
    64: "use a host name from the server's certificate",
}
"""What to do about a certificate, by OpenSSL's X509_V_ERR codes."""


_NOT_TLS: Final = frozenset({"WRONG_VERSION_NUMBER", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE"})
"""OpenSSL's reasons for a first answer that is not a TLS record, such as an HTTP error in clear."""


class TLSLayer:
    """One connection's TLS, as the client."""

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self._received = ssl.MemoryBIO()
        self._to_send = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._received, self._to_send, server_hostname=host)
        self._begun = False

    @property
    def native(self) -> Any:
        """The object of `_ssl`, for compiled code, which takes all over after the handshake."""
        return getattr(self._tls, "_sslobj", None)

    def handshake(self, received: bytes = b"") -> tuple[bytes, bool]:
        """Continue the handshake with the server's bytes; empty: the connection's end.

        Returns what to send, and whether the handshake is complete; raises `ssl.SSLError` where it failed.
        """
        if received:
            self._received.write(received)
        elif self._begun:
            self._received.write_eof()
        self._begun = True
        complete = True
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            complete = False
        return self._to_send.read(), complete

    def encrypt(self, data: bytes) -> bytes:
        """Encrypt bytes for sending."""
        self._tls.write(data)
        return self._to_send.read()

    def decrypt(self, received: memoryview) -> tuple[list[bytes], ssl.SSLError | None]:
        """Decrypt received bytes; return the plaintext, and the end of the connection, if any.

        An `SSLZeroReturnError` is the server's farewell, any other error is its alert or no TLS at all.
        """
        self._received.write(received)
        pieces: list[bytes] = []
        try:
            while piece := self._tls.read(_READ_BYTES):
                pieces.append(piece)
                # One more read would raise an exception, which takes as long as decrypting a chunk.
                if not self._received.pending and not self._tls.pending():
                    return pieces, None
        except ssl.SSLWantReadError:
            return pieces, None
        except ssl.SSLError as end:
            return pieces, end
        return pieces, ssl.SSLZeroReturnError()

    def reply(self) -> bytes:
        """The bytes that TLS itself has to send, for instance to agree on new keys; mostly none."""
        return self._to_send.read()


def explained(error: BaseException) -> str:
    """Why there is no TLS, and for a certificate what to do. Nothing was sent to the server yet."""
    if isinstance(error, ssl.SSLCertVerificationError):
        remedy = _REMEDIES.get(error.verify_code)
        why = f"certificate verify failed: {error.verify_message}"
        return f"{why}; {remedy}" if remedy else why
    if isinstance(error, ssl.SSLError) and error.reason:
        if error.reason in _NOT_TLS:
            return "the server does not speak TLS; try http:// in place of https://"
        return error.reason.replace("_", " ").lower()
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def tls_context(endpoint: Endpoint) -> ssl.SSLContext:
    """The trust in an endpoint's certificate."""
    context = ssl.create_default_context()
    # A server may ask for the protocol by name.
    context.set_alpn_protocols(["h2" if endpoint.scheme == "grpcs" else "http/1.1"])
    if not endpoint.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def is_compiled(context: ssl.SSLContext) -> bool:
    """Whether compiled code can take over the connections of a context after the handshake.

    It uses the OpenSSL to which `_ssl` is linked, and needs to know where `_ssl` keeps a connection.
    """
    takes_tls = compiled_function("takes_tls")
    file = getattr(sys.modules["_ssl"], "__file__", None)
    is_known = _KNOWN_FROM <= sys.version_info < _KNOWN_BEFORE and object.__basicsize__ == _BARE_OBJECT
    if not (takes_tls and file and is_known) or context.keylog_filename is not None:
        return False
    native = TLSLayer(context, "localhost").native
    return native is not None and bool(takes_tls(file, native))
