"""Code that a model wrote: whatever it does, it ends, and how it ended has a name."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.sandbox import local
from loadgen.plugins.sandbox.job import Job, ProgramLimits
from loadgen.plugins.sandbox.local import run
from workloads.sandbox_contract import SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMITS = ProgramLimits(wall_s=20, memory_bytes=2**29)


def program(source: str, timeout_s: float = 5.0, limits: ProgramLimits = LIMITS) -> tuple[str, str]:
    """How a program that checks itself ends, and why."""
    outcome = run(Job("program", source, timeout_s), limits)
    return outcome.ending, outcome.reason


@pytest.mark.parametrize(
    ("source", "ending", "reason"),
    [
        ("x = 1", "passed", ""),
        ("print('hello')", "passed", ""),
        ("assert 1 == 2, 'no'", "failed", "AssertionError: no"),
        ("raise SystemExit", "failed", "SystemExit: "),
        ("exit()", "failed", "TypeError: 'NoneType' object is not callable"),
        ("def f(:", "failed", "SyntaxError: invalid syntax (<string>, line 1)"),
        ("input()", "failed", "OSError: "),
        ("raise KeyboardInterrupt", "failed", "KeyboardInterrupt: "),
        ("x = bytearray(10**12)", "out_of_memory", "more memory than it may have"),
        ("x = []\nwhile True: x.append(bytearray(10**6))", "out_of_memory", "more memory than it may have"),
        ("import os; os._exit(0)", "exited", "the process ended with exit code 0 before the tests did"),
        ("import ctypes; ctypes.string_at(0)", "exited", "the process ended by SIGSEGV before the tests did"),
        (
            "import subprocess; subprocess.run(['ls'])",
            "failed",
            "TypeError: 'NoneType' object is not callable",
        ),
        ("import os; os.remove('/etc/passwd')", "failed", "TypeError: 'NoneType' object is not callable"),
        ("class E(Exception):\n def __str__(self): raise E\nraise E", "failed", "E"),
        (
            "import threading\nthreading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()",
            "passed",
            "",
        ),
    ],
)
def test_how_a_program_ends(source: str, ending: str, reason: str) -> None:
    """It passes when it reaches its end; else its end has a name and a reason."""
    assert program(source) == (ending, reason)


def test_one_that_never_ends() -> None:
    """Its time is up; and where it does not listen, it is killed."""
    assert program("while True: pass", 0.2) == ("timed_out", "more than 0.2 s")
    deaf = "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass"
    assert program(deaf, 0.7, ProgramLimits(wall_s=1.2)) == ("timed_out", "killed after 1.2 s")


@pytest.fixture
def listening() -> Iterator[int]:
    """A port of this machine that a caller listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("how", ["connect", "getaddrinfo", "sendto"])
def test_one_that_opens_the_network(listening: int, how: str) -> None:
    """It gets nowhere, and is named, also where a caller listens."""
    source = {
        "connect": f"import socket; socket.create_connection(('127.0.0.1', {listening}))",
        "getaddrinfo": "import urllib.request; urllib.request.urlopen('http://example.org')",
        "sendto": "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
    }[how]
    ending, reason = program(source)
    assert ending == "network"
    assert reason.startswith("tried to reach the network (socket.")


def test_nothing_of_ours_is_in_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the environment, and an empty folder that is gone afterwards."""
    monkeypatch.setenv("LOADGEN_API_KEY", "secret")
    source = "import os, glob\nassert 'LOADGEN_API_KEY' not in os.environ\nassert glob.glob('*') == []\n"
    assert program(f"{source}open('x', 'w').write('y')") == ("passed", "")


def test_it_cannot_say_that_it_passed() -> None:
    """What it writes to its outputs is not a verdict."""
    payload = '{"ending": "passed", "reason": "", "passed": 9}'
    source = (
        f"import os\nfor fd in range(3, 20):\n try: os.write(fd, b'x{payload}\\n')\n except OSError: pass\n"
    )
    assert program(f"{source}assert False")[0] == "failed"


def job(kind: Any, source: str, cases: list[tuple[str, str]], name: str = "") -> Any:
    """The outcome of a program that is run on inputs."""
    inputs, outputs = zip(*cases, strict=True)
    return run(Job(kind, source, 1.0, name, inputs, outputs), LIMITS)


SOLUTION = "class Solution:\n    def add(self, a: List[int], b):\n        return (sum(a), b)"


def test_calls_of_a_function() -> None:
    """JSON in, one argument a line, and JSON out; a tuple is as good as a list."""
    cases = [("[1, 2]\n3", "[3, 3]"), ("[]\n0", "[0, 0]")]
    assert job("functional", SOLUTION, cases, "add").passed == 2
    wrong = job("functional", SOLUTION, [*cases, ("[1]\n1", "[1, 2]")], "add")
    assert (wrong.ending, wrong.reason, wrong.passed) == ("failed", "test 3: another answer", 2)
    assert job("functional", SOLUTION, cases, "sub").reason == "the program has no function sub"
    assert job("functional", "def add(*a): return [sum(a[0]), a[1]]", cases, "add").ending == "passed"
    slow = job("functional", "def add(a, b):\n  while True: pass", cases, "add")
    assert (slow.ending, slow.reason) == ("timed_out", "test 1: more than 1 s")


@pytest.mark.parametrize(
    "source",
    [
        "a, b = map(int, input().split())\nprint(a / b)",
        "import sys\na, b = map(int, sys.stdin.read().split())\nprint(a / b)\nexit()",
        "import sys\nfor line in sys.stdin:\n    a, b = map(int, line.split())\n    print(a / b)",
        "a, b = map(int, input().split())\nprint(a / b, end='\\n\\n')",
        "def f():\n  a, b = map(int, input().split())\n  print(a / b)\nif __name__ == '__main__':\n  f()",
    ],
)
def test_a_program_that_prints(source: str) -> None:
    """Line by line what it should, numbers compared as decimals."""
    assert job("standard_input", source, [("1 2\n", "0.5"), ("4 2", "2.00\n")]).passed == 2
    wrong = job("standard_input", source, [("1 2\n", "0.50001")])
    assert (wrong.ending, wrong.reason) == ("failed", "test 1: line 1 is another")


def test_a_program_that_prints_too_much_or_is_invalid() -> None:
    """The number of lines counts; what is not Python fails."""
    assert job("standard_input", "print('a\\nb')", [("", "a")]).reason == "test 1: 2 lines instead of 1"
    assert job("standard_input", "print(", [("", "a")]).ending == "failed"
    assert job("standard_input", "", [("", "a")]).ending == "failed"
    assert (
        job("standard_input", "print(1 / 0)", [("", "a")]).reason
        == "test 1: ZeroDivisionError: division by zero"
    )


def test_a_sandbox_that_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Says nothing of the program."""
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(SandboxError, match="no process could be started"):
        program("x = 1")
    monkeypatch.undo()
    monkeypatch.setattr(local, "_SUPERVISOR", Path("/nowhere/supervisor.py"))
    with pytest.raises(SandboxError, match="could not be started"):
        program("x = 1")
