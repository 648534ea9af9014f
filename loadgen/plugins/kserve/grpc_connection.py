"""gRPC over the measured transport: an HTTP/2 connection whose messages have the stamps of their segments.

The connection carries one request at a time, as one of HTTP/1.1 does: no message waits for another request's,
and a read has the messages of one. `h2` does the frames, and a message reaches the observer as the JSON of
KServe over HTTP.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

import orjson
from h2.config import H2Configuration
from h2.connection import ConnectionState, H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    ResponseReceived,
    StreamEnded,
    StreamReset,
    TrailersReceived,
)
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes, Settings

from loadgen.driver.client.body_format import EVENT_STREAM
from loadgen.driver.client.connection import Connection
from loadgen.driver.client.endpoint import JSON
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.head import head
from loadgen.driver.client.memory_bounds import MAX_FRAME_BYTES
from loadgen.driver.errors import MalformedResponseError, RequestFailedError
from loadgen.plugins.kserve.grpc_status import HTTP_STATUS, STATUS_NAMES
from loadgen.plugins.kserve.messages import STREAM, json_of

if TYPE_CHECKING:
    from loadgen.driver.client.arrival import StampingSocket
    from loadgen.driver.client.exchange import Exchange
    from loadgen.driver.client.ready import Ready
    from loadgen.driver.client.tls import TLSLayer

_WINDOW: Final = 2**31 - 1
"""Flow control never holds a response back: other bounds of memory hold."""

_PREFIX_BYTES: Final = 5
"""Before each message: whether it is compressed, and its length."""

_HTTP_OK: Final = 200
_OF_HTTP1: Final = frozenset({b"host", b"content-length", b"connection", b"accept", b"accept-encoding"})
_FIELDS: Final = ((b"te", b"trailers"), (b"grpc-accept-encoding", b"identity"))


class _Http2(H2Connection):
    """HTTP/2 that reads on after a farewell (GOAWAY): `h2` would refuse the rest of the response."""

    def _receive_goaway_frame(self, frame: Any) -> Any:
        received = super()._receive_goaway_frame(frame)
        self.state_machine.state = ConnectionState.CLIENT_OPEN
        return received


class GrpcConnection(Connection):
    """Carries one request at a time; see `Connection`."""

    __slots__ = ("_fields", "_http2", "_method", "_partial", "_pending", "_stream")

    def __init__(self, sock: StampingSocket, tls: TLSLayer | None, ready: Ready) -> None:
        self._http2 = _Http2(H2Configuration(header_encoding=None, validate_inbound_headers=False))
        own = {SettingCodes.ENABLE_PUSH: 0, SettingCodes.INITIAL_WINDOW_SIZE: _WINDOW}
        self._http2.local_settings = Settings(client=True, initial_values=own)
        self._http2.initiate_connection()
        self._http2.increment_flow_control_window(_WINDOW - self._http2.inbound_flow_control_window)
        self._stream = 0
        self._method = ""
        self._pending = memoryview(b"")  # of the request, what the server's window has no room for
        self._partial = bytearray()
        self._fields: dict[bytes, bytes] = {}
        super().__init__(sock, tls, ready)

    def request(self, data: bytes, observer: Exchange) -> None:
        """Send one request, which is given in HTTP/1.1; the observer receives everything else."""
        self._observer = observer
        self._begin()
        self._parser, self._upload = self, None  # type: ignore[assignment]  # the few methods that are called
        self._partial.clear()
        self._fields = {}
        start, _, body = data.partition(b"\r\n\r\n")
        line, *lines = start.split(b"\r\n")
        named = dict(field.split(b": ", 1) for field in lines)
        method, path, _ = line.split(b" ")
        self._method = path.rpartition(b"/")[2].decode()
        scheme = b"http" if self._tls is None else b"https"
        fields = ((name.lower(), value) for name, value in named.items())
        self._stream = self._http2.get_next_available_stream_id()
        self._http2.send_headers(
            self._stream,
            [
                *(
                    (b":method", method),
                    (b":scheme", scheme),
                    (b":path", path),
                    (b":authority", named[b"Host"]),
                ),
                *_FIELDS,
                *((name, value) for name, value in fields if name not in _OF_HTTP1),
            ],
        )
        self._pending = memoryview(b"\0" + len(body).to_bytes(_PREFIX_BYTES - 1) + body)
        self._send_pending()

    def _send_pending(self) -> None:
        """Send as much of the request as the server's window allows, and what HTTP/2 itself has to send."""
        while self._pending:
            room = self._http2.local_flow_control_window(self._stream)
            piece = self._pending[: min(room, self._http2.max_outbound_frame_size)]
            if not piece:
                break
            self._pending = self._pending[len(piece) :]
            self._http2.send_data(self._stream, bytes(piece), end_stream=not self._pending)
        if data := self._http2.data_to_send():
            self._send_after(data if self._tls is None else self._tls.encrypt(data))

    def _sent(self, at_ns: int) -> None:
        if not self._pending:
            super()._sent(at_ns)

    def should_keep_alive(self) -> bool:
        """Whether another request may follow: not after the server's farewell (GOAWAY)."""
        return self.reusable

    def feed_data(self, data: bytes) -> None:
        """Take a read; raise `RequestFailedError` for what is not gRPC, or for the end of the request."""
        if data.startswith(b"HTTP/1."):  # no frame begins so
            raise _malformed("the server speaks HTTP/1.1; is the port right?")
        try:
            events = self._http2.receive_data(data)
        except ProtocolError as error:
            raise _malformed(f"not HTTP/2: {error}") from error
        for event in events:
            self._take_event(event)
        if self._parser is not None or self.reusable:
            self._send_pending()

    def _take_event(self, event: Any) -> None:
        match event:
            case ConnectionTerminated():
                self._take_farewell(event)
            case _ if getattr(event, "stream_id", 0) != self._stream or self._observer is None:
                return
            case ResponseReceived() | TrailersReceived():
                if not self._fields:
                    self._first_byte_ns = self._read[1]
                self._fields |= dict(event.headers)
            case DataReceived():
                self._http2.acknowledge_received_data(event.flow_controlled_length, self._stream)
                self._partial += event.data
                self._body_ns = self._read[1]
                self._take_messages()
            case StreamEnded():
                self._take_end()
            case StreamReset():
                raise self._reset(event)

    def _take_farewell(self, event: ConnectionTerminated) -> None:
        """Heed a GOAWAY: the present request goes on if the server has taken it."""
        self.reusable = False
        if self._observer is not None and (event.last_stream_id or 0) < self._stream:
            self._lost(None)

    def _take_messages(self) -> None:
        """Pass on all complete messages."""
        if not self._is_grpc:
            return
        while len(self._partial) >= _PREFIX_BYTES:
            end = _PREFIX_BYTES + int.from_bytes(self._partial[1:_PREFIX_BYTES])
            if self._partial[0]:
                raise RequestFailedError(
                    Failure.DECODE_ERROR, "a message is compressed, which was not asked for"
                )
            if end > MAX_FRAME_BYTES:
                raise RequestFailedError(Failure.TOO_LARGE, f"a message of {end} bytes")
            if len(self._partial) < end:
                return
            self._pass_on_head(_HTTP_OK, EVENT_STREAM if self._method == STREAM else JSON)
            try:
                self.on_body(json_of(self._method, bytes(self._partial[_PREFIX_BYTES:end])))
            except MalformedResponseError as error:
                raise _malformed(str(error)) from error
            del self._partial[:end]

    @property
    def _is_grpc(self) -> bool:
        return self._fields.get(b"content-type", b"").startswith(b"application/grpc")

    def _pass_on_head(self, status: int, media_type: str) -> None:
        if self._head is None:
            self._head = replace(
                head(status, tuple((n, v) for n, v in self._fields.items() if not n.startswith(b":"))),
                media_type=media_type,
                event_stream=media_type == EVENT_STREAM,
                chunked=True,
                until_close=False,
            )
            self._late.begin(chunked=True)
            assert self._observer is not None  # noqa: S101 (events without an observer are not taken)
            self._observer.head(self._head, self._first_byte_ns)

    def _take_end(self) -> None:
        """End the response by the status of gRPC, or of HTTP where a gateway answered."""
        http_status = int(self._fields.get(b":status", b"0"))
        if not self._is_grpc:
            self._pass_on_head(http_status, "")
            self.on_body(bytes(self._partial))
        elif (name := STATUS_NAMES.get(code := self._fields.get(b"grpc-status", b""))) is None:
            raise _malformed(f"grpc-status {code.decode('latin-1')!r} at the end of the stream")
        elif self._partial:
            raise RequestFailedError(Failure.TRUNCATED, "the stream ended inside a message")
        elif code != b"0":
            message = unquote(self._fields.get(b"grpc-message", b"").decode("latin-1"))
            if self._head is not None:
                self._pass_on_body()
                raise RequestFailedError(Failure.ERROR_FRAME, f"{name}: {message}")
            self._pass_on_head(HTTP_STATUS[name], JSON)
            self.on_body(orjson.dumps({"error": {"message": f"{name}: {message}"}}))
        else:
            self._pass_on_head(_HTTP_OK, JSON)
        self.on_message_complete()

    def _reset(self, event: StreamReset) -> RequestFailedError:
        """The failure of a stream that the server cancelled."""
        name = getattr(event.error_code, "name", event.error_code)
        self.stale = event.error_code == ErrorCodes.REFUSED_STREAM
        self._pass_on_body()
        failure = Failure.RESET if self._head is None else Failure.TRUNCATED
        return RequestFailedError(failure, f"the server reset the stream ({name})")

    # Where HTTP/2 differs from HTTP/1.1…

    def _take_unasked(self, data: bytes) -> None:
        """Take a read between requests: HTTP/2's own frames, such as a PING or a farewell."""
        try:
            self.feed_data(data)
        except RequestFailedError:
            self.reusable = False
        if not self.reusable:
            self.close()

    def _pass_on_body(self) -> None:
        super()._pass_on_body()
        self._in_no_hurry = False  # what ends a stream does not look like the end of chunks

    def _bound_bare(self) -> None:
        """Count only the response as a sign of life, not HTTP/2's own frames; `h2` bounds heads."""
        self.heard_ns = 0 if self._head is None else self._body_ns

    def _lost(self, error: OSError | None) -> None:
        if not self._fields:
            self._first_byte_ns = 0
        super()._lost(error)


def _malformed(why: str) -> RequestFailedError:
    return RequestFailedError(Failure.MALFORMED_FRAME, f"the response is not gRPC: {why}")
