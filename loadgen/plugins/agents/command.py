"""Agents as programs: one process an episode, with model calls through a recording proxy."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.driver.client.redaction import VARIABLES
from loadgen.plugins.agents.episode import EpisodeResult
from loadgen.plugins.agents.proxy import RecordingProxy
from loadgen.plugins.agents.sandboxed_command import TASK_FILE, SandboxedProgram

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.plugins.agents.episode import Ask
    from loadgen.plugins.agents.episode_plan import AgentCommand
    from loadgen.plugins.sandbox.opening import SandboxOnDemand
    from workloads.sample import Sample

MOST_OUTPUT: Final = 2**20
"""Bytes that are read of each stream of a program."""

_READ: Final = 64 * 1024
_SHOWN: Final = 300
_TASK_FILE: Final = "task.json"


class CommandPlayer:
    """Runs episodes by starting a program.

    Args:
        sequential: Whether all episodes share one folder, in which the program may keep its state.
    """

    def __init__(self, command: AgentCommand, model: str, *, sequential: bool) -> None:
        self._command = command
        self._model = model
        self._lasting = tempfile.TemporaryDirectory(prefix="loadgen-agent-") if sequential else None

    def close(self) -> None:
        """Remove the folder that all episodes share."""
        if self._lasting is not None:
            self._lasting.cleanup()

    async def play(self, sample: Sample, ask: Ask, sandbox: SandboxOnDemand | None) -> EpisodeResult:
        """Play the episode of a sample: the program's output is the answer.

        Raises:
            EpisodeError: No further turn could be asked.
            SandboxError: The sandbox failed.
            OSError: The program cannot be started.
            ValueError: What it left as reward is not a number.
        """
        if sandbox is None:
            proxy = RecordingProxy(ask, self._model)
            with ExitStack() as stack:
                folder = (
                    stack.enter_context(tempfile.TemporaryDirectory(prefix="loadgen-agent-"))
                    if self._lasting is None
                    else self._lasting.name
                )
                async with proxy.listening():
                    code, output, errors = await self._run(sample, proxy.url, Path(folder))
                reward = self._reward(Path(folder))
        else:
            program = SandboxedProgram(sandbox, ask, self._model)
            proxy, reward = program.proxy, None
            values = self._values(sample, program.url, ".")
            code, output, errors = await program.run(
                [_filled(word, values) for word in self._command.words],
                self._variables(values, TASK_FILE),
                {TASK_FILE: _task(sample), **self._files(values)},
                self._stdin(sample),
            )
        if proxy.error is not None:
            raise proxy.error
        answer = {"role": "assistant", "content": output.strip()}
        tail = " ".join(errors.split())[-_SHOWN:]
        return EpisodeResult(
            [*sample.messages(), answer],
            reward=reward,
            finish_reason=f"exit code {code}",
            error=None if code == 0 else f"the program ended with exit code {code}: {tail}",
            details={"conversation": proxy.messages},
        )

    async def _run(self, sample: Sample, url: str, folder: Path) -> tuple[int, str, str]:
        """Run the program on this machine; all descendants end with the program."""
        (folder / _TASK_FILE).write_bytes(_task(sample))
        values = self._values(sample, url, str(folder))
        for path, content in self._files(values).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        # No key of ours is among what it inherits.
        inherited = {name: value for name, value in os.environ.items() if name not in VARIABLES}
        process = await asyncio.create_subprocess_exec(
            *(_filled(word, values) for word in self._command.words),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=folder,
            env={**inherited, **self._variables(values, str(folder / _TASK_FILE))},
            start_new_session=True,
        )
        try:
            feeding = asyncio.create_task(_feed(process, self._stdin(sample).encode()))
            output, errors, code, _ = await asyncio.gather(
                _bounded(process.stdout), _bounded(process.stderr), process.wait(), feeding
            )
            return code, output, errors
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    def _values(self, sample: Sample, url: str, folder: str) -> dict[str, str]:
        """The values of the placeholders."""
        host = url.removesuffix("/v1")
        return {"task": sample.prompt, "url": url, "host": host, "model": self._model, "folder": folder}

    def _files(self, values: Mapping[str, str]) -> dict[str, bytes]:
        """The initial files of the program's folder, by path."""
        return {path: _filled(text, values).encode() for path, text in self._command.files.items()}

    def _variables(self, values: Mapping[str, str], task_file: str) -> dict[str, str]:
        """The program's environment variables, with the proxy as the endpoint."""
        return {
            "OPENAI_BASE_URL": values["url"],
            "OPENAI_API_BASE": values["url"],
            "OPENAI_API_KEY": "loadgen",
            "OPENAI_MODEL": values["model"],
            "LOADGEN_TASK_FILE": task_file,
            **{name: _filled(value, values) for name, value in self._command.environment.items()},
        }

    def _reward(self, folder: Path) -> float | None:
        """The number left by the program; None without one."""
        command = self._command
        for path in sorted(folder.glob(command.reward)) if command.reward else ():
            value = orjson.loads(path.read_bytes())
            return float(value[command.reward_member] if command.reward_member else value)
        return None

    def _stdin(self, sample: Sample) -> str:
        return sample.prompt if self._command.task == "stdin" else ""


def _task(sample: Sample) -> bytes:
    """The content of the task file."""
    return orjson.dumps({"messages": sample.messages(), "prompt": sample.prompt, "index": sample.index})


def _filled(word: str, values: Mapping[str, str]) -> str:
    """A word of the command with placeholders replaced."""
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", value)
    return word


async def _feed(process: asyncio.subprocess.Process, task_text: bytes) -> None:
    """Write the task to standard input, which the program may ignore."""
    assert process.stdin is not None  # noqa: S101 (it was asked for)
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(task_text)
        await process.stdin.drain()
    process.stdin.close()


async def _bounded(stream: Any) -> str:
    """Read a stream to the end, and keep the beginning."""
    beginning = bytearray()
    while data := await stream.read(_READ):
        beginning += data[: MOST_OUTPUT - len(beginning)]
    return beginning.decode(errors="replace")
