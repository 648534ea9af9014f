"""The life of a worker process: executes the parent's commands, sends events, and ends with the parent.

    python -m loadgen.driver.workers.worker_process SOCKET TURNSTILE TRANSPORT

It is born with the signals blocked that a terminal sends to everybody: the parent says what they mean. Both
numbers are of inherited file descriptors; 0 stands for no counter.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver import own_health
from loadgen.driver.client.arrival import StampingSocket
from loadgen.driver.client.memory_bounds import SMALL_BYTES, Allowance
from loadgen.driver.client.protocols import codec_of
from loadgen.driver.client.transport import load_transport
from loadgen.driver.issuing import Issuer
from loadgen.driver.phase import Phase, Shard
from loadgen.driver.requests.attempt import Retries
from loadgen.driver.requests.turn import RequestRunner
from loadgen.driver.system.clock import system_clock
from loadgen.driver.system.memory import calm, copy_shared_pages, return_free_memory
from loadgen.driver.workers.framing import (
    READ_BYTES,
    Command,
    FrameReader,
    GiveUp,
    WorkerConfig,
    WorkerMessage,
    commanded,
)
from loadgen.driver.workers.shared_counter import SharedCounter
from loadgen.driver.workers.shipping import Shipper
from workloads.registry import service

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from loadgen.driver.plan import Plan
    from loadgen.driver.requests.request_source import RequestSource
    from loadgen.driver.requests.session_headers import SessionHeaders
    from loadgen.driver.session_kind import SessionHost

COMPLETENESS_INTERVAL_S: Final = 0.04
"""How often a worker tells until when all that has ended is among its events."""

PROGRESS_EVERY: Final = 2
"""The completeness messages per message that has progress: an error budget is spent so much late at most."""


def main(fd: int, counter_fd: int, transport: str) -> None:
    """Run a worker until the parent closes the connection or dies: then this process ends at once."""
    with StampingSocket() as first:
        # The kernel begins to stamp a moment after a first socket asks: before there are requests.
        first.stamp_arrivals()
        _work(fd, counter_fd, transport)


def _work(fd: int, counter_fd: int, transport: str) -> None:
    """Execute the parent's commands."""
    sock, frames = socket.socket(fileno=fd), FrameReader()
    counter = SharedCounter(counter_fd) if counter_fd else None
    # What takes time is done before the parent has anything to say.
    make_transport = load_transport(transport)
    calm()
    payloads = _first_payloads(sock, frames)
    config: WorkerConfig = commanded(payloads.pop(0))
    host = None if config.plan.session_kind is None else config.plan.session_kind.host()
    source, config = config.request_source(), replace(config, questions=())
    return_free_memory()
    if host is not None:
        copy_shared_pages()
    sock.settimeout(0)
    worker = Worker(sock, frames, config, source, make_transport, counter, host)
    try:
        asyncio.run(worker.run(payloads))
    except Exception as crash:  # noqa: BLE001 (a traceback could quote a secret)
        sys.exit(config.redact(_crash_text(crash)))


def _first_payloads(sock: socket.socket, frames: FrameReader) -> list[memoryview]:
    """Wait for the parent's first word."""
    payloads: list[memoryview] = []
    while not payloads:
        payloads += frames.feed(_read(sock))
    return payloads


def _read(sock: socket.socket) -> bytes:
    """The parent's data. On a closed connection the process exits without cleanup."""
    try:
        data = sock.recv(READ_BYTES)
    except BlockingIOError:
        return b""
    except OSError:
        data = b""
    if not data:
        os._exit(0)
    return data


class Worker:
    """Executes the parent's commands."""

    def __init__(
        self,
        sock: socket.socket,
        frames: FrameReader,
        config: WorkerConfig,
        source: RequestSource,
        make_transport: Callable[..., Any],
        counter: SharedCounter | None,
        host: SessionHost | None,
    ) -> None:
        self._host = host
        self._sock = sock
        self._frames = frames
        self._config = config
        self._request_source = source
        self._make_transport = make_transport
        self._claim = counter.claim if counter else None
        self._tasks: set[asyncio.Task[None]] = set()
        self._watching: list[asyncio.Task[None]] = []

    async def run(self, payloads: list[memoryview]) -> None:
        """Work until this process ends."""
        config, plan = self._config, self._config.plan
        self._transports = [self._make_transport(endpoint, plan.timeouts) for endpoint in config.endpoints]
        sources = [source for each in self._transports if (source := getattr(each, "plain_rows", None))]
        self._shipper = Shipper(self._sock, config.bounds, sources)
        codec = codec_of(plan.protocol, plan.protocol_options)
        self._retries = Retries(plan.retries, plan.timeouts.timeout_s, f"{plan.seed}/{config.share.worker}")
        kinds = [service(f"{name}_runner")(value, plan) for name, value in plan.runner_options.items()]
        runner_type = type("Runner", (*kinds, RequestRunner), {}) if kinds else RequestRunner
        self._runner = runner = runner_type(
            *(self._transports[0], codec, plan.generation, self._shipper.put),
            further=self._transports[1:],
            trace_context=plan.trace_context,
            session_headers=_session_headers(plan),
            retries=self._retries,
            allowance=Allowance(
                plan.max_response_bytes, config.bounds.responses_bytes, lambda: self._shipper.waiting_bytes
            ),
            ship=self._shipper.ship,
            follows_plain=plan.max_response_bytes >= SMALL_BYTES,
        )
        self._issuer = Issuer(
            *(plan, self._request_source, runner, system_clock(), config.share),
            claim=self._claim if config.share.workers > config.node.workers else None,
            room=self._shipper,
            host=self._host,
            node=config.node,
        )
        asyncio.get_running_loop().add_reader(self._sock, self._on_readable)
        self._spawn(self._begin(payloads))
        await asyncio.Event().wait()

    async def _begin_host(self, host: SessionHost) -> None:
        from loadgen.driver.session_kind import HostingWorker

        config = self._config
        facts = self._request_source.samples, config.plan.generation.model, config.redact
        does = self._make_transport, self._shipper.put, self._runner.prepare
        await host.begin(HostingWorker(*facts, *does))

    def _on_readable(self) -> None:
        self._heed(self._frames.feed(_read(self._sock)))

    def _heed(self, payloads: Any) -> None:
        for payload in payloads:
            match commanded(payload):
                case Phase() as phase:
                    # What is said next, perhaps in the same breath, is about this phase.
                    self._spawn(self._issue(self._issuer.issue(phase)))
                case Command.EXHAUSTED:
                    self._issuer.exhausted()
                case Command.SETTLE:
                    self._spawn(self._settle())
                case Command.STOP:
                    self._issuer.stop()
                    self._retries.stop()
                case GiveUp(reason):
                    self._issuer.abort(reason)
                case Command.END:
                    self._spawn(self._end())

    async def _begin(self, payloads: list[memoryview]) -> None:
        if self._host is not None:
            await self._begin_host(self._host)
        for number, transport in enumerate(self._transports):
            if ahead := Shard(number, len(self._transports)).of(self._config.connect_ahead):
                await transport.open_ahead(ahead)
        self._shipper.tell(WorkerMessage.READY)
        self._heed(payloads)

    async def _issue(self, issuing: Coroutine[Any, Any, int]) -> None:
        if not self._watching:
            # Only now does the parent write a log.
            self._watching.append(asyncio.create_task(own_health.watch(self._shipper.put, self._more_health)))
            self._watching.append(asyncio.create_task(self._tell_completeness()))
        self._shipper.tell(WorkerMessage.ISSUED, await issuing)

    async def _settle(self) -> None:
        await self._issuer.settle()
        until_ns = await self._runner.caught_up()
        self._shipper.tell(WorkerMessage.UNTIL, until_ns, self._issuer.progress.snapshot())
        self._shipper.tell(WorkerMessage.SETTLED)

    async def _end(self) -> None:
        """Send the last message; the parent closes the connection after reading."""
        for task in self._watching:
            task.cancel()
        await asyncio.gather(*self._watching, return_exceptions=True)
        self._shipper.ship()
        for transport in self._transports:
            await transport.close()
        if self._host is not None:
            await self._host.close()
        self._shipper.tell(WorkerMessage.ENDED)

    async def _tell_completeness(self) -> None:
        for number in count(1):
            await asyncio.sleep(COMPLETENESS_INTERVAL_S)
            until_ns = await self._runner.caught_up()
            progress = None if number % PROGRESS_EVERY else self._issuer.progress.snapshot()
            self._shipper.tell(WorkerMessage.UNTIL, until_ns, progress)

    def _more_health(self) -> dict[str, Any]:
        return {
            "worker": self._config.share.worker,
            "in_flight": self._issuer.progress.in_flight,
            **self._shipper.reading(),
        }

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (crash := task.exception()) is not None:
            self._shipper.tell(WorkerMessage.CRASHED, self._config.redact(_crash_text(crash)))


def _session_headers(plan: Plan) -> SessionHeaders | None:
    if not plan.session_headers:
        return None
    from loadgen.driver.requests.session_headers import SessionHeaders

    return SessionHeaders(plan.session_headers)


def _crash_text(crash: BaseException) -> str:
    """An unexpected exception in one line: message and place."""
    trace = crash.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f", line {trace.tb_lineno} of {trace.tb_frame.f_code.co_filename}" if trace else ""
    return f"{type(crash).__name__}: {crash}{where}"


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
