"""Tasks in a terminal, as folders: those of Terminal-Bench 1 and of Harbor (Terminal-Bench 2).

Terminal-Bench 1 (laude-institute/terminal-bench): `task.yaml`, `Dockerfile`, `run-tests.sh`, `tests/`. Harbor
(0.25.0): `task.toml`, `instruction.md`, `environment/Dockerfile`, `tests/test.sh`, which leaves a reward.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from workloads.errors import MalformedError, SourceError
from workloads.sandbox.base import MIB, SandboxLimits, SandboxSpec
from workloads.yaml_values import NotYAMLError, parse_yaml

if TYPE_CHECKING:
    from pathlib import Path

AGENT_S: Final = 360.0
TESTS_S: Final = 60.0
"""Of Terminal-Bench 1, where a task does not say."""
HARBOR_S: Final = 600.0
"""Of Harbor, for the agent and for the verifier."""


@dataclass(frozen=True, slots=True)
class TerminalTask:
    """One task.

    Attributes:
        name: Of its folder.
        kind: Whose format it has.
        instruction: What the agent is asked.
        image: An image's name, or the folder with the Dockerfile.
        agent_s: How long the agent may take.
        tests_s: How long the tests may take.
        tests: The files that the tests need, by their paths in the container. An agent does not see them.
        command: What runs the tests.
        network: Whether the task says that it needs one.
        memory_bytes: Of the container.
        cpus: Of the container.
    """

    name: str
    kind: Literal["terminal-bench", "harbor"]
    instruction: str
    image: str
    agent_s: float
    tests_s: float
    tests: dict[str, bytes]
    command: str
    network: bool
    memory_bytes: int
    cpus: float

    @property
    def spec(self) -> SandboxSpec:
        """Its container: its image's own user and folder, and a root that can be written."""
        limits = SandboxLimits(memory_bytes=self.memory_bytes, cpus=self.cpus)
        return SandboxSpec(
            "docker",
            image=self.image,
            read_only=False,
            network=self.network,
            user="",
            folder="",
            limits=limits,
        )


def terminal_task(folder: Path) -> TerminalTask:
    """Read a task.

    Raises:
        SourceError: The folder has no task, or lacks a file of it.
        MalformedError: Its description cannot be read.
    """
    if (folder / "task.toml").is_file():
        return _of_harbor(folder)
    if (folder / "task.yaml").is_file():
        return _of_terminal_bench(folder)
    raise SourceError(
        f"{folder}: no task: neither task.toml (Harbor) nor task.yaml (Terminal-Bench) is there"
    )


def _of_terminal_bench(folder: Path) -> TerminalTask:
    path = folder / "task.yaml"
    try:
        facts = parse_yaml(_text(path))
    except NotYAMLError as error:
        raise MalformedError(f"{path}: not YAML: {error}") from error
    if not isinstance(facts, dict) or not isinstance(facts.get("instruction"), str):
        raise MalformedError(f"{path}: no `instruction`")
    tests = _files(folder / "tests", "/tests")
    tests["/tests/run-tests.sh"] = _text(folder / "run-tests.sh").encode()
    return TerminalTask(
        name=folder.name,
        kind="terminal-bench",
        instruction=facts["instruction"],
        image=str(folder),
        agent_s=_number(path, facts, "max_agent_timeout_sec", AGENT_S),
        tests_s=_number(path, facts, "max_test_timeout_sec", TESTS_S),
        tests=tests,
        command="TEST_DIR=/tests bash /tests/run-tests.sh",
        network=False,
        memory_bytes=SandboxLimits().memory_bytes,
        cpus=1.0,
    )


def _of_harbor(folder: Path) -> TerminalTask:
    path = folder / "task.toml"
    try:
        facts = tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise MalformedError(f"{path}: not TOML: {error}") from error
    environment = _table(path, facts, "environment")
    tests = _files(folder / "tests", "/tests")
    if "/tests/test.sh" not in tests:
        raise SourceError(f"{folder / 'tests' / 'test.sh'}: no such file")
    return TerminalTask(
        name=folder.name,
        kind="harbor",
        instruction=_text(folder / "instruction.md"),
        image=str(environment.get("docker_image") or folder / "environment"),
        agent_s=_number(path, _table(path, facts, "agent"), "timeout_sec", HARBOR_S),
        tests_s=_number(path, _table(path, facts, "verifier"), "timeout_sec", HARBOR_S),
        tests=tests,
        command="mkdir -p /logs/verifier && bash /tests/test.sh",
        network=environment.get("allow_internet") is True,
        memory_bytes=int(_number(path, environment, "memory_mb", 2048) * MIB),
        cpus=_number(path, environment, "cpus", 1.0),
    )


def _table(path: Path, facts: dict[str, Any], name: str) -> dict[str, Any]:
    table = facts.get(name, {})
    if not isinstance(table, dict):
        raise MalformedError(f"{path}: `{name}` must be a table")
    return table


def _number(path: Path, facts: dict[str, Any], name: str, default: float) -> float:
    value = facts.get(name, default)
    if not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
        raise MalformedError(f"{path}: `{name}` must be a number above 0, not {value!r}")
    return float(value)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise MalformedError(f"{path}: not UTF-8") from error


def _files(folder: Path, place: str) -> dict[str, bytes]:
    """The files below a folder, by their paths in the container."""
    return {
        f"{place}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
