"""Mock endpoints to talk to, and the plainest of clients."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson
import pytest

from loadgen.mock_endpoint import MockProcess, start_mock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHAT = "/v1/chat/completions"


class Wire:
    """A connection that shows the bytes."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=120)
        self._unread = b""

    def send(self, body: bytes, path: str = CHAT, **headers: str) -> None:
        """Send a POST with a body that may not be JSON."""
        lines = [f"POST {path} HTTP/1.1", "Host: mock", f"Content-Length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode() + body)

    def ask(self, path: str = CHAT, *, request_id: str = "", **fields: Any) -> None:
        """Send a chat or completion request; `fields` come on top of a short question and `stream`."""
        question = (
            {"messages": [{"role": "user", "content": "one two three"}]}
            if path == CHAT
            else {"prompt": "one"}
        )
        body = orjson.dumps({"stream": True, **question, **fields})
        self.send(body, path, **({"X_Request_Id": request_id} if request_id else {}))

    def read_until(self, end: bytes) -> bytes:
        """Read up to and with `end`."""
        while end not in self._unread:
            data = self.socket.recv(65536)
            assert data, f"the connection ended before {end!r}; unread was {self._unread!r}"
            self._unread += data
        cut = self._unread.index(end) + len(end)
        read, self._unread = self._unread[:cut], self._unread[cut:]
        return read

    def read_head(self) -> bytes:
        """Read the status line and the headers of a response."""
        return self.read_until(b"\r\n\r\n")

    def read_events(self) -> list[Any]:
        """Read the rest of a stream, undo the chunked encoding, and decode its events."""
        body = b""
        while size := int(self.read_until(b"\r\n"), 16):
            while len(self._unread) < size + 2:
                self._unread += self.socket.recv(65536)
            body, self._unread = body + self._unread[:size], self._unread[size + 2 :]
        assert self.read_until(b"\r\n") == b"\r\n"
        events = body.split(b"\n\n")
        assert events.pop() == b""
        assert all(event.startswith(b"data: ") for event in events)
        assert events.pop() == b"data: [DONE]"
        return [orjson.loads(event.removeprefix(b"data: ")) for event in events]

    def read_json(self) -> tuple[int, Any]:
        """Read a response in one piece: its status and its JSON."""
        head = self.read_head()
        size = next(
            int(line.split(b":")[1])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length")
        )
        while len(self._unread) < size:
            self._unread += self.socket.recv(65536)
        body, self._unread = self._unread[:size], self._unread[size:]
        return int(head.split(b" ", 2)[1]), orjson.loads(body)


@pytest.fixture
def connect() -> Iterator[Callable[[MockProcess], Wire]]:
    """Open connections that are closed when the test ends."""
    with ExitStack() as opened:

        def open_one(mock: MockProcess) -> Wire:
            wire = Wire(mock.url)
            opened.callback(wire.socket.close)
            return wire

        yield open_one


@pytest.fixture(scope="session")
def instant() -> Iterator[MockProcess]:
    """A mock endpoint that answers every model at once, with eight tokens."""
    with start_mock(ttft="0", itl="0", tokens="8") as mock:
        yield mock
