"""How long a user waits: for `loadgen --help`, and for the first request on the wire.

Help is compared with the least that such a program costs, `python -c "import typer, rich"`, in turn; the
first request is timed by the server that it reaches, from the moment at which the process is started.
"""

from __future__ import annotations

import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from cores import on_core

ROUNDS = 15
PATIENCE_S = 30.0
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


def await_post(server: socket.socket) -> None:
    """Answer requests, on however many connections, until one is a POST.

    Raises:
        TimeoutError: Nothing comes any more.
    """
    with selectors.DefaultSelector() as ready:
        ready.register(server, selectors.EVENT_READ)
        while events := ready.select(PATIENCE_S):
            for key, _ in events:
                if key.fileobj is server:
                    ready.register(server.accept()[0], selectors.EVENT_READ)
                elif answered(key.fileobj, ready):
                    return
    raise TimeoutError("`loadgen perf` has sent no request")


def answered(connection: Any, ready: selectors.BaseSelector) -> bool:
    """Answer what has come on a connection; tell whether it was a POST."""
    request = connection.recv(65536)
    if request and not request.startswith(b"POST"):
        connection.sendall(REPLY)
        return False
    ready.unregister(connection)
    connection.close()
    return bool(request)


def first_post(core: int | None = None) -> float:
    """From the start of `loadgen perf` to the first byte of its first measured request, in s.

    Args:
        core: Where `loadgen perf` is to run; None for anywhere.
    """
    with socket.create_server(("127.0.0.1", 0)) as server, tempfile.TemporaryDirectory() as folder:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        options = ["--url", url, "--model", "a", "-c", "1", "-n", "1", "-q", "--out", folder + "/run"]
        with on_core(core):
            started = time.perf_counter()
            process = subprocess.Popen(
                [*PROGRAM, "perf", *options],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        await_post(server)
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
    print(f"first request on the wire      {statistics.median(posts) * 1e3:7.0f} ms  required: 500 at most")


if __name__ == "__main__":
    main()
