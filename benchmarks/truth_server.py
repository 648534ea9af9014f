"""A server of paced streams that knows when it sent each chunk: stamps from before and after each send.

It is its own process (`python benchmarks/truth_server.py FILE TTFT_MS GAP_MS TOKENS`). It writes its port to
standard output, and on SIGTERM one JSON line a request to FILE: `id`, `received_ns` (the kernel's stamp of
the request's last segment) and `sent`: for each chunk with a token the two stamps, in ns of CLOCK_MONOTONIC,
between which it was handed to the kernel. So the truth is known to an interval, however busy the machine is.
"""

from __future__ import annotations

import json
import re
import select
import signal
import socket
import sys
import time
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from loadgen.driver.client.arrival import StampingSocket

if TYPE_CHECKING:
    from types import FrameType

_LENGTH: Final = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_ID: Final = re.compile(rb"x-request-id: *(\S+)", re.IGNORECASE)
_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_MODELS: Final = b'{"object":"list","data":[{"id":"bench","object":"model"}]}'
_MOST_WAIT_S: Final = 0.05
_SENDS_IN_A_GO: Final = 32


@dataclass(slots=True)
class Request:
    """One request: who asked, when it came, and when each chunk was sent."""

    id: str
    received_ns: int
    sent: list[tuple[int, int]] = field(default_factory=list)


def frame(choice: str, rest: str = "") -> bytes:
    """One event of a stream, as one HTTP chunk."""
    data = f'data: {{"id":"c","object":"chat.completion.chunk","choices":[{choice}]{rest}}}\n\n'.encode()
    return b"%x\r\n%b\r\n" % (len(data), data)


class Server:
    """Answers every completion request alike.

    Args:
        ttft_ms: From the request to the first token.
        gap_ms: From each token to the next.
        tokens: How many.
    """

    def __init__(self, ttft_ms: float, gap_ms: float, tokens: int) -> None:
        self.done: list[Request] = []
        self._ttft_ns, self._gap_ns = round(ttft_ms * 1e6), round(gap_ms * 1e6)
        token = frame('{"index":0,"delta":{"content":" word"},"finish_reason":null}')
        usage = f',"usage":{{"prompt_tokens":5,"completion_tokens":{tokens},"total_tokens":{tokens + 5}}}'
        stop = frame('{"index":0,"delta":{},"finish_reason":"stop"}', usage)
        end = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
        self._chunks = [token] * (tokens - 1) + [token + stop + end]
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self._listener.settimeout(0)
        self._poller = select.epoll()
        self._poller.register(self._listener, select.EPOLLIN)
        self._connections: dict[int, tuple[StampingSocket, bytearray]] = {}
        self._due: list[tuple[int, int, StampingSocket, Request]] = []
        self._order = count()
        self.stopped = False

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._listener.getsockname()[1])

    def run(self) -> None:
        """Serve until it is stopped."""
        while not self.stopped:
            wait_s = (self._due[0][0] - time.monotonic_ns()) / 1e9 if self._due else _MOST_WAIT_S
            for descriptor, _ in self._poller.poll(min(max(wait_s, 0.0), _MOST_WAIT_S)):
                if descriptor == self._listener.fileno():
                    self._accept()
                else:
                    self._read(descriptor)
            for _ in range(_SENDS_IN_A_GO):
                if not self._due or self._due[0][0] > time.monotonic_ns():
                    break
                self._send(*heappop(self._due))

    def _accept(self) -> None:
        accepted, _ = self._listener.accept()
        client = StampingSocket(fileno=accepted.detach())
        client.settimeout(0)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.stamp_arrivals()
        self._connections[client.fileno()] = client, bytearray()
        self._poller.register(client.fileno(), select.EPOLLIN)

    def _read(self, descriptor: int) -> None:
        client, received = self._connections[descriptor]
        buffer = bytearray(65536)
        try:
            size = client.recv_into(buffer)
        except OSError:
            size = 0
        if not size:
            self._poller.unregister(descriptor)
            self._connections.pop(descriptor)[0].close()
            return
        received += buffer[:size]
        head, blank, body = bytes(received).partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if not blank or (length and len(body) < int(length[1])):
            return
        received.clear()
        if not head.startswith(b"POST"):
            client.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(_MODELS), _MODELS))
            return
        client.send(_HEAD)
        named = _ID.search(head)
        request = Request(named[1].decode() if named else "", client.arrival_ns)
        heappush(self._due, (request.received_ns + self._ttft_ns, next(self._order), client, request))

    def _send(self, due_ns: int, _: int, client: StampingSocket, request: Request) -> None:
        data = self._chunks[len(request.sent)]
        before_ns = time.monotonic_ns()
        try:
            client.send(data)
        except OSError:
            return
        request.sent.append((before_ns, time.monotonic_ns()))
        if len(request.sent) == len(self._chunks):
            self.done.append(request)
        else:
            heappush(self._due, (due_ns + self._gap_ns, next(self._order), client, request))


def main(file: str, ttft_ms: str, gap_ms: str, tokens: str) -> None:
    """Serve, and tell the truth at the end."""
    server = Server(float(ttft_ms), float(gap_ms), int(tokens))

    def stop(_: int, __: FrameType | None) -> None:
        server.stopped = True

    signal.signal(signal.SIGTERM, stop)
    print(server.port, flush=True)
    server.run()
    lines = (
        {"id": request.id, "received_ns": request.received_ns, "sent": request.sent}
        for request in server.done
    )
    Path(file).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
