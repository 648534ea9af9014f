"""Agents as programs in a sandbox without a network: requests leave through sandbox commands."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.plugins.agents.proxy import RecordingProxy
from loadgen.plugins.sandbox import relay
from workloads.sandbox_contract import SandboxError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.plugins.agents.episode import Ask
    from loadgen.plugins.sandbox.opening import SandboxOnDemand

_FOLDER: Final = "/tmp/.loadgen"  # noqa: S108 (of the sandbox)
_RELAY: Final = f"{_FOLDER}/relay.py"
_SOURCE: Final = Path(relay.__file__).read_bytes()
TASK_FILE: Final = f"{_FOLDER}/task.json"
_FIRST_WAIT_S: Final = 0.25
_LONGEST_WAIT_S: Final = 5.0
"""How long one command waits for a request of the program: at first, and when none has come for long."""
_OPEN_S: Final = 0.2
"""How long requests that are being answered may hold up a further one."""
_PATIENCE_S: Final = 120.0


class SandboxedProgram:
    """A program that runs in the sandbox of an episode.

    Attributes:
        url: The base URL of the endpoint, as it is to be written in words and variables.
    """

    def __init__(self, sandbox: SandboxOnDemand, ask: Ask, model: str) -> None:
        self.proxy = RecordingProxy(ask, model)
        self._port = f"<{token_hex(8)}>"
        self.url = f"http://127.0.0.1:{self._port}{self.proxy.base}"
        self._sandbox = sandbox
        self._answering: dict[asyncio.Task[Any], int] = {}

    async def run(
        self, words: Sequence[str], environment: Mapping[str, str], files: Mapping[str, bytes], stdin: str
    ) -> tuple[int, str, str]:
        """Run the program to the end; return the exit code and the output, or raise `SandboxError`."""
        await self._sandbox.put_files({_RELAY: _SOURCE, **files})
        job = {"command": list(words), "environment": dict(environment), "port": self._port, "stdin": stdin}
        await self._call("start", job)
        replies: list[list[Any]] = []
        wait_s = _FIRST_WAIT_S
        ended: Mapping[str, Any] | None = None
        try:
            while True:
                is_idle = not self._answering
                state = await self._call("next", {"replies": replies, "wait_s": wait_s if is_idle else 0.0})
                wait_s = _FIRST_WAIT_S if state["requests"] else min(2 * wait_s, _LONGEST_WAIT_S)
                for number, method, path, body in state["requests"]:
                    answering = asyncio.ensure_future(self.proxy.answer(method, path, body.encode()))
                    self._answering[answering] = number
                if (ended := state["ended"]) is not None:
                    return int(ended["code"]), ended["stdout"], ended["stderr"]
                replies = await self._answered()
        finally:
            for answering in self._answering:
                answering.cancel()
            if ended is None:
                # Tests may follow: nothing of it shall run then.
                with suppress(SandboxError):
                    await self._call("stop", {})

    async def _answered(self) -> list[list[Any]]:
        """The replies that are ready, or will be shortly."""
        if not self._answering:
            return []
        done, _ = await asyncio.wait(self._answering, timeout=_OPEN_S, return_when=asyncio.FIRST_COMPLETED)
        return [
            [
                *(self._answering.pop(task), reply.status, reply.content_type),
                *(reply.body.decode(errors="replace"), dict(reply.headers)),
            ]
            for task in done
            for reply in [task.result()]
        ]

    async def _call(self, name: str, message: Mapping[str, Any]) -> Any:
        result = await self._sandbox.exec(
            ["python3", "-IS", _RELAY, name], _LONGEST_WAIT_S + _PATIENCE_S, orjson.dumps(message)
        )
        if not result.ok:
            why = " ".join(result.stderr.split())[-300:] or f"{result.ending}, exit code {result.exit_code}"
            raise SandboxError(f"no program can run as an agent in the sandbox, which needs python3: {why}")
        if not result.stdout:
            return None
        state = orjson.loads(result.stdout)
        return orjson.loads(await self._sandbox.get_file(state["file"])) if "file" in state else state
