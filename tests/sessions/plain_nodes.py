"""Nodes as plain processes, talked to over TCP: what Ray does, without Ray.

    python -m tests.sessions.plain_nodes HOST SERVICE

serves a `Node` or a `GradingNode` until its one client has gone; the first line that it prints is its port.
Messages are pickles behind their length. It is a forked process (`tests.forking`) where nothing is put before
that command.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import struct
import subprocess
import sys
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from loadgen.driver.errors import NodeGoneError
from loadgen.plugins.ray.grading_on_nodes import GradingNode
from loadgen.plugins.ray.node import Node
from loadgen.plugins.ray.node_facts import machine_facts
from recorder.shards import node_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).parents[2]

_LENGTH = struct.Struct("<I")


async def _read(reader: asyncio.StreamReader) -> Any:
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    return pickle.loads(await reader.readexactly(length))  # noqa: S301 (from a child process)


def _write(writer: asyncio.StreamWriter, message: Any) -> None:
    payload = pickle.dumps(message)
    writer.write(_LENGTH.pack(len(payload)) + payload)


async def _serve(host: str, service: str) -> None:
    node: Node | GradingNode = Node() if service == "Node" else GradingNode()
    over, tasks = asyncio.Event(), set()

    async def answer(writer: asyncio.StreamWriter, number: int, method: str, values: Sequence[Any]) -> None:
        try:
            _write(writer, (number, True, await getattr(node, method)(*values)))
        except Exception as error:  # noqa: BLE001 (raised again by who called)
            _write(writer, (number, False, error))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                tasks.add(asyncio.create_task(answer(writer, *await _read(reader))))
        over.set()

    server = await asyncio.start_server(serve, host, 0)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201 (its protocol)
    await over.wait()


class Delay(Protocol):
    """A slow network."""

    async def __call__(self, *, is_sent: bool) -> None:
        """Return after the time that one way takes."""


class PlainLink:
    """The way to a node that is a child process; see `loadgen.plugins.ray.node_links.NodeLink`.

    Args:
        name: The node's name.
        prefix: What the command of the node begins with, such as `unshare`; with one it is not forked.
        host: The node's address.
        delay: The network.
        service: What it serves.
    """

    def __init__(
        self,
        name: str,
        prefix: Sequence[str] = (),
        host: str = "127.0.0.1",
        delay: Delay | None = None,
        service: str = "Node",
    ) -> None:
        self.name = name
        self.host = host
        self._delay = delay
        command = [*prefix, sys.executable, "-P", "-m", __name__, host, service]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._writer: asyncio.StreamWriter | None = None
        self._connecting = asyncio.Lock()
        self._reading: asyncio.Task[None] | None = None

    async def call(self, method: str, *values: Any) -> Any:
        """Call a method of the node, and return what it returns."""
        async with self._connecting:
            if self._reading is None:
                await self._connect()
        if self._writer is None or self._reading is None or self._reading.done():
            raise NodeGoneError("its connection is closed")
        number, answer = len(self._asked), asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        if self._delay is not None:
            await self._delay(is_sent=True)
        _write(self._writer, (number, method, values))
        return await answer

    async def _connect(self) -> None:
        assert self.process.stdout is not None
        port = int(await asyncio.to_thread(self.process.stdout.readline))
        reader, self._writer = await asyncio.open_connection(self.host, port)
        self._reading = asyncio.create_task(self._listen(reader, self._writer))

    async def _listen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                number, is_result, value = await _read(reader)
                if self._delay is not None:
                    await self._delay(is_sent=False)
                answer = self._asked[number]
                if not answer.done():
                    answer.set_result(value) if is_result else answer.set_exception(value)
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(NodeGoneError("its connection was closed"))

    def kill(self) -> None:
        """End the node as it is."""
        self.process.kill()

    def close(self) -> None:
        """End the node, which was perhaps stopped, and let go of it."""
        if self._writer is not None and self._reading is not None and not self._reading.done():
            self._writer.close()
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.communicate()


class PlainNodes:
    """Nodes as plain processes; see `loadgen.plugins.ray.node_links.StartedNodes`. In a running event loop.

    Args:
        number: How many there are.
        prefixes: What the commands of some nodes begin with, by their numbers.
        service: What they serve.
        first: The number of the first.
    """

    def __init__(
        self,
        number: int,
        prefixes: Mapping[int, Sequence[str]] | None = None,
        service: str = "Node",
        first: int = 0,
    ) -> None:
        self._started = ExitStack()
        self._prefixes = {node_name(place): prefix for place, prefix in (prefixes or {}).items()}
        self.links = [
            self._start(PlainLink(name, self._prefixes.get(name, ()), service=service))
            for name in map(node_name, range(first, first + number))
        ]
        facts = machine_facts()
        self.facts: Sequence[Mapping[str, Any]] = [{"shard": link.name, **facts} for link in self.links]

    def _start(self, link: PlainLink) -> PlainLink:
        self._started.callback(link.close)
        return link

    def shared(self, value: Any) -> Any:
        """A value, as it is."""
        return value

    async def again(self, name: str) -> PlainLink:
        """Start another node on the machine of one that was lost."""
        return self._start(PlainLink(name, self._prefixes.get(name, ())))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._started.close()


class PlainCluster(PlainNodes):
    """Two nodes as plain processes, in place of `loadgen.plugins.ray.ray_nodes.RayNodes`."""

    def __init__(self, address: str, number: int | None, service: type[Any], first: int = 0) -> None:
        del address
        super().__init__(number or 2, service=service.__name__, first=first)

    def start(self, cpus: int | None) -> None:
        """Do nothing: they are started."""


if __name__ == "__main__":
    asyncio.run(_serve(*sys.argv[1:]))
