"""Reading one request from a socket, with the time of arrival."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from loadgen.mock_endpoint.errors import MockError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.mock_endpoint.scenarios.played_socket import PlayedSocket

_MOST_HEAD: Final = 64 * 1024
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


class ReceivedRequest(NamedTuple):
    """One request.

    Attributes:
        headers: By their names in lower case.
        received_ns: When its last segment had arrived.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    received_ns: int


class NotHTTPError(MockError):
    """The received bytes are not an HTTP/1.1 request."""


class RequestReader:
    """Reads the requests of one connection, one after the other."""

    def __init__(self, client: PlayedSocket) -> None:
        self._client = client
        self._unread = bytearray()

    async def next(self) -> ReceivedRequest | None:
        """Read the next request to the end, or raise `NotHTTPError`; None when there will be none."""
        head = await self._until(b"\r\n\r\n")
        if head is None:
            return None
        try:
            start, *lines = head.decode("latin-1").rstrip().split("\r\n")
            method, path, _ = start.split(" ")
            headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
            length = int(headers.get("content-length", 0))
        except ValueError as error:
            raise NotHTTPError from error
        if headers.get("expect", "").lower() == "100-continue":
            await self._client.send(_CONTINUE)
        whole = await self._skip_chunks() if "transfer-encoding" in headers else await self._exactly(length)
        return ReceivedRequest(method, path, headers, self._client.arrival_ns) if whole is not None else None

    async def hung_up(self) -> None:
        """Return when the client has closed or broken the connection; received data is dropped."""
        try:
            while await self._read():
                self._unread.clear()
        except OSError:
            return

    async def _skip_chunks(self) -> bytes | None:
        while (line := await self._until(b"\r\n")) is not None:
            try:
                size = int(line.split(b";")[0], 16)
            except ValueError as error:
                raise NotHTTPError from error
            if await self._exactly(size + 2) is None:
                return None
            if not size:
                return b""
        return None

    async def _until(self, end: bytes) -> bytes | None:
        while (place := self._unread.find(end)) < 0:
            if len(self._unread) > _MOST_HEAD or self._unread[:1] == b"\x16":
                # A TLS handshake begins with 0x16.
                raise NotHTTPError
            if not await self._read():
                return None
        return self._take(place + len(end))

    async def _exactly(self, count: int) -> bytes | None:
        while len(self._unread) < count:
            if not await self._read():
                return None
        return self._take(count)

    def _take(self, count: int) -> bytes:
        taken = bytes(self._unread[:count])
        del self._unread[:count]
        return taken

    async def _read(self) -> bool:
        received = await self._client.receive()
        self._unread += received
        return bool(received)
