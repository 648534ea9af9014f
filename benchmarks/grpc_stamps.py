"""What the stamps of a client of gRPC are worth: the delay from the server's stamp to the client's, and CPU.

    pip install grpcio
    python -m benchmarks.grpc_stamps [--streams N] [--gap MS] [--messages N] [--rounds N]

A process serves `ModelStreamInfer` of KServe v2 by grpcio, with the time as the text of each message. Clients
of `--protocol triton-grpc` and of `grpc.aio` take turns to read N streams at once. The delay has the server's
share, from its stamp to its write, for both; the CPU time is the client's, with parsing, per message.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.codec import Generation
from loadgen.driver.client.endpoint import Request, endpoint
from loadgen.driver.client.exchange import Exchange
from loadgen.driver.client.frame_cache import Shapes
from loadgen.driver.client.http_transport import HttpTransport
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.requests.attempt import attempt_request
from loadgen.plugins.kserve.infer import TritonGrpc
from loadgen.plugins.kserve.messages import SERVICE, STREAM, message
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator

    Read = Callable[[int, int], Coroutine[Any, Any, list[float]]]

_DIGITS: Final = 20
_MOST_STREAMS: Final = 256
_NS_PER_MS: Final = 1e6
_CODEC: Final = TritonGrpc()
_REQUEST: Final = _CODEC.request(Sample(0, "begin"), Generation("stamps"))


def serve(gap_s: float, messages: int) -> None:
    """Serve until standard input ends; print the port."""
    grpc: Any = import_module("grpc")
    response = message("ModelInferResponse")()
    response.outputs.add(name="text_output", datatype="BYTES", shape=[1])
    plain = response.SerializeToString()

    def stream(requests: Iterator[bytes], _: Any) -> Iterator[bytes]:
        for _request in requests:
            own = message("ModelInferResponse").FromString(plain)
            for _number in range(messages):
                time.sleep(gap_s)
                text = b"%0*d" % (_DIGITS, time.monotonic_ns())
                own.raw_output_contents[:] = [_DIGITS.to_bytes(4, "little") + text]
                part = message("ModelStreamInferResponse")(infer_response=own.SerializeToString())
                yield part.SerializeToString()

    handler = grpc.stream_stream_rpc_method_handler(stream)
    server = grpc.server(ThreadPoolExecutor(_MOST_STREAMS))
    service = SERVICE.strip("/")
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {STREAM: handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.stop(None)


async def by_grpcio(port: int, streams: int) -> list[float]:
    """The delays of all messages in ms, read by grpcio."""
    grpc: Any = import_module("grpc.aio")
    delays: list[float] = []

    async def once() -> AsyncIterator[bytes]:
        yield _REQUEST

    async def read(call: Any) -> None:
        async for data in call(once()):
            now_ns = time.monotonic_ns()
            part = message("ModelStreamInferResponse").FromString(data)
            (raw,) = message("ModelInferResponse").FromString(part.infer_response).raw_output_contents
            delays.append((now_ns - int(raw[4:])) / _NS_PER_MS)

    async with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        call = channel.stream_stream(f"{SERVICE}{STREAM}")
        await asyncio.gather(*(read(call) for _ in range(streams)))
    return delays


async def by_loadgen(port: int, streams: int) -> list[float]:
    """The delays of all messages in ms, read over the measured transport."""
    target = endpoint(f"grpc://127.0.0.1:{port}", {}, rooted=True, scheme="grpc")
    transport, shapes = HttpTransport(target, Timeouts()), Shapes(_CODEC)

    async def read(number: int) -> list[float]:
        stream = ResponseStream(_CODEC, shapes=shapes)
        exchange = Exchange(stream, on_sent=lambda _: None, on_first_token=lambda _: None)
        request = Request("POST", _CODEC.path, f"{number}", _REQUEST, content_type=_CODEC.content_type)
        if (failed := await attempt_request(transport, request, exchange)) is not None:
            raise failed
        text, arrivals = "".join(stream.answer.content), stream.answer.token_ns
        stamps = (int(text[place : place + _DIGITS]) for place in range(0, len(text), _DIGITS))
        return [(at_ns - stamp) / _NS_PER_MS for at_ns, stamp in zip(arrivals, stamps, strict=True)]

    try:
        of_streams = await asyncio.gather(*map(read, range(streams)))
    finally:
        await transport.close()
    return [delay for delays in of_streams for delay in delays]


def main() -> None:
    """Measure, and print percentiles."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--streams", type=int, default=16)
    parser.add_argument("--gap", type=float, default=10.0)
    parser.add_argument("--messages", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", action="store_true")
    chosen = parser.parse_args()
    if chosen.serve:
        serve(chosen.gap / 1e3, chosen.messages)
        return
    options = ["--serve", "--gap", str(chosen.gap), "--messages", str(chosen.messages)]
    command = [sys.executable, "-m", "benchmarks.grpc_stamps", *options]
    clients: dict[str, Read] = {"loadgen": by_loadgen, "grpcio": by_grpcio}
    delays: dict[str, list[float]] = {name: [] for name in clients}
    cpu_us: dict[str, list[float]] = {name: [] for name in clients}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None  # noqa: S101 (asked for)
        assert server.stdout is not None  # noqa: S101 (asked for)
        port = int(server.stdout.readline())
        for _ in range(chosen.rounds):
            for name, read in clients.items():
                began_s = time.process_time()
                of_round = asyncio.run(read(port, chosen.streams))
                cpu_us[name].append((time.process_time() - began_s) * 1e6 / len(of_round))
                delays[name] += of_round
        server.stdin.close()
    for name, measured in delays.items():
        measured.sort()
        shown = ", ".join(f"p{p} {measured[len(measured) * p // 100]:.3f}" for p in (50, 90, 99))
        print(
            f"{name}: {len(measured)} messages: {shown}, max {measured[-1]:.3f} ms; "
            f"{median(cpu_us[name]):.0f} us of CPU a message"
        )


if __name__ == "__main__":
    main()
