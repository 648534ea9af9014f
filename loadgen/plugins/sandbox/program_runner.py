"""The runner around a program in the program's process: limits, the run, and the verdict.

The supervisor loads it into the process of the program (`supervisor.py`); it imports the standard
library alone. It says that it begins, and how the program ended, in lines that begin with the job's seal.

The rules of the kinds are those of openai/human-eval (`execution.py`) for `program`, and of
LiveCodeBench/LiveCodeBench (`lcb_runner/evaluation/testing_util.py`) for the other two.
"""

from __future__ import annotations

import ast
import builtins
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from decimal import Decimal, InvalidOperation
from types import ModuleType
from typing import Any

STARS = (
    "string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random", "statistics",
    "itertools", "functools", "operator", "io", "sys", "json", "builtins", "typing",
)  # fmt: skip
PRELUDE = "".join(f"from {name} import *\n" for name in STARS)
PRELUDE += "".join(f"import {name}\n" for name in STARS if name not in {"builtins", "typing"})
PRELUDE += "sys.setrecursionlimit(50000)\n"
"""What LiveCodeBench puts before every program."""

NETWORK = frozenset(
    {
        "socket.bind",
        "socket.connect",
        "socket.getaddrinfo",
        "socket.gethostbyaddr",
        "socket.gethostbyname",
        "socket.getnameinfo",
        "socket.sendmsg",
        "socket.sendto",
    }
)
"""The interpreter's audit events for attempts to reach the network."""

TAKEN_OF_OS = (
    "kill", "system", "putenv", "remove", "removedirs", "rmdir", "fchdir", "setuid", "fork", "forkpty",
    "killpg", "rename", "renames", "truncate", "replace", "unlink", "fchmod", "fchown", "chmod",
    "chown", "chroot", "lchflags", "lchmod", "lchown", "getcwd", "chdir",
)  # fmt: skip
TAKEN_MODULES = ("ipdb", "joblib", "resource", "psutil", "tkinter")


class ProgramTimeUpError(Exception):
    """The time of the program, or of one test, is up."""


class ProgramVerdict(Exception):  # noqa: N818 (how a program ended, not an error of this one)
    """The ending of a program that did not simply pass."""

    def __init__(self, ending: str, reason: str, passed: int = 0) -> None:
        super().__init__(reason)
        self.payload = {"ending": ending, "reason": reason, "passed": passed}


class Reached:
    """Whether the program tried to reach the network."""

    tried = ""


def main(job: dict[str, Any]) -> None:
    """Run a job, and end this process."""
    seal, voice = job.pop("seal"), os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.closerange(3, voice.fileno())
    os.closerange(voice.fileno() + 1, MOST_DESCRIPTORS)
    say(voice, seal, {"isolation": job.pop("isolation", "")})
    refusal = job.pop("refusal", "")
    try:
        confine(job)
        payload = {"ending": "broken", "reason": refusal, "passed": 0} if refusal else judged(job)
    except OSError as error:
        payload = {"ending": "broken", "reason": f"the limits cannot be set ({error})", "passed": 0}
    say(voice, seal, payload)
    # Threads that the program has left do not keep the process alive.
    os.kill = _KILL
    os.kill(os.getpid(), signal.SIGKILL)


_KILL = os.kill
MOST_DESCRIPTORS = 1024


def say(voice: Any, seal: str, payload: dict[str, Any]) -> None:
    """Write a line that the grader reads."""
    voice.write(f"\n{seal}{json.dumps(payload)}\n")
    voice.flush()


def judged(job: dict[str, Any]) -> dict[str, Any]:
    """The verdict on the program. Exceptions belong to the program."""
    try:
        passed = KINDS[job["kind"]](job)
    except ProgramVerdict as verdict:
        payload = verdict.payload
    except ProgramTimeUpError:
        payload = {"ending": "timed_out", "reason": f"more than {job['timeout_s']:g} s", "passed": 0}
    except MemoryError:
        payload = {"ending": "out_of_memory", "reason": "more memory than it may have", "passed": 0}
    except BaseException as error:  # noqa: BLE001 (SystemExit among them: it fails)
        payload = {"ending": "failed", "reason": error_line(error), "passed": 0}
    else:
        payload = {"ending": "passed", "reason": "", "passed": passed}
    if Reached.tried and payload["ending"] != "passed":
        payload |= {"ending": "network", "reason": f"tried to reach the network ({Reached.tried})"}
    return payload


def error_line(error: BaseException) -> str:
    """An exception in a line."""
    try:
        return f"{type(error).__name__}: {error}"[:300].encode(errors="replace").decode()
    except Exception:  # noqa: BLE001 (its text is the program's too)
        return type(error).__name__


# Limits…


def confine(job: dict[str, Any]) -> None:
    """Set the limits, leave the network, and disable harmful functions."""
    for limit, maximum in (
        (resource.RLIMIT_AS, job["memory_bytes"]),
        (resource.RLIMIT_FSIZE, job["file_bytes"]),
        (resource.RLIMIT_NOFILE, job["files"]),
        (resource.RLIMIT_CPU, job["cpu_s"]),
        (resource.RLIMIT_CORE, 0),
        *([(resource.RLIMIT_NPROC, job["processes"])] if job["own_users"] else []),
    ):
        _, hard = resource.getrlimit(limit)
        may = maximum if hard == resource.RLIM_INFINITY else min(maximum, hard)
        # macOS has no limit of address space to set.
        if sys.platform != "darwin" or limit != resource.RLIMIT_AS:
            resource.setrlimit(limit, (may, may))
    notice_network()
    for name in TAKEN_OF_OS:
        setattr(os, name, None)
    for name in ("rmtree", "move", "chown"):
        setattr(shutil, name, None)
    subprocess.Popen = None  # type: ignore[assignment,misc]  # this is the point
    for name in ("exit", "quit", "help") if job["kind"] == "program" else ("quit", "help"):
        setattr(builtins, name, None)
    for name in TAKEN_MODULES:
        sys.modules[name] = None  # type: ignore[assignment]  # an import of it fails


def notice_network() -> None:
    """Refuse every attempt to reach the network, and record the attempted name."""

    def notice(event: str, _: object) -> None:
        if event in NETWORK:
            Reached.tried = Reached.tried or event
            raise PermissionError(f"{event}: the sandbox has no network")

    sys.addaudithook(notice)


def within(seconds: float) -> None:
    """Raise `ProgramTimeUpError` in the program after a time; 0 cancels the timer."""

    def ring(*_: object) -> None:
        raise ProgramTimeUpError

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)


# Kinds…


class Silent(io.StringIO):
    """The streams of a program: unreadable."""

    def read(self, *_: Any, **__: Any) -> str:
        """Refuse."""
        raise OSError

    readline = readlines = read  # type: ignore[assignment]  # all alike

    def readable(self) -> bool:
        """Report the stream as unreadable."""
        return False


def run_program(job: dict[str, Any]) -> int:
    """A self-checking program: passes by reaching the end."""
    streams = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = sys.stdout = sys.stderr = Silent()
    try:
        within(job["timeout_s"])
        exec(job["source"], {})  # noqa: S102 (what all this is for)
    finally:
        within(0)
        sys.stdin, sys.stdout, sys.stderr = streams
    return 1


def run_calls(job: dict[str, Any]) -> int:
    """A function with expected results: JSON in, JSON out."""
    whole = PRELUDE + "\n\n" + job["source"]
    module = ModuleType("tmp_sol", "")
    within(job["timeout_s"])
    exec(whole, module.__dict__)  # noqa: S102 (what all this is for)
    within(0)
    holder = module.Solution() if "class Solution" in whole else module
    function = getattr(holder, job["name"], None)
    if function is None:
        raise ProgramVerdict("failed", f"the program has no function {job['name']}")
    arguments = [[json.loads(line) for line in text.split("\n")] for text in job["inputs"]]
    wanted = [json.loads(text) for text in job["outputs"]]
    passed = 0
    for arguments_of_call, right in zip(arguments, wanted, strict=False):
        with Test(job, passed):
            answer = function(*arguments_of_call)
            within(0)
            if not (list(answer) if isinstance(answer, tuple) else answer) == right:
                raise ProgramVerdict("failed", f"test {passed + 1}: another answer", passed)
        passed += 1
    return passed


def run_inputs(job: dict[str, Any]) -> int:
    """A program with expected output."""
    module = ModuleType("tmp_sol", "")
    within(job["timeout_s"])
    exec(as_function(without_guard(job["source"])), module.__dict__)  # noqa: S102 (what all this is for)
    within(0)
    function = getattr(module, "wrapped_function", None)
    if function is None:
        raise ProgramVerdict("failed", "the source is not Python")
    passed = 0
    for text, right in zip(job["inputs"], job["outputs"], strict=False):
        with Test(job, passed):
            require_alike(printed(function, text), right, passed)
        passed += 1
    return passed


KINDS = {"program": run_program, "functional": run_calls, "standard_input": run_inputs}


class Test:
    """The time limit of one test, and the outcome of an exception."""

    def __init__(self, job: dict[str, Any], passed: int) -> None:
        self._job = job
        self._passed = passed

    def __enter__(self) -> None:
        within(self._job["timeout_s"])

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        within(0)
        if error is None or isinstance(error, ProgramVerdict):
            return
        where = f"test {self._passed + 1}: "
        if isinstance(error, ProgramTimeUpError):
            raise ProgramVerdict("timed_out", f"{where}more than {self._job['timeout_s']:g} s", self._passed)
        if isinstance(error, MemoryError):
            raise ProgramVerdict("out_of_memory", f"{where}more memory than it may have", self._passed)
        raise ProgramVerdict("failed", where + error_line(error), self._passed)


def printed(function: Any, text: str) -> str:
    """The output of a program for an input. `SystemExit` is a normal end."""
    lines = iter(text.split("\n"))
    stdin: Any = io.StringIO(text)
    # A line that is read alone has no end of line, and so an empty one looks like the end of the file.
    stdin.readline = lambda *_: next(lines)
    stdin.readlines = lambda *_: text.split("\n")
    stdin.read = lambda *_: text
    stdin.buffer = io.BytesIO(text.encode())
    stdout = io.StringIO()
    stdout.close = lambda: None  # type: ignore[method-assign]  # a program may close it
    streams = sys.stdin, sys.stdout
    sys.stdin, sys.stdout = stdin, stdout
    try:
        function()
    except SystemExit:
        pass
    finally:
        sys.stdin, sys.stdout = streams
    return stdout.getvalue()


def without_guard(source: str) -> str:
    """The source with the body of the last `if __name__ == '__main__'` unguarded."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    last = body[-1] if body else None
    if not isinstance(last, ast.If) or ast.unparse(last.test).strip() != "__name__ == '__main__'":
        return source
    return _text(body[:-1]) + "\n" + _text(last.body)


def as_function(source: str) -> str:
    """The source as the body of a function, after the imports; unchanged if not Python."""
    try:
        body = ast.parse(source).body
        imports = [statement for statement in body if isinstance(statement, ast.Import | ast.ImportFrom)]
        others = [statement for statement in body if not isinstance(statement, ast.Import | ast.ImportFrom)]
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        function = ast.FunctionDef(
            name="wrapped_function", args=nothing, body=others, decorator_list=[], lineno=-1
        )
        return PRELUDE + "\n" + _text([*imports]) + "\n" + ast.unparse(function)
    except Exception:  # noqa: BLE001 (whatever cannot be read is compiled as it is, and fails there)
        return source


def _text(body: list[ast.stmt]) -> str:
    return ast.unparse(ast.Module(body=body, type_ignores=[]))


def require_alike(answer: str, right: str, passed: int) -> None:
    """Compare the output with the expected output: line by line, numbers as decimals."""
    lines, wanted = ([line.strip() for line in text.strip().split("\n")] for text in (answer, right))
    if len(lines) != len(wanted):
        raise ProgramVerdict(
            "failed", f"test {passed + 1}: {len(lines)} lines instead of {len(wanted)}", passed
        )
    for number, (line, want) in enumerate(zip(lines, wanted, strict=True), start=1):
        if line != want and (decimals(line) is None or decimals(line) != decimals(want)):
            raise ProgramVerdict("failed", f"test {passed + 1}: line {number} is another", passed)


def decimals(line: str) -> list[Decimal] | None:
    """The numbers of a line; None for any other content."""
    try:
        return [Decimal(word) for word in line.split()]
    except (InvalidOperation, ValueError):
        return None
