"""The delay of grpcio from the server's write of a stream's message to the client's receipt.

    pip install grpcio
    python -m benchmarks.grpc_stamps [--streams N] [--gap MS] [--messages N]

A process serves `ModelStreamInfer` of KServe v2 with messages of 68 bytes that begin with the time; a client
of `grpc.aio` reads N streams at once, as a transport over gRPC would.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

_SERVICE: Final = "inference.GRPCInferenceService"
_METHOD: Final = "ModelStreamInfer"
_PADDING: Final = bytes(60)
_STAMP: Final = 8
_MOST_STREAMS: Final = 256
_NS_PER_MS: Final = 1e6


def serve(gap_s: float, messages: int) -> None:
    """Serve until standard input ends; print the port."""
    grpc: Any = import_module("grpc")

    def stream(requests: Iterator[bytes], _: Any) -> Iterator[bytes]:
        for _request in requests:
            for _number in range(messages):
                time.sleep(gap_s)
                yield time.monotonic_ns().to_bytes(_STAMP) + _PADDING

    handler = grpc.stream_stream_rpc_method_handler(stream)
    server = grpc.server(ThreadPoolExecutor(_MOST_STREAMS))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, {_METHOD: handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.stop(None)


async def delays_ms(port: int, streams: int) -> list[float]:
    """The delays of all messages in ms, ascending."""
    grpc: Any = import_module("grpc.aio")
    delays: list[float] = []

    async def once() -> AsyncIterator[bytes]:
        yield b"begin"

    async def read(call: Any) -> None:
        stamps = (int.from_bytes(message[:_STAMP]) async for message in call(once()))
        delays.extend([(time.monotonic_ns() - stamp) / _NS_PER_MS async for stamp in stamps])

    async with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        call = channel.stream_stream(f"/{_SERVICE}/{_METHOD}")
        await asyncio.gather(*(read(call) for _ in range(streams)))
    return sorted(delays)


def main() -> None:
    """Measure, and print percentiles."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--streams", type=int, default=16)
    parser.add_argument("--gap", type=float, default=10.0)
    parser.add_argument("--messages", type=int, default=60)
    parser.add_argument("--serve", action="store_true")
    chosen = parser.parse_args()
    if chosen.serve:
        serve(chosen.gap / 1e3, chosen.messages)
        return
    options = ["--serve", "--gap", str(chosen.gap), "--messages", str(chosen.messages)]
    command = [sys.executable, "-m", "benchmarks.grpc_stamps", *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None  # noqa: S101 (asked for)
        assert server.stdout is not None  # noqa: S101 (asked for)
        delays = asyncio.run(delays_ms(int(server.stdout.readline()), chosen.streams))
        server.stdin.close()
    shown = ", ".join(f"p{p} {delays[len(delays) * p // 100]:.3f}" for p in (50, 90, 99))
    sys.stdout.write(f"{chosen.streams} streams, {len(delays)} messages: {shown}, max {delays[-1]:.3f} ms\n")


if __name__ == "__main__":
    main()
