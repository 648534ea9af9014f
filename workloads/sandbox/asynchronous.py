"""Sandboxes for async code: each call runs in a thread of its own, so that the loop goes on."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, TypeVar

from workloads.sandbox.opening import open_sandbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from workloads.sandbox.base import CommandResult, Sandbox, SandboxSpec

MOST_OPEN: Final = 8
"""How many sandboxes of a pool are open at once where nothing else is said."""

_THREADS: Final = 2
"""Of a sandbox: one for its calls, which come one at a time, and one to close it meanwhile."""

_Result = TypeVar("_Result")


class AsyncSandbox:
    """The calls of `workloads.sandbox.base.Sandbox`, awaited.

    Args:
        sandbox: Where they run.
        threads: In which they wait.
    """

    def __init__(self, sandbox: Sandbox, threads: ThreadPoolExecutor) -> None:
        self._sandbox = sandbox
        self._threads = threads

    @property
    def isolation(self) -> str:
        """See `Sandbox.isolation`."""
        return self._sandbox.isolation

    async def exec(
        self, command: str | Sequence[str], timeout_s: float | None = None, stdin: bytes = b""
    ) -> CommandResult:
        """See `Sandbox.exec`."""
        return await self._call(lambda: self._sandbox.exec(command, timeout_s, stdin))

    async def put_files(self, files: Mapping[str, bytes]) -> None:
        """See `Sandbox.put_files`."""
        await self._call(lambda: self._sandbox.put_files(files))

    async def get_file(self, path: str) -> bytes:
        """See `Sandbox.get_file`."""
        return await self._call(lambda: self._sandbox.get_file(path))

    async def _call(self, call: Callable[[], _Result]) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)


class SandboxPool:
    """Sandboxes of one kind, of which a bounded number is open at once; each is new, and used once.

    Args:
        spec: What to open.
        most_open: The number; who asks for one more waits.
    """

    def __init__(self, spec: SandboxSpec, most_open: int = MOST_OPEN) -> None:
        self._spec = spec
        self._places = asyncio.Semaphore(most_open)

    @asynccontextmanager
    async def sandbox(self) -> AsyncIterator[AsyncSandbox]:
        """A sandbox for the length of a block.

        Raises:
            SandboxError: It cannot be opened.
        """
        async with self._places, async_sandbox(self._spec) as sandbox:
            yield sandbox


@asynccontextmanager
async def async_sandbox(spec: SandboxSpec) -> AsyncIterator[AsyncSandbox]:
    """Open a sandbox for the length of a block. Where the block is cancelled, so is the command that runs.

    Raises:
        SandboxError: It cannot be opened.
        ExtraError: The client of Docker is not installed.
    """
    loop, threads = asyncio.get_running_loop(), ThreadPoolExecutor(_THREADS, "sandbox")
    opening = loop.run_in_executor(threads, open_sandbox, spec)
    try:
        # Shielded: a sandbox that opens for a block that is cancelled has to be closed all the same.
        yield AsyncSandbox(await asyncio.shield(opening), threads)
    finally:
        closing = asyncio.ensure_future(_close(opening, threads))
        await asyncio.shield(closing)


async def _close(opening: asyncio.Future[Sandbox], threads: ThreadPoolExecutor) -> None:
    await asyncio.wait([opening])
    if opening.exception() is None:
        await asyncio.get_running_loop().run_in_executor(threads, opening.result().close)
    threads.shutdown(wait=False)
