"""Sandboxes for commands: one contract, and the same hostile programs, for namespaces and for containers."""

from __future__ import annotations

import asyncio
import json
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.sandbox import command_server, kernel
from loadgen.plugins.sandbox.container import LABEL, DockerSandbox
from loadgen.plugins.sandbox.opening import SandboxPool, async_sandbox, open_sandbox
from tests.containers.daemon import IMAGE, docker_client
from tests.preloaded import GIVE_UP_S
from workloads.sandbox_contract import MIB, SandboxError, SandboxLimits, SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.open_sandbox import Sandbox
    from workloads.sandbox_contract import SandboxKind

KINDS = [pytest.param("local"), pytest.param("docker", marks=pytest.mark.docker)]
LIMITS = SandboxLimits(
    memory_bytes=256 * MIB, processes=64, disk_bytes=32 * MIB, output_bytes=20_000, most_output_bytes=MIB
)


@pytest.fixture(params=KINDS)
def spec(request: pytest.FixtureRequest) -> Iterator[SandboxSpec]:
    """One of each kind; containers that a test opens are gone at its end."""
    kind: SandboxKind = request.param
    if kind == "local":
        yield SandboxSpec(kind, limits=LIMITS)
        return
    client = docker_client()
    yield SandboxSpec(kind, image=IMAGE, limits=LIMITS)
    assert left(client) == []
    client.close()


def left(client: Any) -> list[str]:
    """The containers of this process that are there still."""
    mine = f"{LABEL}={os.uname().nodename}:{os.getpid()}"
    return [container["Id"] for container in client.containers(all=True, filters={"label": mine})]


@pytest.fixture
def sandbox(spec: SandboxSpec) -> Iterator[Sandbox]:
    """An open one."""
    with open_sandbox(spec) as opened:
        yield opened


def test_a_command_and_its_streams(sandbox: Sandbox) -> None:
    """Output, errors, input and exit code of a line for the shell, and of a program with arguments."""
    result = sandbox.exec("read line; echo got $line; echo bad >&2; exit 3", stdin=b"this\nand more\n")
    assert (result.stdout, result.stderr, result.exit_code, result.ending) == (
        "got this\n",
        "bad\n",
        3,
        "exited",
    )
    assert sandbox.exec(["printf", "%s|", "a b", "$HOME"]).stdout == "a b|$HOME|"
    assert sandbox.exec(["nonesuch"]).exit_code == 127
    assert sandbox.exec("kill -9 $$").exit_code == 137
    assert sandbox.exec("cat", stdin=bytes(500_000)).ok


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_user_without_privileges() -> None:
    """The user of any number gets namespaces."""
    stdin, requests = os.pipe()
    replies, stdout = os.pipe()
    settings = {**asdict(LIMITS), "folder": "/work", "environment": {}}
    if (server := os.fork()) == 0:
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        os.close(requests)
        os.setgroups([])
        os.setresgid(1000, 1000, 1000)
        os.setresuid(1000, 1000, 1000)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
        try:
            command_server.main()
        finally:
            os._exit(0)
    os.close(stdout)
    payload = json.dumps(settings).encode()
    os.write(requests, command_server.LENGTH.pack(len(payload), 0) + payload)
    reply = os.read(replies, 4096)[command_server.LENGTH.size :]
    os.close(requests)
    os.close(stdin)
    os.close(replies)
    os.waitpid(server, 0)
    assert json.loads(reply) == {"ready": True}


def test_files_come_and_go(sandbox: Sandbox) -> None:
    """Contents are kept byte by byte, from one command to the next; scripts can be run."""
    every_byte = bytes(range(256)) * 100
    sandbox.put_files({"a/b c.bin": every_byte, "run": b"#!/bin/sh\nwc -c < 'a/b c.bin'"})
    assert sandbox.get_file("a/b c.bin") == every_byte
    assert sandbox.exec("./run").stdout.strip() == str(len(every_byte))
    for path in ("nonesuch", "a"):
        with pytest.raises(FileNotFoundError, match=path):
            sandbox.get_file(path)
    sandbox.exec("head -c 2000000 /dev/zero > big")
    with pytest.raises(SandboxError, match="more than 1,048,576 bytes"):
        sandbox.get_file("big")
    with pytest.raises(SandboxError, match="could not be written"):
        sandbox.put_files({"/usr/bin/new": b""})


def test_a_time_out_kills_the_whole_tree(sandbox: Sandbox) -> None:
    """Also what ignores signals and has left its session; files stay."""
    deaf = "trap '' TERM INT HUP; echo > started; while :; do sleep 1; done"
    result = sandbox.exec(f'setsid sh -c "{deaf}" & {deaf}', timeout_s=2)
    assert (result.ending, result.exit_code) == ("timed_out", None)
    assert sandbox.exec(RUNNING).stdout.split() == []
    assert sandbox.get_file("started") == b"\n"


RUNNING = (
    "for p in /proc/[0-9]*; do grep -q 'while :' $p/cmdline && [ $p != /proc/$$ ] && echo $p; done; true"
)
"""Prints what runs of the deaf loop: the shell that looks for it has the words in its arguments as well."""


def test_a_daemon_is_there_for_the_next_command_and_then_gone(sandbox: Sandbox, spec: SandboxSpec) -> None:
    """It delays no result although it holds the output."""
    result = sandbox.exec("(sleep 1; echo late > late; sleep 600) & echo done", timeout_s=GIVE_UP_S)
    assert (result.stdout, result.ending) == ("done\n", "exited")
    assert sandbox.exec("until [ -e late ]; do sleep 0.1; done", timeout_s=GIVE_UP_S).ok
    sandbox.close()
    with pytest.raises(SandboxError):
        sandbox.exec("true")
    assert spec is not None


def test_much_output(sandbox: Sandbox) -> None:
    """Beginning and end are kept; without end, the command is ended."""
    result = sandbox.exec("seq 100000")
    assert result.stdout.startswith("1\n2\n")
    assert result.stdout.endswith("99999\n100000\n")
    assert "bytes are left out]" in result.stdout
    assert len(result.stdout) < 21_000
    endless = sandbox.exec("yes")
    assert (endless.ending, endless.exit_code) == ("too_much_output", None)
    assert sandbox.exec("echo again").stdout == "again\n"


def test_a_fork_bomb(sandbox: Sandbox) -> None:
    """It meets the limit, its time ends, and the sandbox can be used again."""
    sandbox.put_files({"bomb": b"#!/bin/sh\nwhile :; do sh ./bomb & done\n"})
    assert sandbox.exec("sh ./bomb", timeout_s=1).ending in {"timed_out", "too_much_output", "exited"}
    assert sandbox.exec("kill -9 -1; true").ending == "exited"
    assert sandbox.exec("echo again").stdout == "again\n"


def test_a_memory_bomb(sandbox: Sandbox, spec: SandboxSpec) -> None:
    """In a container the kernel ends it, and the result says why; else the program is refused the memory."""
    result = sandbox.exec("python3 -c 'x = bytearray(2**29)'")
    if spec.kind == "docker":
        assert (result.ending, result.exit_code) == ("out_of_memory", None)
    else:
        assert (result.ending, result.exit_code) == ("exited", 1)
        assert "MemoryError" in result.stderr
    assert sandbox.exec("echo again").stdout == "again\n"


def test_a_full_disk(sandbox: Sandbox) -> None:
    """The folders that can be written are bounded."""
    result = sandbox.exec("cat /dev/zero > full")
    assert result.exit_code == 1
    assert "No space left" in result.stderr
    assert sandbox.exec("rm full; echo again > more").ok


def test_nothing_of_this_machine_is_in_reach(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file, no variable, no process, no network, no link that leads out, no right to be more."""
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden")
    refused = {
        "reads a file": f"cat {secret}",
        "reads it by a link": f"ln -s {secret} link && cat link",
        "reads the password file": "cat /etc/shadow",
        "lists homes": "ls ~root/.ssh /home/*/.ssh",
        "writes a file": f"echo changed > {secret}",
        "writes the system": "echo x > /usr/bin/x",
        "reaches the network": "python3 -c 'import socket; socket.create_connection((\"1.1.1.1\", 53), 3)'",
        "looks names up": "python3 -c 'import socket; socket.getaddrinfo(\"example.org\", 80)'",
        "makes namespaces": "unshare -U true",
        "mounts": "mount -t tmpfs none /mnt",
        "becomes root": "python3 -c 'import os; os.setuid(0)'",
        "sets the clock": "python3 -c 'import time; time.clock_settime(time.CLOCK_REALTIME, 0)'",
        "kills the first process": "kill -9 1 && sleep 0.5 && ! kill -0 1",
        "reads the first one's memory": "cat /proc/1/mem",
        "makes a device": "mknod disk b 8 0",
    }
    wrong = [name for name, command in refused.items() if sandbox.exec(command).exit_code in {0, None}]
    assert wrong == []
    assert secret.read_text() == "hidden"
    seen = sandbox.exec("env; cat /proc/*/environ | tr '\\0' '\\n'; cat /proc/*/cmdline").stdout
    assert "hidden" not in seen
    assert str(os.getpid()) not in sandbox.exec("ls /proc").stdout.split() or os.getpid() < 100


def test_a_link_is_followed_inside(sandbox: Sandbox, tmp_path: Path) -> None:
    """Files that come out are the sandbox's, whatever it calls them, and those that go in stay in it."""
    secret = tmp_path / "secret"
    secret.write_bytes(b"hidden")
    sandbox.exec(f"ln -s {secret} link; ln -s {tmp_path} folder")
    with pytest.raises(FileNotFoundError):
        sandbox.get_file("link")
    with pytest.raises(SandboxError):
        sandbox.put_files({"folder/new": b"x"})
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_a_sandbox_whose_close_comes_first(spec: SandboxSpec) -> None:
    """A command that runs is ended by it, as where an episode is cancelled."""

    async def cancelled() -> None:
        async with async_sandbox(spec) as sandbox:
            await sandbox.exec("sleep 600", timeout_s=600)

    async def scenario() -> None:
        task = asyncio.ensure_future(cancelled())
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    since = time.monotonic()
    asyncio.run(scenario())
    assert time.monotonic() - since < 300


def test_a_pool_has_a_bounded_number_open(spec: SandboxSpec) -> None:
    """Each sandbox is new."""
    open_now: set[int] = set()
    seen: list[tuple[int, str]] = []

    async def use(pool: SandboxPool, number: int) -> None:
        async with pool.sandbox(spec) as sandbox:
            open_now.add(number)
            result = await sandbox.exec(f"ls; touch {number}")
            seen.append((len(open_now), result.stdout))
            open_now.remove(number)

    async def scenario() -> None:
        pool = SandboxPool(most_open=2)
        await asyncio.gather(*(use(pool, number) for number in range(5)))

    asyncio.run(scenario())
    assert len(seen) == 5
    assert max(count for count, _ in seen) <= 2
    assert {text for _, text in seen} == {""}


def test_no_descriptor_is_left(spec: SandboxSpec) -> None:
    """Sandboxes and commands leave none."""

    def rounds(number: int) -> int:
        for _ in range(number):
            with open_sandbox(spec) as sandbox:
                sandbox.exec("true")
                sandbox.exec("yes")
        return len(list(Path("/proc/self/fd").iterdir()))

    assert rounds(1) == rounds(3)


@pytest.mark.docker
def test_how_a_container_is_confined() -> None:
    """What the daemon says of it."""
    client = docker_client()
    with DockerSandbox(SandboxSpec("docker", image=IMAGE)) as sandbox:
        facts = client.inspect_container(sandbox.container_id)
    host = facts["HostConfig"]
    assert {
        "NetworkMode": "none",
        "ReadonlyRootfs": True,
        "Memory": 2 * 1024**3,
        "MemorySwap": 2 * 1024**3,
        "NanoCpus": 10**9,
        "PidsLimit": 256,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges:true"],
        "Privileged": False,
        "AutoRemove": True,
        "Binds": None,
    }.items() <= host.items()
    assert facts["Config"]["User"] == "65533:65533"
    assert facts["Mounts"] == []
    client.close()
