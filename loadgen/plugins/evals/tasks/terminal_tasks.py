"""Tasks in a terminal, as folders: those of Terminal-Bench 1 and of Harbor (Terminal-Bench 2).

Terminal-Bench 1 (laude-institute/terminal-bench 0.2.18): `task.yaml`, `Dockerfile`, `docker-compose.yaml`,
`run-tests.sh`, `tests/`. Harbor (0.25.0): `task.toml`, `instruction.md`, `environment/Dockerfile`,
`tests/test.sh`, which leaves a reward.
"""

from __future__ import annotations

import re
import tomllib
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import dataclass, field
from loadgen.plugins.evals.grading.harbor_reward import JSON_FILE, TEXT_FILE
from workloads.errors import MalformedError, SourceError
from workloads.sandbox_contract import MIB, SandboxLimits, SandboxSpec
from workloads.yaml_values import NotYAMLError, parse_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from loadgen.plugins.sandbox.opening import AsyncSandbox, SandboxOnDemand

AGENT_S: Final = 360.0
TESTS_S: Final = 60.0
"""Of Terminal-Bench 1, where a task does not say."""
HARBOR_S: Final = 600.0
"""Of Harbor, for the agent and for the verifier."""

_PARSER: Final = "pytest"
"""The only parser of Terminal-Bench 1 that its core tasks have."""
_COMPOSE: Final = "docker-compose.yaml"
_SERVICE: Final = "client"
"""Of the service that an agent works in."""
_VARIABLE: Final = re.compile(r"\$\{?(\w+)\}?")
_HARNESS_VARIABLES: Final = {"T_BENCH_TEST_DIR": "/tests", "T_BENCH_CONTAINER_LOGS_PATH": "/logs"}
_PROCESSES: Final = 1024


@dataclass(frozen=True, slots=True)
class TerminalTask:
    """One task; `image` is the name of an image, or the folder of a Dockerfile. Agents do not see `tests`."""

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
    environment: Mapping[str, str] = field(default_factory=dict)
    tests_environment: Mapping[str, str] = field(default_factory=dict)
    difficulty: str = ""
    category: str = ""
    sha256: str = ""

    def container(self, *, network: bool = False) -> SandboxSpec:
        """The container of a task: the image's own user and folder, and a writable root."""
        limits = SandboxLimits(memory_bytes=self.memory_bytes, cpus=self.cpus, processes=_PROCESSES)
        return SandboxSpec(
            "docker",
            image=self.image,
            read_only=False,
            network=network and self.network,
            user="",
            folder="",
            environment=self.environment,
            limits=limits,
        )


def terminal_task(folder: Path) -> TerminalTask:
    """Read a task."""
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
    if (parser := facts.get("parser_name", _PARSER)) != _PARSER:
        raise SourceError(f"{path}: `parser_name` is {parser!r}; only the results of {_PARSER} can be read")
    image, environment = _composed(folder)
    tests = _files(folder / "tests", "/tests")
    tests["/tests/run-tests.sh"] = _text(folder / "run-tests.sh").encode()
    return TerminalTask(
        name=folder.name,
        kind="terminal-bench",
        instruction=facts["instruction"],
        image=image,
        agent_s=_number(path, facts, "max_agent_timeout_sec", AGENT_S),
        tests_s=_number(path, facts, "max_test_timeout_sec", TESTS_S),
        tests=tests,
        command="TEST_DIR=/tests bash /tests/run-tests.sh",
        network=True,
        memory_bytes=SandboxLimits().memory_bytes,
        cpus=1.0,
        environment=environment,
        difficulty=str(facts.get("difficulty", "")),
        category=str(facts.get("category", "")),
        sha256=_checksum(folder),
    )


def _composed(folder: Path) -> tuple[str, dict[str, str]]:
    """The image and the variables of a task's container, from an optional Compose file."""
    path = folder / _COMPOSE
    if not path.is_file():
        return str(folder), {}
    try:
        facts = parse_yaml(_text(path))
    except NotYAMLError as error:
        raise MalformedError(f"{path}: not YAML: {error}") from error
    services = facts.get("services") if isinstance(facts, dict) else None
    if not isinstance(services, dict) or not isinstance(services.get(_SERVICE), dict):
        raise MalformedError(f"{path}: no service `{_SERVICE}`")
    if others := sorted(services.keys() - {_SERVICE}):
        raise SourceError(
            f"{path}: the task needs more containers ({', '.join(others)}), which cannot be run"
        )
    service = services[_SERVICE]
    variables = service.get("environment") or {}
    if isinstance(variables, list):
        variables = dict(str(entry).partition("=")[::2] for entry in variables)
    environment = {str(name): _filled(str(value)) for name, value in variables.items()}
    match service.get("build"):
        case None if (image := str(service.get("image", ""))) and "$" not in image:
            return image, environment
        case {"dockerfile": str(name)} as build:
            return str(folder / str(build.get("context", ".")) / name), environment
        case {"context": str(context)} | str(context):
            return str(folder / context), environment
    return str(folder), environment


def _filled(text: str) -> str:
    """A value with the variables of Terminal-Bench's own harness; others are empty."""
    return _VARIABLE.sub(lambda match: _HARNESS_VARIABLES.get(match[1], ""), text)


def _of_harbor(folder: Path) -> TerminalTask:
    path = folder / "task.toml"
    try:
        facts = tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise MalformedError(f"{path}: not TOML: {error}") from error
    environment = _table(path, facts, "environment")
    verifier, metadata = _table(path, facts, "verifier"), _table(path, facts, "metadata")
    tests = _files(folder / "tests", "/tests")
    if "/tests/test.sh" not in tests:
        raise SourceError(f"{folder / 'tests' / 'test.sh'}: no such file")
    return TerminalTask(
        name=folder.name,
        kind="harbor",
        instruction=_text(folder / "instruction.md"),
        image=str(environment.get("docker_image") or folder / "environment"),
        agent_s=_number(path, _table(path, facts, "agent"), "timeout_sec", HARBOR_S),
        tests_s=_number(path, verifier, "timeout_sec", HARBOR_S),
        tests=tests,
        command="mkdir -p /logs/verifier && bash /tests/test.sh",
        network=environment.get("allow_internet") is not False
        and environment.get("network_mode") != "no-network",
        memory_bytes=_memory(path, environment),
        cpus=_number(path, environment, "cpus", 1.0),
        environment=_variables(path, environment),
        tests_environment=_variables(path, verifier),
        difficulty=str(metadata.get("difficulty", "")),
        category=str(metadata.get("category", "")),
        sha256=_checksum(folder),
    )


def _memory(path: Path, environment: dict[str, Any]) -> int:
    """Bytes: `memory_mb`, or in older tasks `memory`, as in `2G`."""
    match re.fullmatch(r"([\d.]+)([GMK])", str(environment.get("memory", "")).strip().upper()):
        case re.Match() as size:
            return int(float(size[1]) * {"K": 2**10, "M": MIB, "G": 2**30}[size[2]])
    return int(_number(path, environment, "memory_mb", 2048) * MIB)


def _variables(path: Path, table: dict[str, Any]) -> dict[str, str]:
    """The variables of a table; one that Harbor takes from the host is empty, for it may hold a key."""
    return {name: _default(str(value)) for name, value in _table(path, table, "env").items()}


def _default(text: str) -> str:
    """The default of `${NAME:-DEFAULT}`; empty for `${NAME}`; else the text."""
    match = re.fullmatch(r"\$\{\w+(?::-(.*))?\}", text)
    return text if match is None else match[1] or ""


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
    """The files below a folder, by path in the container."""
    return {
        f"{place}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _checksum(folder: Path) -> str:
    """Over the names and the contents of the files of a task."""
    digest = sha256()
    for name, content in _files(folder, "").items():
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


_VERIFIER: Final = "/logs/verifier"
"""The folder of Harbor's rewards."""


@dataclass(frozen=True, slots=True)
class TerminalTests:
    """The results of the tests."""

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
