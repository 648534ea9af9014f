"""A server that reads requests at a limited rate, and prints when it had their last bytes.

    python -m loadgen.plugins.selftest.slow_server BYTES_PER_SECOND [CERTIFICATE]

The certificate, for TLS, is a PEM file with its private key. The first line is the base URL; each further
line is the JSON object of a chat request: `id`, `bytes`, and `read_ns`, `answered_ns` in ns of
CLOCK_MONOTONIC. The server ends with standard input.
"""

from __future__ import annotations

import socket
import ssl
import sys
import time
from threading import Thread
from typing import Any, Final

import orjson

RECEIVE_BUFFER: Final = 16 * 1024
"""The receive buffer of a connection: a small one keeps an upload close to what the server has read."""

TTFT_S: Final = 0.02

_READ: Final = 16 * 1024
_NAP_S: Final = 0.0002
_CHOICE: Final = {"choices": [{"index": 0, "delta": {"content": "seen"}, "finish_reason": None}]}
_END: Final = {
    "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}
_STREAM: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def main(rate: float, certificate: str = "") -> None:
    """Serve until standard input ends; with a certificate over TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if certificate else None
    if context is not None:
        context.load_cert_chain(certificate)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    scheme = "http" if context is None else "https"
    _write(f"{scheme}://127.0.0.1:{listener.getsockname()[1]}/v1")
    Thread(target=_accept, args=(listener, rate, context), daemon=True).start()
    sys.stdin.read()


def _accept(listener: socket.socket, rate: float, context: ssl.SSLContext | None) -> None:
    while True:
        client, _ = listener.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        Thread(target=_serve, args=(client, rate, context), daemon=True).start()


def _serve(client: socket.socket, rate: float, context: ssl.SSLContext | None) -> None:
    client = client if context is None else context.wrap_socket(client, server_side=True)
    received = b""
    while chunk := client.recv(_READ):
        received += chunk
        if b"\r\n\r\n" not in received:
            continue
        head, _, start = received.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        size = int(fields.get(b"content-length", 0))
        if not _read(client, size, len(start), rate):
            return
        read_ns, received = time.monotonic_ns(), b""
        if not size:
            client.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            continue
        time.sleep(TTFT_S)
        answered_ns = time.monotonic_ns()
        client.sendall(_STREAM + _chunk(_CHOICE))
        client.sendall(_chunk(_END) + b"0\r\n\r\n")
        record = {"id": fields[b"x-request-id"].decode(), "bytes": size, "read_ns": read_ns}
        _write(orjson.dumps({**record, "answered_ns": answered_ns}).decode())


def _read(client: socket.socket, size: int, count: int, rate: float) -> bool:
    """Read the rest of a body; whether all of it came."""
    begun = time.monotonic()
    while count < size:
        if (early_s := count / rate - (time.monotonic() - begun)) > _NAP_S:
            time.sleep(early_s)
        chunk = client.recv(min(_READ, size - count))
        if not chunk:
            return False
        count += len(chunk)
    return True


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _chunk(event: dict[str, Any]) -> bytes:
    data = b"data: %b\n\n" % orjson.dumps(event)
    return b"%x\r\n%b\r\n" % (len(data), data)


if __name__ == "__main__":
    main(float(sys.argv[1]), *sys.argv[2:])
