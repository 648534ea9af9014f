"""The tests of a terminal task, run in the agent's container."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.harbor_reward import JSON_FILE, TEXT_FILE

if TYPE_CHECKING:
    from loadgen.plugins.evals.tasks.terminal_tasks import TerminalTask
    from loadgen.plugins.sandbox.opening import AsyncSandbox, SandboxOnDemand

_VERIFIER: Final = "/logs/verifier"
"""The folder of Harbor's rewards."""


@dataclass(frozen=True, slots=True)
class TerminalTests:
    """The results of the tests.

    Attributes:
        output: What they wrote: of Terminal-Bench 1, the pane that is parsed.
        ending: How they ended; see `CommandEnding`. `timed_out`: they took longer than
            the task allows (`test_timeout`).
        rewards: Of Harbor, the file with the rewards, by its name; None where none was left.
    """

    output: str
    ending: str
    rewards: tuple[str, str] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON."""
        return {"output": self.output, "ending": self.ending, "rewards": self.rewards}


async def run_tests(sandbox: AsyncSandbox | SandboxOnDemand, task: TerminalTask) -> TerminalTests:
    """Copy the tests into the container, and run the tests. A reward left by the agent is removed first.

    Raises:
        SandboxError: The container failed: nothing is known of the agent's work.
    """
    await sandbox.exec(["rm", "-rf", "/tests", *(f"{_VERIFIER}/{name}" for name in (JSON_FILE, TEXT_FILE))])
    await sandbox.put_files(task.tests)
    variables = [f"{name}={value}" for name, value in task.tests_environment.items()]
    result = await sandbox.exec(["env", *variables, "/bin/sh", "-c", task.command], task.tests_s)
    rewards = await _rewards(sandbox) if task.kind == "harbor" and result.ending == "exited" else None
    return TerminalTests(result.stdout + result.stderr, result.ending, rewards)


async def _rewards(sandbox: AsyncSandbox | SandboxOnDemand) -> tuple[str, str] | None:
    """The file that counts: that with JSON, where there are both."""
    for name in (JSON_FILE, TEXT_FILE):
        try:
            content = await sandbox.get_file(f"{_VERIFIER}/{name}")
        except FileNotFoundError:
            continue
        return name, content.decode(errors="replace")
    return None
