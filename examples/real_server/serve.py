"""Serve a model folder with `transformers serve` while a command runs, or until Ctrl-C.

    python serve.py FOLDER [--port PORT] [--log FILE] [-- COMMAND ...]

In the command, the word `{url}` stands for the server's address and `{model}` for the name that it knows the
model by. The exit code is the command's. The server runs offline and reports nothing to anybody.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

READY_S = 120.0
STOP_S = 30.0
BIN = Path(sys.executable).parent
# Requests share the model (continuous batching); the two limits keep its memory small.
OPTIONS = (
    *("--device", "cpu", "--host", "127.0.0.1"),
    *("--continuous-batching", "--cb-num-blocks", "256", "--cb-max-batch-tokens", "512"),
)
# FastAPI measures its requests itself as soon as an exporter takes the figures; these go to the log.
TRACER = ("--traces_exporter", "console", "--metrics_exporter", "none", "--logs_exporter", "none")


def main() -> int:
    """Start, wait, run, stop."""
    own, command = split_command(sys.argv[1:])
    options = arguments(own)
    if not (options.folder / "config.json").is_file():
        sys.exit(
            f"{options.folder}: not a model's folder; make one with `python make_model.py {options.folder}`"
        )
    port = free_port(options.port)
    url = f"http://127.0.0.1:{port}"
    with server(options.folder.resolve(), port, options.log) as process:
        wait_until_ready(url, process, options.log)
        if command:
            values = {"{url}": url, "{model}": options.folder.name}
            return run([values.get(word, word) for word in command])
        print(f"{options.folder.name} is served at {url}; log: {options.log}; Ctrl-C ends it", flush=True)
        with suppress(KeyboardInterrupt):
            return process.wait()
    return 0


def split_command(words: list[str]) -> tuple[list[str], list[str]]:
    """Split the command line at its first `--`."""
    place = words.index("--") if "--" in words else len(words)
    return words[:place], words[place + 1 :]


def arguments(words: list[str]) -> argparse.Namespace:
    """Read what stands before the command."""
    parser = argparse.ArgumentParser(
        usage="%(prog)s FOLDER [--port PORT] [--log FILE] [-- COMMAND ...]",
        description="Serve a model folder while a command runs, or until Ctrl-C.",
    )
    parser.add_argument("folder", type=Path, help="made by make_model.py")
    parser.add_argument("--port", type=int, default=0, help="default: one that is free")
    parser.add_argument("--log", type=Path, default=Path("server.log"), help="default: %(default)s")
    return parser.parse_args(words)


def free_port(wanted: int) -> int:
    """Make sure that no process uses the port; for 0, have the system choose one."""
    try:
        with socket.create_server(("127.0.0.1", wanted)) as probe:
            return int(probe.getsockname()[1])
    except OSError as error:
        sys.exit(f"port {wanted} cannot be used ({error.strerror}); leave --port out to have one chosen")


def run(command: list[str]) -> int:
    """Run the command to its end; Ctrl-C is for the command, and the server outlives it."""
    child = subprocess.Popen(command)  # noqa: S603 (the user's own command)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return child.wait()
    finally:
        child.terminate()


@contextmanager
def server(folder: Path, port: int, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the server; stop it in order however the block ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    command = [f"{BIN}/opentelemetry-instrument", *TRACER]
    command += [f"{BIN}/transformers", "serve", folder.name, *OPTIONS, "--port", str(port)]
    with log.open("wb") as sink:
        process = subprocess.Popen(  # noqa: S603 (built above)
            command,
            cwd=folder.parent,
            env=environment(folder),
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that Ctrl-C does not reach it
        )
        try:
            yield process
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_S)
            process.kill()


def environment(folder: Path) -> dict[str, str]:
    """Make the server's environment."""
    home = folder.parent / "huggingface"
    (home / "hub").mkdir(parents=True, exist_ok=True)  # without it `GET /v1/models` answers with an error
    return {
        **os.environ,
        "HF_HOME": str(home),
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "OMP_NUM_THREADS": "1",  # leaves a core to the load generator
        "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "1",  # log figures at once: the server's exit would lose them
    }


def wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when the server answers; end the program when it does not come up."""
    give_up_at = time.monotonic() + READY_S
    while time.monotonic() < give_up_at and process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(f"{url}/health", timeout=5):  # noqa: S310 (our own http URL)
            return
        time.sleep(0.1)
    sys.exit(f"the server did not come up; the end of {log}:\n{log.read_text()[-2000:]}")


if __name__ == "__main__":
    sys.exit(main())
