"""How long a user waits: for `loadgen --help`, and for the first request on the wire.

Help is held against the least that such a program costs, `python -c "import typer, rich"`, in turn; the
first request is timed by the server that it reaches, from the moment at which the process is started.
"""

from __future__ import annotations

import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 15
PROGRAM = [str(Path(sys.executable).with_name("loadgen"))]
FLOOR = [sys.executable, "-c", "import typer, rich"]
REPLY = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 45\r\n\r\n"
    b'{"object":"list","data":[{"id":"a","x":  0}]}'
)


def seconds(command: list[str]) -> float:
    """How long a command takes."""
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def posted(server: socket.socket) -> bool:
    """Answer the requests of the next connection until one is a POST; tell whether one was."""
    connection, _ = server.accept()
    with connection:
        while request := connection.recv(65536):
            if request.startswith(b"POST"):
                return True
            connection.sendall(REPLY)
    return False


def first_post() -> float:
    """From the start of `loadgen perf` to the first byte of its first measured request."""
    with socket.create_server(("127.0.0.1", 0)) as server, tempfile.TemporaryDirectory() as folder:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        started = time.perf_counter()
        process = subprocess.Popen(
            [
                *PROGRAM,
                "perf",
                "--url",
                url,
                "--model",
                "a",
                "-c",
                "1",
                "-n",
                "1",
                "-q",
                "--out",
                folder + "/run",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not posted(server):
            pass
        took = time.perf_counter() - started
        process.kill()
        process.wait()
    return took


def main() -> None:
    """Print the table."""
    seconds([*PROGRAM, "--help"])
    seconds(FLOOR)
    rounds = [(seconds([*PROGRAM, "--help"]), seconds(FLOOR)) for _ in range(ROUNDS)]
    help_s, floor_s = (statistics.median(column) for column in zip(*rounds, strict=True))
    ratio = statistics.median(a / b for a, b in rounds)
    print(f"loadgen --help                 {help_s * 1e3:7.0f} ms")
    print(f"import typer, rich             {floor_s * 1e3:7.0f} ms")
    print(f"ratio, median of {ROUNDS} rounds    {ratio:7.2f}     required: 3 at most")
    posts = [first_post() for _ in range(ROUNDS)]
    print(
        f"first request on the wire      {statistics.median(posts) * 1e3:7.0f} ms  required: less than 1,000"
    )


main()
