"""The mock endpoint's HTTP/2: requests of gRPC, in order, and the frames of their responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import DataReceived, RequestReceived, StreamEnded, StreamReset
from h2.exceptions import ProtocolError

from loadgen.mock_endpoint.client_connection import RawRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.driver.client.arrival import StampingSocket

_PREFIX_BYTES: Final = 5


class MockHttp2:
    """One client's connection in HTTP/2.

    Args:
        write: Sends bytes.
        take: Takes a complete request.
        sock: Knows when the last read arrived.
    """

    def __init__(
        self, write: Callable[[bytes], None], take: Callable[[RawRequest], None], sock: StampingSocket
    ) -> None:
        self._write = write
        self._take = take
        self._sock = sock
        self._http2 = H2Connection(H2Configuration(client_side=False, header_encoding=None))
        self._http2.initiate_connection()
        self._open: dict[int, tuple[dict[bytes, bytes], bytearray]] = {}

    def feed(self, data: bytes) -> None:
        """Take a read; raise `OSError` where the connection is over."""
        try:
            for event in self._http2.receive_data(data):
                match event:
                    case RequestReceived():
                        self._open[event.stream_id] = dict(event.headers), bytearray()
                    case DataReceived():
                        self._open[event.stream_id][1].extend(event.data)
                        self._http2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                    case StreamEnded():
                        self._take(self._request(event.stream_id))
                    case StreamReset():
                        raise ConnectionResetError("the client has cancelled the request")
        except ProtocolError as error:
            raise ConnectionAbortedError(f"not HTTP/2: {error}") from error
        self._write(self._http2.data_to_send())

    def _request(self, stream_id: int) -> RawRequest:
        headers, body = self._open.pop(stream_id)
        path, method = headers[b":path"].decode("latin-1"), headers[b":method"].decode("latin-1")
        stream = MockStream(self._http2, stream_id)
        return RawRequest(
            method, path, headers, bytes(body[_PREFIX_BYTES:]), self._sock.arrival_ns, stream=stream
        )


class MockStream:
    """The response to one request, as frames."""

    def __init__(self, http2: H2Connection, stream_id: int) -> None:
        self._http2 = http2
        self._id = stream_id
        self._begun = False

    def message(self, data: bytes) -> bytes:
        """The frames of a message, the first with the head."""
        self._begin()
        self._http2.send_data(self._id, b"\0" + len(data).to_bytes(_PREFIX_BYTES - 1) + data)
        return self._http2.data_to_send()

    def end(self, code: int = 0, message: str = "") -> bytes:
        """The frames of the end, with a status; alone where no message was sent."""
        status = [("grpc-status", str(code)), ("grpc-message", message)]
        if not self._begun:
            status = [*_HEAD, *status]
        self._http2.send_headers(self._id, status, end_stream=True)
        return self._http2.data_to_send()

    def cancel(self) -> bytes:
        """The frame that ends the stream without a status."""
        self._http2.reset_stream(self._id, ErrorCodes.CANCEL)
        return self._http2.data_to_send()

    def _begin(self) -> None:
        if not self._begun:
            self._http2.send_headers(self._id, _HEAD)
            self._begun = True


_HEAD: Final = [(":status", "200"), ("content-type", "application/grpc")]
