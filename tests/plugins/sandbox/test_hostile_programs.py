"""Programs that want out: with every protection that the kernel has, and with those of a lesser one."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from loadgen.plugins.agents.planning import SandboxNeeds
from loadgen.plugins.sandbox import local, programs
from loadgen.plugins.sandbox.job import Job, ProgramLimits, ProgramOutcome
from loadgen.plugins.sandbox.local import isolation, remove_leftovers, run
from tests.preloaded import GIVE_UP_S
from tests.processes import is_gone
from workloads.sandbox_contract import SandboxError, SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ALL = isolation().split("+")
NOTHING = ("namespaces", "landlock", "seccomp")
LIMITS = ProgramLimits(wall_s=20.0)
LEVELS = [(), ("namespaces",), ("namespaces", "seccomp"), NOTHING]
"""Which protections are left out."""

# The runner takes these away; a program gets them back.
C = "import ctypes, os, time\nC = ctypes.CDLL(None)\n"

needs_all = pytest.mark.skipif(
    not {"namespaces", "landlock", "seccomp"} <= set(ALL), reason="the kernel has no namespaces or Landlock"
)


@pytest.fixture(params=LEVELS, ids=lambda left_out: "without " + "+".join(left_out or ("nothing",)))
def left_out(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A kernel with fewer protections each time."""
    monkeypatch.setattr(local, "_WITHOUT", request.param)
    missing: tuple[str, ...] = request.param
    return missing


def outcome(source: str, wall_s: float = 20.0, timeout_s: float = 10.0) -> ProgramOutcome:
    """What comes of a program that checks itself."""
    limits = ProgramLimits(wall_s=wall_s, memory_bytes=2**29)
    return run(Job("program", source, timeout_s), limits, unisolated=True)


@pytest.fixture
def marker() -> Iterator[str]:
    """A word in the arguments of processes by which they are found; none has it afterwards."""
    word = f"marked-{os.getpid()}-{time.monotonic_ns()}"
    yield word
    assert eventually(lambda: not running(word)), f"left running: {running(word)}"


def running(word: str) -> list[str]:
    """The processes of this machine that have a word in their arguments."""
    result = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if word in arguments:
            result.append(f"{path.parent.name}: {arguments}")
    return result


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether something holds before too long."""
    give_up = time.monotonic() + GIVE_UP_S
    while not holds():
        if time.monotonic() > give_up:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders of sandboxes lie where no other process makes any."""
    folder = tmp_path / "sandboxes"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)


def folders() -> set[str]:
    """The folders of sandboxes."""
    return {path.name for path in Path(tempfile.gettempdir()).glob("loadgen-sandbox-*")}


def renamed(word: str) -> str:
    """Source that gives a process a name by which it is found, whatever started it."""
    return f"'/bin/sh', ['sh', '-c', 'exec sleep 300', '{word}']"


def test_a_daemon_that_holds_the_output(left_out: tuple[str, ...], marker: str) -> None:
    """It neither delays the verdict nor lives on."""
    source = f"{C}if C.fork() == 0:\n C.setsid()\n os.execv({renamed(marker)})\ntime.sleep(0.3)"
    assert outcome(source, timeout_s=5).ending == "passed"
    assert left_out is not None


def test_processes_that_leave_their_session(left_out: tuple[str, ...], marker: str) -> None:
    """Forks and posix_spawn with their own sessions are refused, or ended."""
    source = (
        f"{C}import posix\nfor n in range(20):\n"
        f" try: posix.posix_spawn({renamed(marker)}, {{}}, setsid=True)\n"
        " except (PermissionError, OSError): break\n"
        f"for n in range(20):\n if C.fork() == 0:\n  C.setsid()\n  os.execv({renamed(marker)})\n"
    )
    ending = outcome(source).ending
    assert ending in {"passed", "failed"}
    assert left_out is not None


@needs_all
@pytest.mark.parametrize("call", ["C.fork()", "C.vfork()", "C.syscall(56, 17, 0, 0, 0, 0)"])
def test_no_process_can_be_started(call: str) -> None:
    """Calls that start one are refused; threads are not."""
    assert outcome(f"{C}assert {call} == -1").ending == "passed"
    threads = "import threading\nt = threading.Thread(target=lambda: None)\nt.start()\nt.join()"
    assert outcome(threads).ending == "passed"


def test_a_lot_of_output(left_out: tuple[str, ...]) -> None:
    """Of a gigabyte that is written to the runner's descriptor, little is read and nothing kept."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    source = (
        f"{C}data = b'x' * 2**20\nfor _ in range(2**10):\n for fd in range(3, 9):\n"
        "  try: os.write(fd, data)\n  except OSError: pass\n"
    )
    result = outcome(source)
    assert (result.ending, result.reason) == ("failed", "wrote more than 16,777,216 bytes")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024
    assert left_out is not None


@needs_all
def test_the_files_of_the_user(tmp_path: Path) -> None:
    """They can be neither written nor read; those of the system can be read."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    for left_out in ((), ("namespaces",)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(local, "_WITHOUT", left_out)
            for source in (f"open({str(secret)!r}).read()", f"open({str(secret)!r}, 'w')"):
                result = outcome(source)
                assert result.ending == "failed", result
                assert result.reason.startswith(("PermissionError", "OSError", "FileNotFoundError"))
            assert outcome("open('/etc/passwd').read(); open('/dev/null', 'w').write('x')").ending == "passed"
    assert secret.read_text() == "secret"


@needs_all
def test_the_disk_is_bounded() -> None:
    """All files together, and their number."""
    source = "for n in range(100):\n with open(f'{n}', 'wb') as file: file.write(bytes(2**22))"
    assert outcome(source).reason == "OSError: [Errno 28] No space left on device"
    many = "for n in range(10**5): open(f'{n}', 'w').close()"
    assert outcome(many).reason.startswith("OSError: [Errno 28] No space left on device")


@needs_all
def test_no_other_process_is_in_sight() -> None:
    """Neither can it be seen, nor signalled."""
    source = (
        f"{C}import glob\n"
        f"assert C.kill({os.getpid()}, 9) == -1\n"
        "assert {path.split('/')[2] for path in glob.glob('/proc/[0-9]*')} <= {'1', '2'}\n"
        "C.kill(1, 9)"
    )
    assert outcome(source).ending == "passed"


@needs_all
@pytest.mark.parametrize(
    "call",
    [
        "C.kill(victim, 9)",
        "C.syscall({'x86_64': 234, 'aarch64': 131}[os.uname().machine], victim, victim, 9)",
        "C.prlimit(victim, 0, (ctypes.c_ulong * 2)(0, 0), None)",
        "C.fcntl(os.open('.', os.O_RDONLY), 8, victim)",
        "C.kill(0, 9)",
    ],
)
def test_seccomp_alone_keeps_other_processes_from_signals(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call is refused; signals and limits for the program itself are not."""
    monkeypatch.setattr(local, "_WITHOUT", ("namespaces", "landlock"))
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as victim:
        try:
            result = outcome(f"{C}victim = {victim.pid}\nassert {call} == -1")
            assert (result.ending, result.isolation) == ("passed", "seccomp")
            assert victim.poll() is None
        finally:
            victim.kill()
    own = "import signal\nsignal.signal(10, lambda *_: None)\nassert C.kill(os.getpid(), 10) == 0"
    assert outcome(f"{C}{own}\nassert C.prlimit(0, 7, None, (ctypes.c_ulong * 2)()) == 0").ending == "passed"


@needs_all
@pytest.mark.parametrize("missing", [NOTHING, ("namespaces", "landlock"), ("namespaces", "seccomp")])
def test_a_program_does_not_run_unprotected_unless_asked(
    missing: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The error names what is missing and both ways on; `--sandbox none` runs the program."""
    monkeypatch.setattr(local, "_WITHOUT", missing)
    job = Job("program", f"open({str(tmp_path / 'ran')!r}, 'w')", 5.0)
    with pytest.raises(SandboxError, match=rf"^without {' or '.join(missing)} it could .*--sandbox none"):
        run(job, LIMITS)
    assert not (tmp_path / "ran").exists()
    with pytest.raises(SandboxError, match="--sandbox docker"):
        SandboxNeeds(programs=SandboxSpec("local")).require()
    SandboxNeeds(programs=SandboxSpec("none")).require()
    programs.use(SandboxSpec("none"))
    try:
        assert programs.run(Job("program", "x = 1", 5.0), LIMITS).ending == "passed"
    finally:
        programs.use(SandboxSpec())
    with pytest.raises(SandboxError, match="enable namespaces"):
        programs.run(job, LIMITS)


@needs_all
def test_landlock_and_seccomp_together_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container, where the kernel makes no namespaces."""
    monkeypatch.setattr(local, "_WITHOUT", ("namespaces",))
    assert run(Job("program", "x = 1", 5.0), LIMITS).ending == "passed"


@pytest.mark.slow
def test_folders_that_are_hard_to_remove(left_out: tuple[str, ...]) -> None:
    """Deep ones, ones without rights, and one in the place of the working folder: all are gone."""
    before = folders()
    nested = f"{C}for _ in range(1500):\n os.mkdir('d' * 100)\n C.chdir(b'd' * 100)\nC.chmod(b'.', 0)"
    assert outcome(nested).ending in {"passed", "failed"}
    replaced = (
        f"{C}import pathlib\nhere = pathlib.Path('.').absolute()\n"
        "C.rename(str(here).encode(), str(here).encode() + b'x')\nC.mkdir(str(here).encode(), 0)"
    )
    assert outcome(replaced).ending in {"passed", "failed"}
    assert left_out is not None
    assert folders() <= before


def test_a_program_that_kills_its_keeper(left_out: tuple[str, ...], marker: str) -> None:
    """The program caused it, and is wrong where it can do so; nothing is left."""
    result = outcome(f"{C}C.kill(os.getppid(), 9)\ntime.sleep(0.2)\nassert '{marker}'")
    assert result.ending in {"passed", "exited"}
    if left_out != NOTHING:
        assert result.ending == "passed" or ALL == [""]
    remove_leftovers()
    assert not folders()


def test_a_program_that_ends_nothing_of_itself(left_out: tuple[str, ...]) -> None:
    """Ignoring every signal does not help it."""
    source = (
        "import signal\n"
        "for n in range(1, 32):\n try: signal.signal(n, signal.SIG_IGN)\n"
        " except (OSError, ValueError): pass\n"
        "import time\nwhile True: time.sleep(1)"
    )
    # Its time is up after it has begun to ignore that, also where it is held up for a while.
    result = outcome(source, wall_s=1.2, timeout_s=0.7)
    assert (result.ending, result.reason) == ("timed_out", "killed after 1.2 s")
    assert left_out is not None


def test_a_grader_that_is_killed_leaves_nothing(
    left_out: tuple[str, ...], tmp_path: Path, marker: str
) -> None:
    """Its program ends with it, and its folder is gone, if only by the next one's doing."""
    started = tmp_path / "started"
    grader = (
        "import sys\n"
        "from loadgen.plugins.sandbox import local\n"
        "from loadgen.plugins.sandbox.job import Job, ProgramLimits\n"
        f"local._WITHOUT = {left_out!r}\n"
        "source = 'import signal, time\\nsignal.signal(14, signal.SIG_IGN)\\nwhile True: time.sleep(1)'\n"
        f"open({str(started)!r}, 'w').close()\n"
        "local.run(Job('program', source, 100.0), ProgramLimits(wall_s=100), unisolated=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", grader, marker], cwd=Path(local.__file__).parents[2]
    ) as process:
        assert eventually(started.exists)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        assert eventually(lambda: bool(children.read_text().split()))
        supervisor = int(children.read_text().split()[0])
        time.sleep(0.2)
        process.send_signal(signal.SIGKILL)
    assert eventually(lambda: is_gone(supervisor))
    remove_leftovers()
    assert not folders()


def test_what_isolated_a_program_is_reported(left_out: tuple[str, ...]) -> None:
    """By the names of what the kernel has."""
    wanted = [name for name in ALL if name not in left_out]
    assert outcome("x = 1").isolation == "+".join(wanted)
