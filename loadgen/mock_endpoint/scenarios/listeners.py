"""Where scenarios are met: the server's port, and places that no connection can be made to."""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.mock_endpoint.scenarios.scenario import Place

NO_HOST: Final = "loadgen-conformance.invalid"
"""`.invalid` never has an address (RFC 2606)."""

_FILLERS: Final = 4
"""How many connections fill a queue of length 0: Linux takes one more, some systems a few more."""


class Listeners:
    """All listening sockets, and the places without a listener."""

    def __init__(self, host: str, port: int, scheme: str) -> None:
        self._host = host
        self._port = port
        self._scheme = scheme
        self._sockets: list[socket.socket] = []
        self._servers: list[asyncio.Server] = []
        self._bases: dict[Place, str] = {}

    async def open(self) -> Mapping[Place, str]:
        """Open every place; base URLs, without a path, by name."""
        own = self._authority(self._port)
        self._bases = {
            "http": f"{self._scheme}://{own}",
            "plain_for_tls": f"https://{own}",
            "no_host": f"http://{NO_HOST}:{self._port}",
            "closed_port": f"http://{self._authority(self._bound())}",
            "full_queue": f"http://{self._authority(self._full())}",
            "tls_self_signed": f"https://{self._authority(await self._secured('self_signed'))}",
            "tls_expired": f"https://{self._authority(await self._secured('expired'))}",
        }
        return self._bases

    def close(self) -> None:
        """Close all places."""
        for server in self._servers:
            server.close()
        for sock in self._sockets:
            sock.close()

    def _authority(self, port: int) -> str:
        return f"[{self._host}]:{port}" if ":" in self._host else f"{self._host}:{port}"

    def _bound(self) -> int:
        """A bound port without a listener."""
        return int(self._taken().getsockname()[1])

    def _taken(self) -> socket.socket:
        sock = socket.socket(socket.AF_INET6 if ":" in self._host else socket.AF_INET)
        self._sockets.append(sock)
        sock.bind((self._host, 0))
        return sock

    def _full(self) -> int:
        """A port with a full accept queue: further handshakes get no answer."""
        listener = self._taken()
        listener.listen(0)
        for _ in range(_FILLERS):
            filler = socket.socket(listener.family)
            self._sockets.append(filler)
            filler.setblocking(False)  # noqa: FBT003 (the socket module's own signature)
            with suppress(BlockingIOError):
                filler.connect(listener.getsockname())
        return int(listener.getsockname()[1])

    async def _secured(self, certificate: str) -> int:
        """A port that speaks TLS, with a certificate that is not to be trusted."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate_file(certificate))
        server = await asyncio.start_server(_hang_up, self._host, 0, ssl=context)
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])


def certificate_file(name: str) -> Path:
    """The file of a certificate with a private key (PEM): `self_signed` or `expired`."""
    return Path(__file__).with_name("certificates") / f"{name}.pem"


async def _hang_up(_: Any, writer: asyncio.StreamWriter) -> None:
    """Close a connection that no client should make: the certificate is untrusted."""
    writer.close()
