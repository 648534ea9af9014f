"""Programs of graders in containers: the verdicts of the local sandbox, and nothing passes to the next."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.sandbox import programs
from loadgen.plugins.sandbox.container import LABEL
from loadgen.plugins.sandbox.container_programs import ContainerPrograms
from loadgen.plugins.sandbox.job import Job, ProgramLimits
from tests.containers.daemon import IMAGE, docker_client
from tests.preloaded import GIVE_UP_S
from workloads.sandbox_contract import MIB, SandboxError, SandboxLimits, SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen.plugins.sandbox.job import ProgramOutcome

pytestmark = pytest.mark.docker

SPEC = SandboxSpec("docker", image=IMAGE, limits=SandboxLimits(memory_bytes=256 * MIB))

# The runner takes these away; a program gets them back.
C = "import ctypes, os, time\nC = ctypes.CDLL(None)\n"

ENDINGS = {
    "it passes": ("assert 1 + 1 == 2", "passed"),
    "it fails": ("assert 1 + 1 == 3", "failed"),
    "it ends early": ("import os; os._exit(0)", "exited"),
    "it never ends": ("while True: pass", "timed_out"),
    "it ignores signals": (
        (
            "import signal\nfor n in range(1, 32):\n try: signal.signal(n, signal.SIG_IGN)\n"
            " except (OSError, ValueError): pass\nimport time\nwhile True: time.sleep(1)"
        ),
        "timed_out",
    ),
    "it takes much memory": ("x = bytearray(2**40)", "out_of_memory"),
    "its children do": (
        (
            f"{C}for n in range(8):\n if C.fork() == 0:\n  x = bytearray(b'x') * 2**26\n  time.sleep(100)\n"
            "x = [bytearray(b'x') * 2**25 for _ in range(5)]\ntime.sleep(100)"
        ),
        "out_of_memory",
    ),
    "it looks for the network": ("import socket; socket.create_connection(('1.1.1.1', 53))", "network"),
    "it floods": (
        (
            f"{C}for n in range(2**13):\n for fd in (3, 4, 5):\n  try: os.write(fd, bytes(2**20))\n"
            "  except OSError: pass\n"
        ),
        "failed",
    ),
    "it lies": (
        (
            f'{C}for fd in range(3, 9):\n try: os.write(fd, b\'{{"ending": "passed"}}\\n\')\n'
            " except OSError: pass\nassert False"
        ),
        "failed",
    ),
}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Of the daemon; at the end no container of this process is there."""
    opened = docker_client()
    yield opened
    assert left(opened, os.getpid()) == []
    opened.close()


def left(client: Any, process: int) -> list[str]:
    """The containers that a process has opened and that are there still."""
    label = f"{LABEL}={os.uname().nodename}:{process}"
    return [container["Id"] for container in client.containers(all=True, filters={"label": label})]


@pytest.fixture
def containers(client: Any) -> Iterator[ContainerPrograms]:
    """What runs programs."""
    assert client is not None
    opened = ContainerPrograms(SPEC)
    yield opened
    opened.close()


def outcome(
    containers: ContainerPrograms, source: str, timeout_s: float = 5.0, more_s: float = 3.0
) -> ProgramOutcome:
    """How a program ends that checks itself."""
    return containers.run(Job("program", source, timeout_s), ProgramLimits(wall_s=timeout_s + more_s))


def test_how_programs_end(containers: ContainerPrograms) -> None:
    """Each has its reason, whatever the one before it did."""
    wrong = []
    for name, (source, ending) in ENDINGS.items():
        times = (0.5, 1.0) if ending == "timed_out" else (20.0, 3.0)
        result = outcome(containers, source, *times)
        if result.ending != ending or result.isolation != "docker":
            wrong.append(f"{name}: {result}")
    assert wrong == []


@pytest.mark.parametrize(
    "trace",
    [
        "open('trace', 'w').write('x'); open('/tmp/trace', 'w').write('x'); os.mkdir('/dev/shm/trace', 0)",
        "[os.mkdir('d' * 100) or C.chdir(b'd' * 100) for _ in range(200)]",
        "C.symlink(b'/etc/passwd', b'/tmp/link')",
        "C.shmget(1234, 4096, 0o1777)",
        "C.fork() or (C.setsid(), time.sleep(600))",
        "[C.fork() or time.sleep(600) for _ in range(300)]",
    ],
)
def test_no_program_finds_anything_of_another(containers: ContainerPrograms, trace: str) -> None:
    """No file, no shared memory, no process."""
    outcome(containers, C + trace)
    empty = (
        "import os\nassert not os.listdir('.') and not os.listdir('/tmp') and not os.listdir('/dev/shm')\n"
        "assert len(open('/proc/sysvipc/shm').readlines()) == 1\n"
        "assert len([p for p in os.listdir('/proc') if p.isdigit()]) <= 3\n"
    )
    assert outcome(containers, empty).reason == ""


def test_a_function_and_a_program_that_reads(containers: ContainerPrograms) -> None:
    """The kinds of LiveCodeBench."""
    limits = ProgramLimits(wall_s=60)
    called = Job("functional", "def f(a, b): return a + b", 6, "f", ["1\n2", "3\n4"], ["3", "7"])
    assert (containers.run(called, limits).ending, containers.run(called, limits).passed) == ("passed", 2)
    printing = Job("standard_input", "print(int(input()) * 2)", 6, "", ["4", "5"], ["8", "11"])
    assert (containers.run(printing, limits).ending, containers.run(printing, limits).passed) == ("failed", 1)


def test_a_killed_grader_leaves_no_container(client: Any) -> None:
    """The container ends with the connection."""
    script = (
        "import sys, time\nfrom workloads.sandbox_contract import SandboxSpec\n"
        "from loadgen.plugins.sandbox.container_programs import ContainerPrograms\n"
        "from loadgen.plugins.sandbox.job import Job, ProgramLimits\n"
        f"containers = ContainerPrograms(SandboxSpec('docker', image={IMAGE!r}))\n"
        "containers.run(Job('program', '', 5), ProgramLimits(wall_s=30))\nprint('ready', flush=True)\n"
        "containers.run(Job('program', 'while True: pass', 600), ProgramLimits(wall_s=900))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    assert len(left(client, process.pid)) == 1
    process.kill()
    process.wait()
    process.stdout.close()
    give_up = time.monotonic() + GIVE_UP_S
    while left(client, process.pid):
        assert time.monotonic() < give_up
        time.sleep(0.2)


def test_the_choice_of_a_process(client: Any) -> None:
    """Graders run programs where it was chosen, and the log has the image."""
    facts = programs.isolation(SPEC)
    image_id = client.inspect_image(IMAGE)["Id"]
    assert facts == {"sandbox": "docker", "sandbox_image": {"image": IMAGE, "id": image_id}}
    programs.use(SPEC)
    try:
        source = "import os; assert os.path.exists('/.dockerenv')"
        assert programs.run(Job("program", source, 5), ProgramLimits(wall_s=30)).reason == ""
    finally:
        programs.use(SandboxSpec())


def test_an_image_without_python(client: Any) -> None:
    """The message says what is missing; the program is not blamed."""
    assert client is not None
    containers = ContainerPrograms(SandboxSpec("docker", image=IMAGE, environment={"PATH": "/nowhere"}))
    try:
        with pytest.raises(SandboxError, match="could not be started with the image's python3"):
            outcome(containers, "pass")
    finally:
        containers.close()
