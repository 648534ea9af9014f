"""Runs a program in a sandbox without a network, and relays HTTP requests; a copy runs in the sandbox.

Each call is a command of the sandbox, with JSON on standard input:

    python3 -I relay.py start    {"command", "environment", "port", "stdin"}; returns when the program runs
    python3 -I relay.py next     {"replies": [[number, status, content type, body, headers], …], "wait_s"}
    python3 -I relay.py stop     {}; kills the program, and what has not left its session

What `port` says stands for the server's port in the command and the variables. `next` prints

    {"requests": [[number, method, path, body], …], "ended": null or {"code", "stdout", "stderr"}}

as soon as there is a request, or the program has ended, or the time is over. What is longer than
`MOST_PRINTED` is written to a file next to this one, whose path is printed: {"file"}.

It imports the standard library of Python 3.8 alone, and little of it: each call starts an interpreter.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from http.server import ThreadingHTTPServer
    from typing import IO, Any

HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 (it imports little, to start at once)
SOCKET = os.path.join(HERE, "relay.socket")  # noqa: PTH118
MOST_PRINTED = 500_000
MOST_OUTPUT = 2**20
"""Bytes that are kept of each stream of the program."""
DRAIN_S = 1.0
"""How long output is awaited of those who hold a stream although the program has ended."""
NOT_STARTED = 127


class Relay:
    """The program's pending requests, and the ending of the program."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.requests: list[list[Any]] = []
        self.replies: dict[int, list[Any]] = {}
        self.ended: dict[str, Any] | None = None
        self.count = 0
        self.process = 0

    def reply_to(self, method: str, path: str, body: str) -> list[Any]:
        """Hand a request out; return the reply: status, content type, body, headers."""
        with self.changed:
            self.count += 1
            number = self.count
            self.requests.append([number, method, path, body])
            self.changed.notify_all()
            self.changed.wait_for(lambda: number in self.replies)
            return self.replies.pop(number)

    def end(self, ended: dict[str, Any]) -> None:
        """Learn how the program ended."""
        with self.changed:
            self.ended = ended
            self.changed.notify_all()

    def serve(self, message: dict[str, Any]) -> dict[str, Any]:
        """Accept replies; return the pending requests, now or after a while."""
        if "replies" not in message:
            if self.process and self.ended is None:
                os.killpg(self.process, signal.SIGKILL)
            return {}
        with self.changed:
            for number, *reply in message["replies"]:
                self.replies[number] = reply
            self.changed.notify_all()
            self.changed.wait_for(lambda: bool(self.requests or self.ended), message["wait_s"])
            requests, self.requests = self.requests, []
            return {"requests": requests, "ended": None if requests else self.ended}


def server_of(relay: Relay) -> ThreadingHTTPServer:
    """An HTTP server inside this sandbox, which feeds the relay."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class RelayHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, kind, text, headers = relay.reply_to(
                self.command, self.path, body.decode(errors="replace")
            )
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: Any) -> None:
            """Write no access log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), RelayHandler)
    server.daemon_threads = True
    return server


def run(relay: Relay, job: dict[str, Any], port: int) -> None:
    """Run the program to the end."""
    import subprocess

    filled = [word.replace(job["port"], str(port)) for word in job["command"]]
    variables = {name: value.replace(job["port"], str(port)) for name, value in job["environment"].items()}
    try:
        process = subprocess.Popen(  # noqa: S603 (what the sandbox is for)
            filled,
            env={**os.environ, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        relay.end({"code": NOT_STARTED, "stdout": "", "stderr": f"{filled[0]}: {error.strerror}"})
        return
    relay.process = process.pid
    written = [bytearray(), bytearray()]
    streams: list[tuple[Any, ...]] = [(process.stdout, written[0]), (process.stderr, written[1])]
    readers = [threading.Thread(target=keep, args=stream, daemon=True) for stream in streams]
    readers.append(threading.Thread(target=feed, args=(process.stdin, job["stdin"]), daemon=True))
    for reader in readers:
        reader.start()
    code = process.wait()
    for reader in readers:
        reader.join(DRAIN_S)
    output, errors = (bytes(part).decode(errors="replace") for part in written)
    relay.end({"code": 128 - code if code < 0 else code, "stdout": output, "stderr": errors})


def keep(stream: IO[bytes], beginning: bytearray) -> None:
    """Read a stream to the end, and keep the beginning."""
    while True:
        piece = os.read(stream.fileno(), 2**16)
        if not piece:
            return
        beginning += piece[: MOST_OUTPUT - len(beginning)]


def feed(stream: IO[bytes], text: str) -> None:
    """Write the task; a program need not read the task."""
    try:
        stream.write(text.encode())
        stream.close()
    except OSError:
        return


def start(job: dict[str, Any]) -> None:
    """Start the program and the relay in the background."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(SOCKET)
    listener.listen()
    if os.fork():
        return
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    relay = Relay()
    server = server_of(relay)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    threading.Thread(target=run, args=(relay, job, port), daemon=True).start()
    while True:
        connection, _ = listener.accept()
        with connection, connection.makefile("rwb") as stream:
            message = json.loads(stream.readline())
            stream.write(json.dumps(relay.serve(message)).encode() + b"\n")


def call(message: dict[str, Any]) -> None:
    """Send a message to the relay, and print the reply."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(SOCKET)
        with connection.makefile("rwb") as stream:
            stream.write(json.dumps(message).encode() + b"\n")
            stream.flush()
            text = stream.readline().decode()
    if len(text) > MOST_PRINTED:
        path = os.path.join(HERE, "next.json")  # noqa: PTH118
        with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(text)
        text = json.dumps({"file": path})
    sys.stdout.write(text)


if __name__ == "__main__":
    (start if sys.argv[1] == "start" else call)(json.loads(sys.stdin.read()))
