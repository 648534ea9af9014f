"""The socket of a client of scenarios, in clear or through TLS."""

from __future__ import annotations

import asyncio
import fcntl
import socket
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from loadgen.driver.client.arrival import StampingSocket
    from loadgen.mock_endpoint.tls_filter import TlsLayer

_READ: Final = 64 * 1024
_LOOK_AGAIN_S: Final = 0.001

_SIOCOUTQNSD: Final = 0x894B
"""The ioctl for the number of bytes that have not left (linux/sockios.h)."""

_AT_ONCE: Final = struct.pack("ii", 1, 0)
"""`struct linger`: closing sends a RST."""


class PlayedSocket:
    """Sends and receives plain bytes.

    Attributes:
        arrival_ns: When the last segment of the received bytes had arrived.
    """

    def __init__(self, sock: StampingSocket, tls: TlsLayer | None) -> None:
        self._sock = sock
        self._tls = tls
        self._loop = asyncio.get_running_loop()
        self.arrival_ns = 0

    async def send(self, data: bytes) -> None:
        """Send all of the data, or raise `OSError`."""
        await self._loop.sock_sendall(self._sock, self._tls.encrypt(data) if self._tls else data)

    async def receive(self) -> bytes:
        """Receive the next bytes; empty at the end of the client's stream."""
        buffer = bytearray(_READ)
        while count := await self._loop.sock_recv_into(self._sock, buffer):
            self.arrival_ns = self._sock.arrival_ns
            received = memoryview(buffer)[:count]
            if self._tls is None:
                return bytes(received)
            data = self._tls.decrypt(received)
            await self.send(b"")  # the handshake
            if data:
                return data
        return b""

    async def end(self) -> None:
        """End the stream in TLS, before the socket is closed."""
        if self._tls:
            await self._loop.sock_sendall(self._sock, self._tls.end())

    async def reset_at_close(self) -> None:
        """Make the close of the socket a RST, once all bytes have left.

        A RST discards those that wait for the congestion window. Those that have left stay readable.
        """
        while _holds_back(self._sock):  # noqa: ASYNC110 (polled: nothing signals it)
            await asyncio.sleep(_LOOK_AGAIN_S)
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)


def _holds_back(sock: socket.socket) -> bool:
    """Whether the kernel has bytes that have not left; False where the kernel does not tell."""
    with suppress(OSError):
        return any(fcntl.ioctl(sock, _SIOCOUTQNSD, bytes(4)))
    return False
