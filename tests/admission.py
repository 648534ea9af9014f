"""A proxy that lets requests through when a test says so: no run is over before the test has acted."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import IO, Self
from urllib.parse import urlsplit

_PIECE = 65536


class Admission:
    """The proxy. A context manager that ends it.

    Answers pass at once; a request waits until one more is admitted, so that `admit(30)` lets a client have
    30 answers however fast or slow the machine is. What a client asked that was killed since is not admitted.

    Args:
        url: Of the endpoint behind it, with its path.

    Attributes:
        url: Its own, with the same path.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._behind = (str(parts.hostname), int(parts.port or 80))
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}{parts.path}"
        self._changed = threading.Condition()
        self._admitted = 0
        self._open = False

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.open()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def admit(self, requests: int) -> None:
        """Let this many more requests through; those of the probe count."""
        with self._changed:
            self._admitted += requests
            self._changed.notify_all()

    def open(self) -> None:
        """Let every request through from now on."""
        with self._changed:
            self._open = True
            self._changed.notify_all()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        """Pass on the requests of one connection, one after the other."""
        with client, suppress(OSError), socket.create_connection(self._behind) as server:
            answering = threading.Thread(target=pass_on, args=(server, client), daemon=True)
            answering.start()
            with client.makefile("rb") as requests:
                while (request := request_of(requests)) and self._is_admitted(client):
                    server.sendall(request)
            server.shutdown(socket.SHUT_RDWR)
            answering.join()

    def _is_admitted(self, client: socket.socket) -> bool:
        """Wait for that; false where the client has gone meanwhile."""
        with self._changed:
            self._changed.wait_for(lambda: self._open or self._admitted)
            if _has_gone(client):
                return False
            self._admitted -= not self._open
            return True


def request_of(stream: IO[bytes]) -> bytes:
    """The next request: its head, and a body of the length that the head has; empty where there is none."""
    lines = []
    while (line := stream.readline()) not in {b"", b"\r\n"}:
        lines.append(line)
    if not line:
        return b""
    length = next((int(line[15:]) for line in lines if line.lower().startswith(b"content-length:")), 0)
    return b"".join(lines) + b"\r\n" + stream.read(length)


def _has_gone(client: socket.socket) -> bool:
    """Whether the other end is closed; a client sends nothing before it has its answer."""
    try:
        return client.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def pass_on(source: socket.socket, target: socket.socket) -> None:
    """Pass on what comes until there is no more, or no reader."""
    with suppress(OSError):
        while piece := source.recv(_PIECE):
            target.sendall(piece)
        target.shutdown(socket.SHUT_RDWR)
