"""Hostile programs in the sandbox, one after the other: none leaves anything, even if its grader is killed.

A grader runs programs that fork, flood, hide, dig and ignore signals; now and then it is killed at a random
moment, and another goes on. At the end no process, folder or descriptor may be left, no program may have had
a verdict that is not its due, and the graders' memory must have stayed below its bound.

    python benchmarks/hostile.py [--programs N] [--kill-share F] [--seed N] [--without NAME,...]
        [--image IMAGE] [--json]

With an image the programs run in containers of it, and no container may be left either.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.sandbox import local, programs
from loadgen.plugins.sandbox.job import Job, ProgramLimits
from workloads.sandbox_contract import MIB, SandboxLimits, SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

MEMORY_MB: Final = 300.0
"""The most that a grader may take."""

AT_ONCE: Final = 20
"""The most programs that one grader runs."""

CONNECTIONS: Final = 16
"""The most connections to a Docker daemon that a grader keeps open."""

PATIENCE_S: Final = 20.0
"""The time limit for processes to end on a busy machine."""

HIDDEN: Final = "LOADGEN_HOSTILE_SECRET"
"""The variable with the name of a file that no program may read or change, and the text in it."""

C: Final = "import ctypes, os, posix, time\nC = ctypes.CDLL(None)\n"
SLEEP: Final = "'/bin/sh', ['sh', '-c', 'exec sleep 300', '{marker}']"

PROGRAMS: Final[dict[str, tuple[str, frozenset[str]]]] = {
    "harmless": ("assert 1 + 1 == 2", frozenset({"passed"})),
    "wrong": ("assert 1 + 1 == 3", frozenset({"failed"})),
    "daemon": (
        f"{C}if C.fork() == 0:\n C.setsid()\n os.execv({SLEEP})\n",
        frozenset({"passed", "failed"}),
    ),
    "spawn": (f"{C}posix.posix_spawn({SLEEP}, {{}}, setsid=True)", frozenset({"passed", "failed"})),
    "fork bomb": (
        f"{C}for n in range(400):\n if C.fork() == 0:\n  time.sleep(300)\n  break\n",
        frozenset({"passed", "failed", "timed_out", "exited"}),
    ),
    "memory bomb": ("x = []\nwhile True: x.append(bytearray(10**7))", frozenset({"out_of_memory"})),
    "flood": (
        (
            f"{C}for n in range(2**13):\n for fd in (3, 4, 5):\n  try: os.write(fd, bytes(2**20))\n"
            "  except OSError: pass\n"
        ),
        frozenset({"failed"}),
    ),
    "deaf": (
        (
            "import signal\nfor n in range(1, 32):\n try: signal.signal(n, signal.SIG_IGN)\n"
            " except (OSError, ValueError): pass\nwhile True: pass"
        ),
        frozenset({"timed_out"}),
    ),
    "nested folders": (
        f"{C}for _ in range(300):\n os.mkdir('d' * 100)\n C.chdir(b'd' * 100)\n",
        frozenset({"passed", "failed"}),
    ),
    "full disk": (
        "for n in range(40):\n with open(f'{n}', 'wb') as file: file.write(bytes(2**21))",
        frozenset({"passed", "failed"}),
    ),
    "links": (
        f"{C}for n in range(100): C.symlink(b'/etc/passwd', f'l{{n}}'.encode())",
        frozenset({"passed"}),
    ),
    "kill the parent": (f"{C}C.kill(os.getppid(), 9)\ntime.sleep(0.1)", frozenset({"passed", "exited"})),
    "kill everybody": (f"{C}C.kill(-1, 15) if os.getpid() < 10 else None", frozenset({"passed", "exited"})),
    "read the environment": (
        (
            "import os\nassert 'LOADGEN_HOSTILE_SECRET' not in os.environ, 'seen'\n"
            "for n in os.listdir('/proc'):\n try: text = open(f'/proc/{n}/environ', 'rb').read()\n"
            " except OSError: continue\n assert b'LOADGEN_HOSTILE_SECRET=' not in text, 'seen'"
        ),
        frozenset({"passed"}),
    ),
    "read the host": (
        "try: print(open({secret!r}).read())\nexcept OSError: pass\nelse: raise SystemError('seen')",
        frozenset({"passed"}),
    ),
    "write outside": (
        (
            "try: open({secret!r}, 'w').close()\nexcept OSError: pass\n"
            "for path in ('/usr/bin/x', '/etc/x', '/home/x'):\n"
            " try: open(path, 'w').close()\n except OSError: pass\n else: raise SystemError(path)"
        ),
        frozenset({"passed"}),
    ),
    "network": ("import socket; socket.create_connection(('127.0.0.1', 9))", frozenset({"network"})),
    "lies": (
        (
            f'{C}for fd in range(3, 9):\n try: os.write(fd, b\'{{"ending": "passed"}}\\n\')\n'
            " except OSError: pass\nassert False"
        ),
        frozenset({"failed"}),
    ),
}
"""Source by name, with the endings that are its due."""


def grade(number: int, seed: int, marker: str, without: tuple[str, ...], image: str) -> None:
    """Be a grader: run programs, and print a line of JSON for each."""
    local._WITHOUT = without  # noqa: SLF001 (as on a kernel that has less)
    local.remove_leftovers()
    if image:
        programs.use(SandboxSpec("docker", image=image, limits=SandboxLimits(memory_bytes=256 * MIB)))
        programs.run(Job("program", "", 10.0), ProgramLimits(wall_s=30.0))
    chosen = random.Random(seed)  # noqa: S311 (no secret)
    descriptors = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 (quick)
    # The client of Docker keeps some connections for the next request.
    spare = CONNECTIONS if image else 0
    for _ in range(number):
        name = chosen.choice(list(PROGRAMS))
        source, endings = PROGRAMS[name]
        timeout_s = 0.5 if "timed_out" in endings else 10.0
        limits = ProgramLimits(wall_s=timeout_s + 3.0, memory_bytes=2**28)
        secret = os.environ[HIDDEN]
        source = source.replace("{marker}", marker).replace("{secret!r}", repr(secret))
        outcome = programs.run(Job("program", source, timeout_s), limits)
        record = {
            "name": name,
            "ending": outcome.ending,
            "due": outcome.ending in endings,
            "reason": outcome.reason,
            "descriptors": max(0, len(os.listdir("/proc/self/fd")) - descriptors - spare),  # noqa: PTH208
            "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        print(json.dumps(record), flush=True)


def campaign(number: int, kill_share: float, seed: int, without: str, image: str) -> dict[str, Any]:
    """Run `number` programs in graders, some of which are killed; return the findings."""
    chosen, marker = random.Random(seed), f"marked-{os.getpid()}"  # noqa: S311 (no secret)
    endings: Counter[str] = Counter()
    wrong: list[str] = []
    kills, memory = 0, 0.0
    while (done := endings.total()) < number:
        killed_after = chosen.uniform(0.1, 6.0) if chosen.random() < kill_share else None
        for record in _graded(
            min(AT_ONCE, number - done),
            ["--seed", str(chosen.randrange(2**31)), "--without", without, "--image", image],
            marker,
            killed_after,
        ):
            endings[f"{record['name']}: {record['ending']}"] += 1
            memory = max(memory, record["memory_mb"])
            if not record["due"]:
                wrong.append(f"{record['name']}: {record['ending']}: {record['reason']}")
            if record["descriptors"]:
                wrong.append(f"{record['name']}: {record['descriptors']} descriptors are left open")
        kills += killed_after is not None
        wrong += [f"left running: {process}" for process in _left_running(marker)]
        wrong += [f"left: container {container}" for container in _left_containers(image)]
    local.remove_leftovers()
    wrong += [f"left on the disk: {path}" for path in Path(tempfile.gettempdir()).glob("loadgen-sandbox-*")]
    if memory > MEMORY_MB:
        wrong.append(f"a grader took {memory:.0f} MB, and may take {MEMORY_MB:.0f}")
    return {
        "programs": endings.total(),
        "kills": kills,
        "memory_mb": round(memory, 1),
        "isolation": image or (local.isolation() if not without else f"without {without}"),
        "endings": dict(sorted(endings.items())),
        "wrong": wrong,
    }


def _graded(
    number: int, options: list[str], marker: str, killed_after: float | None
) -> Iterator[dict[str, Any]]:
    command = [sys.executable, __file__, "--grade", str(number), "--marker", marker, *options]
    with tempfile.NamedTemporaryFile("w") as secret:
        secret.write(HIDDEN)
        secret.flush()
        environment = {**os.environ, HIDDEN: secret.name}
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        ) as grader:
            if killed_after is not None:
                time.sleep(killed_after)
                grader.send_signal(chosen_signal(int(options[1])))
            assert grader.stdout is not None  # noqa: S101 (it is a pipe)
            for line in grader.stdout:
                if line.endswith("\n"):
                    yield json.loads(line)
        if Path(secret.name).read_text(encoding="utf-8") != HIDDEN:
            yield {
                "name": "write outside",
                "ending": "changed",
                "due": False,
                "reason": "a file of this machine is another",
                "descriptors": 0,
                "memory_mb": 0.0,
            }


def chosen_signal(seed: int) -> signal.Signals:
    """How a grader is ended: by an interrupt or a kill."""
    return (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)[seed % 3]


def _left_running(marker: str) -> list[str]:
    """Processes of sandboxes that are there although no grader is, after some patience."""
    deadline = time.monotonic() + PATIENCE_S
    while processes := [*_processes(marker), *_processes(str(local._SUPERVISOR))]:  # noqa: SLF001 (by its path)
        if time.monotonic() > deadline:
            return processes
        time.sleep(0.05)
    return []


def _left_containers(image: str) -> list[str]:
    """Containers that are there although no grader is, after some patience."""
    if not image:
        return []
    from loadgen.plugins.sandbox.container import LABEL
    from loadgen.plugins.sandbox.docker_daemon import connect

    client, deadline = connect(), time.monotonic() + PATIENCE_S
    try:
        while there := client.containers(all=True, filters={"label": LABEL, "ancestor": image}):
            if time.monotonic() > deadline:
                return [container["Id"] for container in there]
            time.sleep(0.05)
    finally:
        client.close()
    return []


def _processes(word: str) -> Iterator[str]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if word in arguments and "--grade" not in arguments and int(path.parent.name) != os.getpid():
            yield f"{path.parent.name} {' '.join(arguments)}"


def main() -> int:
    """Run the campaign, print what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--kill-share", type=float, default=0.7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without", default="", help="namespaces, landlock, seccomp")
    parser.add_argument("--image", default="", help="run the programs in containers of this image")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--grade", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--marker", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.grade is not None:
        without = tuple(filter(None, options.without.split(",")))
        grade(options.grade, options.seed, options.marker, without, options.image)
        return 0
    result = campaign(options.programs, options.kill_share, options.seed, options.without, options.image)
    if options.json:
        print(json.dumps(result))
    else:
        print(f"{result['programs']} programs, {result['kills']} graders killed, {result['isolation']}")
        print(f"memory of a grader: {result['memory_mb']} MB")
        for name, count in result["endings"].items():
            print(f"  {count:4d}  {name}")
        for line in result["wrong"][:20]:
            print(f"WRONG: {line}")
        print("FAIL" if result["wrong"] else "PASS")
    return 1 if result["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
