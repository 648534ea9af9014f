"""Children that are copies of this process: what they take over, and how they end."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")

_PROGRAM = """
import os, signal, socket, subprocess, sys, threading, time
from loadgen.driver.system.fork import ForkedProcess, can_fork

assert can_fork()
os.environ["LOADGEN_API_KEY"] = "secret"
ours, theirs = socket.socketpair()
ours.settimeout(60)
print("not yet flushed", end="")

def leads_nowhere(link):
    return not os.path.exists(link) or os.readlink(link) == os.devnull

def tell():
    comm = open("/proc/self/comm").read().strip()
    has_key = "LOADGEN_API_KEY" in os.environ
    links = {int(number): f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")}
    descriptors = [number for number, link in sorted(links.items()) if not leads_nowhere(link)]
    theirs.sendall(repr((comm, has_key, descriptors)).encode())
    print("goes nowhere", flush=True)
    sys.exit("what went wrong")

child = ForkedProcess("a-child", tell, keep=(theirs.fileno(),), without=("LOADGEN_API_KEY",))
assert child.wait(60) == child.wait() == 1
assert eval(ours.recv(1000)) == ("a-child", False, [2, theirs.fileno()])

child = ForkedProcess("sleeper", lambda: time.sleep(600), keep=())
try:
    child.wait(0.01)
except subprocess.TimeoutExpired:
    child.kill()
assert child.wait() == -signal.SIGKILL
assert ForkedProcess("failing", lambda: 1 / 0, keep=()).wait() == 1
assert ForkedProcess("working", lambda: None, keep=()).wait() == 0

waiting = threading.Event()
threading.Thread(target=waiting.wait).start()
assert not can_fork()
waiting.set()
"""


def test_a_child_has_what_it_is_given_and_nothing_else() -> None:
    """Descriptors, environment and output are its own, errors are shown; with two threads there is none."""
    ended = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "not yet flushed"), ended.stderr
    assert ended.stderr.startswith("what went wrong\nTraceback")
    assert "ZeroDivisionError" in ended.stderr
