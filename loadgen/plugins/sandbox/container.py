"""A Docker container as a sandbox.

Its first process, Docker's own init, reaps orphans; its child reads from a connection of this process, and
when this process ends, however it ends, so do those, and the daemon removes the container. They run as a
separate user, so that no command can signal or trace them. docs/sandbox.md says what else holds.
"""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.sandbox.commands import SHELL, CommandSandbox, RawResult
from loadgen.plugins.sandbox.container_command import ContainerCommand
from loadgen.plugins.sandbox.docker_daemon import close_stream, connect, docker_errors, ensure_image
from workloads.sandbox_contract import SandboxError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workloads.sandbox_contract import SandboxSpec

LABEL: Final = "llm-loadgen.sandbox"
"""Every container has it; its value is the host and the process that opened it."""
_FIRST_USER: Final = "65533:65533"
_FIRST_PROCESS: Final = (SHELL, "-c", "exec cat > /dev/null")
_FIRST_PROCESSES: Final = 2
"""Docker's init, and what reads."""
_KILL_ALL: Final = (SHELL, "-c", "kill -9 -1")
_OOM_KILLS: Final = (
    SHELL,
    "-c",
    "cat /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control 2>/dev/null",
)
KILLED: Final = 137
"""The exit code of a process that was killed, by a shell's rule."""
_SHM_BYTES: Final = 64 * 2**20
_KILL_S: Final = 20.0
_NEXT_TRY_S: Final = 0.2


class DockerSandbox(CommandSandbox):
    """A container; see `workloads.open_sandbox.Sandbox`.

    Raises:
        SandboxError: No daemon answers, or it does not start the container.
        ExtraError: The extra `docker` is not installed.
        SourceError: The file of the image does not exist.
    """

    def __init__(self, spec: SandboxSpec) -> None:
        self._spec = spec
        self._id: str | None = None
        self._first: Any = None
        self._oom_kills = 0
        self._client = connect()
        try:
            image = ensure_image(self._client, spec.image)
            with docker_errors(f"{image}: no container could be started"):
                self._start(image)
                facts = self._client.inspect_image(image)["Config"]
            folder = spec.folder or facts.get("WorkingDir") or "/"
            # Not that of the first process, which the daemon would take.
            self._user = spec.user or facts.get("User") or "0:0"
        except BaseException:
            self.close()
            raise
        super().__init__(folder, spec.limits)

    @property
    def isolation(self) -> str:
        """The isolation mechanism."""
        return "docker"

    @property
    def container_id(self) -> str | None:
        """The container's id at the daemon; None if closed."""
        return self._id

    def is_idle(self) -> bool:
        """Whether the daemon reports no process of a command; false if unknown."""
        with suppress(SandboxError), docker_errors("processes could not be listed"):
            return len(self._client.top(self._id)["Processes"]) == _FIRST_PROCESSES
        return False

    def close(self) -> None:
        """Kill all processes of the container, and remove the container."""
        container, self._id = self._id, None
        first, self._first = self._first, None
        if container is not None:
            with suppress(SandboxError), docker_errors("the container could not be removed"):
                _remove(self._client, container)
        if first is not None:
            close_stream(first)
        self._client.close()

    def _start(self, image: str) -> None:
        self._id = self._client.create_container(
            image,
            list(_FIRST_PROCESS),
            entrypoint=[],
            user=_FIRST_USER,
            stdin_open=True,
            environment={},
            labels={LABEL: f"{socket.gethostname()}:{os.getpid()}"},
            hostname="sandbox",
            # Not the proxies of this user's Docker, which may hold passwords.
            use_config_proxy=False,
            host_config=self._host_config(),
        )["Id"]
        self._first = self._client.attach_socket(self._id, params={"stdin": 1, "stream": 1})
        self._client.start(self._id)

    def _host_config(self) -> Any:
        limits, spec = self._spec.limits, self._spec
        writable: dict[str, str] = {}
        if spec.read_only:
            options = f"rw,nosuid,nodev,exec,mode=1777,size={limits.disk_bytes // 2}"
            if (owner := spec.user.partition(":"))[0].isdigit():
                options += f",uid={owner[0]},gid={owner[2] or owner[0]}"
            writable = {spec.folder or "/work": options, "/tmp": options}  # noqa: S108 (of the container)
        return self._client.create_host_config(
            auto_remove=True,
            # It reaps orphans, which would count as processes until the end.
            init=True,
            network_mode="bridge" if spec.network else "none",
            read_only=spec.read_only,
            tmpfs=writable,
            shm_size=_SHM_BYTES,
            mem_limit=limits.memory_bytes,
            memswap_limit=limits.memory_bytes,
            nano_cpus=int(limits.cpus * 1e9),
            pids_limit=limits.processes,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges:true"],
            ipc_mode="private",
            log_config={"type": "none", "config": {}},
        )

    def _run(self, command: Sequence[str], timeout_s: float, stdin: bytes, output_bytes: int) -> RawResult:
        result = self.attempt(command, timeout_s, stdin, output_bytes)
        if result.ending != "exited":
            self._kill_all()
        elif result.exit_code == KILLED and self.ran_out_of_memory():
            return replace(result, exit_code=None, ending="out_of_memory")
        return result

    def attempt(self, command: Sequence[str], timeout_s: float, stdin: bytes, output_bytes: int) -> RawResult:
        """Run a command as `exec` does, without ending leftover processes."""
        if self._id is None:
            raise SandboxError("the sandbox is closed")
        # That of the image's own user is known to the daemon.
        home = {"HOME": str(self._folder)} if self._spec.user else {}
        with docker_errors("the command could not be run in the container"):
            started = ContainerCommand(
                self._client,
                self._id,
                command,
                user=self._user,
                environment={**home, "LANG": "C.UTF-8", **self._spec.environment},
                folder=str(self._folder),
            )
            return started.result(stdin, timeout_s, output_bytes, self._limits.most_output_bytes)

    def _kill_all(self) -> None:
        """Kill all that commands have started; where that cannot be done the sandbox is closed.

        The kernel holds every fork while `kill -1` is at work, so nothing escapes it; it kills all processes
        of the user but itself, and the first one is another user's.
        """
        give_up = time.monotonic() + _KILL_S
        while time.monotonic() < give_up:
            with suppress(SandboxError):
                # Where no process can be started, for there are too many, a later try may come through.
                if self.attempt(_KILL_ALL, _KILL_S, b"", 2**12).exit_code == 0:
                    return
            time.sleep(_NEXT_TRY_S)
        self.close()

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel has killed for want of memory since the previous call."""
        text = self.attempt(_OOM_KILLS, _KILL_S, b"", 2**12).stdout.decode(errors="replace")
        kills = sum(
            int(line.split()[1])
            for line in text.splitlines()
            if line.startswith("oom_kill ") and line.split()[1].isdigit()
        )
        more, self._oom_kills = kills > self._oom_kills, kills
        return more


def remove_leftovers() -> int:
    """Remove the containers of processes of this host that are gone; return how many there were.

    A container ends with the process that opened it, but for one that was killed between creating and
    starting it.

    Raises:
        SandboxError: No daemon answers.
        ExtraError: The extra `docker` is not installed.
    """
    client, removed = connect(), 0
    try:
        with docker_errors("containers could not be listed"):
            for container in client.containers(all=True, filters={"label": LABEL}):
                host, _, process = container["Labels"][LABEL].rpartition(":")
                if host == socket.gethostname() and process.isdigit() and _is_gone(int(process)):
                    _remove(client, container["Id"])
                    removed += 1
    finally:
        client.close()
    return removed


def _is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


def _remove(client: Any, container: str) -> None:
    """Remove a container; one that the daemon removes already is awaited."""
    from docker.errors import APIError, NotFound

    give_up = time.monotonic() + _KILL_S
    while True:
        try:
            client.remove_container(container, force=True, v=True)
        except NotFound:
            return
        except APIError:
            if time.monotonic() > give_up:
                raise
            time.sleep(_NEXT_TRY_S)
