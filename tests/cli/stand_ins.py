"""Servers that stand in for those that a run is exported to, and an endpoint that keeps what it was sent."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Reply = tuple[int, str, bytes]
"""A status, a content type and a body."""

STREAM = b"".join(
    b'data: {"choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":%s}]}\n\n' % chunk
    for chunk in ((b"a", b"null"), (b"b", b"null"), (b"c", b'"stop"'))
) + (
    b'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8}}\n\n'
    b"data: [DONE]\n\n"
)
"""A streamed chat completion of three tokens."""


@dataclass(frozen=True)
class ReceivedRequest:
    """What a server was sent."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class StandIn:
    """A server; `answer` decides what it answers."""

    answer: Callable[[ReceivedRequest], Reply]
    url: str = ""
    requests: list[ReceivedRequest] = field(default_factory=list)


@contextmanager
def stand_in(answer: Callable[[ReceivedRequest], Reply]) -> Iterator[StandIn]:
    """Serve on a free port of this machine."""
    server = StandIn(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _reply(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = ReceivedRequest(self.command, self.path, headers, body)
            server.requests.append(request)
            status, kind, content = server.answer(request)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = _reply  # noqa: N815 (the names of http.server)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.url = f"http://127.0.0.1:{listening.server_address[1]}"
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        listening.shutdown()
        thread.join()
