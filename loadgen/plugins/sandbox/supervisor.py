"""The process between grader and program: isolates the program, waits, and removes all traces.

It is started as `python -I supervisor.py`. Standard input has the job (`job.py`) as JSON after its length in
eight bytes, and stays open: when it is closed, or the grader is gone, the supervisor ends the program and
itself. What the program's runner says goes to standard output. The supervisor ends as the program did.

With namespaces:    supervisor ── first process of a new namespace ── runner, which runs the program
Without them:       supervisor ── runner

In new namespaces (user, processes, mounts, network, IPC) the program sees no other process, writes to a file
its own system, of bounded size, and ends with the namespace's first process, whatever it has started.
Without them the supervisor adopts and kills what the program leaves, and removes its folder.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

HERE = Path(__file__).parent
PREFIX = "loadgen-sandbox-"
"""What a folder's name begins with; the number of its supervisor follows."""
POLL_S = 0.5
LENGTH = struct.Struct("=Q")
STATUS = struct.Struct("=i")
MOUNT_POINTS = ("/mnt", "/media", "/srv", "/tmp", "/var/tmp")  # noqa: S108 (a file system is mounted over it)


def loaded(name: str) -> ModuleType:
    """A file of this folder as a module, wherever the package is."""
    spec = util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None  # noqa: S101 (the name ends in .py)
    assert spec.loader is not None  # noqa: S101 (as above)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Run the job that standard input has."""
    job = read_job()
    if sys.platform == "linux":
        status = None if "namespaces" in job["without"] else in_namespaces(job)
        if status is None:
            status = in_a_folder(job, loaded("kernel"))
    else:
        status = in_a_folder(job, None)
    end_as(status)


def read_job() -> dict[str, Any]:
    """The job, which leaves standard input open."""
    (length,) = LENGTH.unpack(read_exactly(LENGTH.size))
    job: dict[str, Any] = json.loads(read_exactly(length))
    return job


def read_exactly(size: int) -> bytes:
    """Exactly `size` bytes of standard input; end the process where there are fewer."""
    data = b""
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece:
            os._exit(1)
        data += piece
    return data


def end_as(status: int) -> None:
    """End as another process did."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code not in {signal.SIGKILL, signal.SIGSTOP} else None
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 1)


# With namespaces…


def in_namespaces(job: dict[str, Any]) -> int | None:
    """Run a job in namespaces; return the wait status, or None where the kernel allows none."""
    kernel = loaded("kernel")
    try:
        kernel.new_namespaces(os.getuid(), os.getgid())
    except OSError:
        return None
    reader, writer = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(reader)
        guarded(lambda: first_process(job, kernel, writer))
    os.close(writer)
    wait_for(first, lambda: os.kill(first, signal.SIGKILL))
    status_bytes = os.read(reader, STATUS.size)
    status: int = STATUS.unpack(status_bytes)[0] if len(status_bytes) == STATUS.size else signal.SIGKILL
    return None if status == NO_MOUNTS else status


NO_MOUNTS = -1
"""What the first process says where it could not have a separate file system."""


def guarded(body: Any) -> None:
    """Run a function in a forked process, and exit."""
    try:
        body()
    finally:
        os._exit(1)


def end_with_parent(kernel: ModuleType) -> None:
    """Have the kernel end this process with the parent, which may already be gone, with the grader."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if select.select([0], [], [], 0)[0]:
        os._exit(1)


def first_process(job: dict[str, Any], kernel: ModuleType, writer: int) -> None:
    """Be the first process of the namespace: at the end of this process the kernel ends all others."""
    end_with_parent(kernel)
    try:
        folder = file_system(job, kernel)
    except OSError:
        os.write(writer, STATUS.pack(NO_MOUNTS))
        os._exit(0)
    runner = os.fork()
    if runner == 0:
        os.close(writer)
        guarded(lambda: confined(job, kernel, folder, "namespaces"))
    while True:
        process, status = os.wait()
        if process == runner:
            os.write(writer, STATUS.pack(status))
            os._exit(0)


def file_system(job: dict[str, Any], kernel: ModuleType) -> str:
    """See all files as read-only, and an empty folder of bounded size; return the folder."""
    kernel.make_mounts_private()
    kernel.make_read_only("/")
    kernel.mount_processes()
    point = next(path for path in MOUNT_POINTS if Path(path).is_dir() and not is_needed(path))
    kernel.mount_memory(point, job["disk_bytes"], job["disk_files"])
    os.chdir(point)
    return point


def is_needed(path: str) -> bool:
    """Whether Python has something below a path."""
    return any(Path(needed_path).is_relative_to(path) for needed_path in needed())


def needed() -> list[str]:
    """The folders of Python and of the imported modules."""
    return [str(HERE), sys.prefix, sys.base_prefix, sys.exec_prefix, *filter(None, sys.path)]


SYSTEM = ("/bin", "/etc", "/lib", "/lib32", "/lib64", "/nix", "/opt", "/proc", "/sbin", "/usr")
"""What programs read of a system."""


def refusal(held: list[str]) -> str:
    """Why a program must not run with these protections; empty where the protections suffice."""
    missing = [name for name in ("namespaces", "landlock", "seccomp") if name not in held]
    if "namespaces" not in missing or len(missing) == 1:
        return ""
    lacking = " or ".join(missing)
    return (
        f"without {lacking} it could end this user's processes and change its files; use --sandbox docker, "
        "enable namespaces (docs/sandbox.md), or accept that with --sandbox none"
    )


def confined(job: dict[str, Any], kernel: ModuleType | None, folder: str, isolation: str) -> None:
    """Take the limits on, then run the program in this process."""
    runner = loaded("program_runner")
    job["own_users"] = bool(isolation)
    held = [isolation] if isolation else []
    if kernel is not None:
        end_with_parent(kernel)
        for name, hold in (
            ("landlock", lambda: kernel.landlock(folder, [*SYSTEM, *needed()])),
            ("seccomp", kernel.start_no_process),
        ):
            with suppress(OSError):
                if name not in job["without"]:
                    hold()
                    held.append(name)
        if isolation:
            kernel.drop_capabilities()
    job["isolation"] = "+".join(held)
    job["refusal"] = "" if job.pop("unisolated") else refusal(held)
    runner.main(job)


# Without…


def in_a_folder(job: dict[str, Any], kernel: ModuleType | None) -> int:
    """Run a job in a folder of this file system; return the wait status."""
    if kernel is not None:
        with suppress(OSError):
            kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    # Only the supervisor's: the program has its folder for such files.
    folder = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=os.environ.pop("TMPDIR", None))
    try:
        runner = os.fork()
        if runner == 0:
            os.chdir(folder)
            guarded(lambda: confined(job, kernel, folder, ""))
        return wait_for(runner, lambda: os.kill(runner, signal.SIGKILL))
    finally:
        kill_children()
        remove(folder)


def wait_for(process: int, kill: Any) -> int:
    """Wait for the end of a process, killing the process when standard input closes; return the status."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    poll, killed = select.poll(), False
    poll.register(0, select.POLLIN)
    poll.register(reader, select.POLLIN)
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            signal.set_wakeup_fd(-1)
            return status
        for descriptor, _ in poll.poll(POLL_S * 1000):
            if descriptor == 0 and not killed:
                kill()
                killed = True
                poll.unregister(0)
            elif descriptor == reader:
                os.read(reader, 64)


def kill_children() -> None:
    """Kill all leftovers of the program: orphans are adopted children of this process."""
    while True:
        for child in children():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def children() -> list[int]:
    """The children of this process; none where the system does not tell."""
    try:
        text = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(number) for number in text.split()]


def remove(folder: str) -> None:
    """Remove a folder of any depth, regardless of permissions."""
    for command in (["chmod", "-R", "u+rwx", folder], ["rm", "-rf", folder]):
        with suppress(OSError):
            subprocess.run(command, check=False, stderr=subprocess.DEVNULL)  # noqa: S603
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
