"""Opens sandboxes of either kind, for plain code and for async code.

Each async call runs in a thread, so that the event loop continues.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final, TypeVar

from workloads.sandbox_contract import SandboxError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from workloads.open_sandbox import CommandResult, Sandbox
    from workloads.sandbox_contract import SandboxSpec

MOST_OPEN: Final = 32
"""How many sandboxes of a pool are open at once where nothing else is said."""

_NOT_ALLOWED: Final = (
    "the episode has no sandbox: commands of a model are run with --allow-code-execution only"
)
_Result = TypeVar("_Result")


def open_sandbox(spec: SandboxSpec) -> Sandbox:
    """Open a sandbox, closed by `close` or at the end of a `with` block.

    Raises:
        SandboxError: It cannot be opened: the message says what to do.
        ExtraError: The client of Docker is not installed.
    """
    if spec.kind == "docker":
        from loadgen.plugins.sandbox.container import DockerSandbox

        return DockerSandbox(spec)
    from loadgen.plugins.sandbox.local_commands import LocalSandbox

    return LocalSandbox(spec)


class AsyncCalls(ABC):
    """The calls of `workloads.open_sandbox.Sandbox`, awaited: one comes after the other."""

    async def exec(
        self, command: str | Sequence[str], timeout_s: float | None = None, stdin: bytes = b""
    ) -> CommandResult:
        """See `Sandbox.exec`."""
        return await self.call(lambda sandbox: sandbox.exec(command, timeout_s, stdin))

    async def put_files(self, files: Mapping[str, bytes]) -> None:
        """See `Sandbox.put_files`."""
        await self.call(lambda sandbox: sandbox.put_files(files))

    async def get_file(self, path: str) -> bytes:
        """See `Sandbox.get_file`."""
        return await self.call(lambda sandbox: sandbox.get_file(path))

    @abstractmethod
    async def call(self, function: Callable[[Sandbox], _Result]) -> _Result:
        """Call a function with the sandbox, in the sandbox's thread."""


class AsyncSandbox(AsyncCalls):
    """An open sandbox."""

    def __init__(self, sandbox: Sandbox, thread: ThreadPoolExecutor) -> None:
        self._sandbox = sandbox
        self._thread = thread

    @property
    def isolation(self) -> str:
        """See `Sandbox.isolation`."""
        return self._sandbox.isolation

    async def call(self, function: Callable[[Sandbox], _Result]) -> _Result:
        """See `AsyncCalls.call`."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, self._sandbox)


class SandboxOnDemand(AsyncCalls):
    """A sandbox that opens at the first call, if any.

    Args:
        spec: What to open; None where none may be, which each call says.
    """

    def __init__(self, pool: SandboxPool, spec: SandboxSpec | None, stack: AsyncExitStack) -> None:
        self._pool = pool
        self._spec = spec
        self._stack = stack
        self._opening = asyncio.Lock()
        self._sandbox: AsyncSandbox | None = None

    async def call(self, function: Callable[[Sandbox], _Result]) -> _Result:
        """See `AsyncCalls.call`."""
        return await (await self.open()).call(function)

    async def open(self) -> AsyncSandbox:
        """Open the sandbox unless it is open, or raise `SandboxError`."""
        if self._spec is None:
            raise SandboxError(_NOT_ALLOWED)
        async with self._opening:
            if self._sandbox is None:
                self._sandbox = await self._stack.enter_async_context(self._pool.sandbox(self._spec))
        return self._sandbox


class SandboxPool:
    """Sandboxes of which a bounded number is open at once; each is new, and used once.

    Args:
        most_open: The number; who asks for one more waits.
    """

    def __init__(self, most_open: int = MOST_OPEN) -> None:
        self._places = asyncio.Semaphore(most_open)

    @asynccontextmanager
    async def sandbox(self, spec: SandboxSpec) -> AsyncIterator[AsyncSandbox]:
        """A sandbox for the length of a block, or raise `SandboxError`."""
        async with self._places, async_sandbox(spec) as sandbox:
            yield sandbox

    @asynccontextmanager
    async def on_demand(self, spec: SandboxSpec | None) -> AsyncIterator[SandboxOnDemand]:
        """A sandbox for the length of a block, which opens on use."""
        async with AsyncExitStack() as stack:
            yield SandboxOnDemand(self, spec, stack)


@asynccontextmanager
async def async_sandbox(spec: SandboxSpec) -> AsyncIterator[AsyncSandbox]:
    """Open a sandbox for the length of a block. Where the block is cancelled, so is the command that runs.

    Raises:
        SandboxError: It cannot be opened.
        ExtraError: The client of Docker is not installed.
    """
    loop, thread = asyncio.get_running_loop(), ThreadPoolExecutor(1, "sandbox")
    opening = loop.run_in_executor(thread, open_sandbox, spec)
    try:
        # Shielded: a sandbox that opens for a block that is cancelled has to be closed all the same.
        yield AsyncSandbox(await asyncio.shield(opening), thread)
    finally:
        closing = asyncio.ensure_future(_close(opening, thread))
        await asyncio.shield(closing)


async def _close(opening: asyncio.Future[Sandbox], thread: ThreadPoolExecutor) -> None:
    """Close a sandbox from a thread other than that of the calls, of which one may still run."""
    await asyncio.wait([opening])
    if opening.exception() is None:
        await asyncio.to_thread(opening.result().close)
    thread.shutdown(wait=False)
