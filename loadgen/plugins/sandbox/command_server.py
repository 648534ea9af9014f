"""Runs commands, one after the other, in separate namespaces: the process behind `LocalSandbox`.

It is started as `python -I command_server.py`. Standard input has messages (`message` says how); the first
one has the limits, each further one is a command. Replies go to standard output. It ends when standard input
is closed, and with it everything that was started and written:

    this process ── first process of new namespaces ── commands, and what they start

The first process builds its own root: the system's folders as read-only, an empty `/tmp` and working
folder in memory, and nothing else of this machine. Commands have no capabilities and no network. It imports
the standard library alone.
"""

from __future__ import annotations

import json
import os
import pwd
import resource
import select
import signal
import struct
import time
from contextlib import suppress
from importlib import util
from pathlib import Path
from typing import Any

LENGTH = struct.Struct("=II")
"""Before a message: the length of its JSON, and of the bytes that follow it."""
ROOT = "/tmp"  # noqa: S108 (where the new root is mounted, in separate namespaces)
SYSTEM = ("/bin", "/etc", "/lib", "/lib32", "/lib64", "/nix", "/opt", "/sbin", "/usr")
DEVICES = ("full", "null", "random", "urandom", "zero")
MOST_DESCRIPTORS = 1024
DRAIN_S = 0.1
"""How long output is awaited of those who hold a stream although the command has ended."""
PIECE = 2**16


def loaded(name: str) -> Any:
    """A file of this folder as a module, wherever the package is."""
    spec = util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None  # noqa: S101 (the name ends in .py)
    assert spec.loader is not None  # noqa: S101 (as above)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Modules:
    """The further files that the server needs, loaded before the change of root."""

    def __init__(self) -> None:
        self.kernel = loaded("kernel")
        self.bounded = loaded("bounded_output").BoundedOutput


def main() -> None:
    """Serve until standard input is closed."""
    settings, _ = read_message()
    modules = Modules()
    kernel = modules.kernel
    try:
        drop_root(kernel)
        kernel.new_namespaces(os.getuid(), os.getgid())
    except OSError as error:
        send_message({"error": f"the kernel gives this user no namespaces ({error})"})
        return
    first = os.fork()
    if first == 0:
        try:
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
            first_process(settings, modules)
        finally:
            os._exit(1)
    os.close(0)
    os.close(1)
    os.waitpid(first, 0)


def read_message() -> tuple[dict[str, Any], bytes]:
    """The next message; ends the process where there is none."""
    size, more = LENGTH.unpack(read_exactly(LENGTH.size))
    payload: dict[str, Any] = json.loads(read_exactly(size))
    return payload, read_exactly(more)


def read_exactly(size: int) -> bytes:
    """Exactly `size` bytes of standard input; end the process where there are fewer."""
    data = bytearray()
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece:
            os._exit(0)
        data += piece
    return bytes(data)


def send_message(payload: dict[str, Any], *streams: bytes) -> None:
    """Write a reply: JSON, followed by the streams."""
    text = json.dumps(payload).encode()
    more = b"".join(streams)
    data = memoryview(LENGTH.pack(len(text), len(more)) + text + more)
    while data:
        data = data[os.write(1, data) :]


def drop_root(kernel: Any) -> None:
    """Change root to a user without possessions: limits of processes do not apply to root."""
    if os.getuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.setgroups([])
        os.setresgid(nobody.pw_gid, nobody.pw_gid, nobody.pw_gid)
        os.setresuid(nobody.pw_uid, nobody.pw_uid, nobody.pw_uid)
        # Else /proc/self, where users are mapped, would be root's still.
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)


# In the namespaces…


def first_process(settings: dict[str, Any], modules: Modules) -> None:
    """Be the first process of the namespace: at the end of this process the kernel ends all others."""
    try:
        new_root(settings, modules.kernel)
        # Nothing that runs here may look into this process.
        modules.kernel.prctl(modules.kernel.PR_SET_DUMPABLE, 0)
    except OSError as error:
        send_message({"error": f"the kernel gives this user no mounts ({error})"})
        return
    send_message({"ready": True})
    while True:
        request, stdin = read_message()
        try:
            payload, streams = RunningCommand(settings, request, modules).run(stdin)
        except OSError as error:
            payload, streams = {"error": f"the command could not be started ({error})"}, ()
        send_message(payload, *streams)


def new_root(settings: dict[str, Any], kernel: Any) -> None:
    """See the folders of the system as read-only, an empty `/tmp` and working folder, and nothing else."""
    kernel.make_mounts_private()
    kernel.mount_memory(ROOT, settings["disk_bytes"], settings["disk_files"])
    for path in SYSTEM:
        if os.path.islink(path):  # noqa: PTH114 (this file imports little)
            os.symlink(os.readlink(path), ROOT + path)  # noqa: PTH115, PTH211
        elif os.path.isdir(path):  # noqa: PTH112
            os.mkdir(ROOT + path)  # noqa: PTH102
            kernel.bind(path, ROOT + path)
            kernel.make_read_only(ROOT + path)
    for path in ("/dev", "/dev/shm", "/proc", "/tmp", "/old"):  # noqa: S108 (of the new root)
        os.mkdir(ROOT + path)  # noqa: PTH102
    for name in DEVICES:
        os.close(os.open(f"{ROOT}/dev/{name}", os.O_CREAT | os.O_WRONLY))
        kernel.bind(f"/dev/{name}", f"{ROOT}/dev/{name}")
    os.makedirs(ROOT + settings["folder"], exist_ok=True)  # noqa: PTH103
    kernel.change_root(ROOT, f"{ROOT}/old")
    # While the old one can be seen still: else the kernel gives none.
    kernel.mount_processes()
    kernel.detach("/old")
    kernel.loopback_up()
    with suppress(OSError):
        Path("/proc/sys/user/max_user_namespaces").write_text("0", encoding="utf-8")


class RunningCommand:
    """One command.

    Args:
        modules: The files of this folder that it takes: they cannot be read any more.
    """

    def __init__(self, settings: dict[str, Any], request: dict[str, Any], modules: Modules) -> None:
        self._settings = settings
        self._request = request
        self._kernel = modules.kernel
        self._output = modules.bounded(request["output_bytes"])
        self._errors = modules.bounded(request["output_bytes"])

    def run(self, stdin: bytes) -> tuple[dict[str, Any], tuple[bytes, ...]]:
        """Run the command to the end; return the reply."""
        since = time.monotonic()
        pipes = [os.pipe() for _ in range(3)]
        (stdin_reader, writer), (output, output_writer), (errors, errors_writer) = pipes
        theirs = (stdin_reader, output_writer, errors_writer)
        process = os.fork()
        if process == 0:
            self._become(theirs)
        for descriptor in theirs:
            os.close(descriptor)
        streams = Streams(writer, memoryview(stdin), {output: self._output, errors: self._errors})
        ending, status = self._supervise(process, streams, since + self._request["timeout_s"])
        streams.close()
        code = os.waitstatus_to_exitcode(status) if ending == "exited" else None
        contents = self._output.content, self._errors.content
        payload = {
            "ending": ending,
            "exit_code": 128 - code if code is not None and code < 0 else code,
            "seconds": time.monotonic() - since,
            "stdout_size": len(contents[0]),
            "stdout_total": self._output.total,
        }
        return payload, contents

    def _become(self, ends: tuple[int, ...]) -> None:
        """Become the command, in the forked process."""
        try:
            os.setsid()
            for number, descriptor in enumerate(ends):
                os.dup2(descriptor, number)
            os.closerange(3, MOST_DESCRIPTORS)
            os.chdir(self._settings["folder"])
            self._confine()
            command = self._request["command"]
            os.execvpe(command[0], command, self._settings["environment"])  # noqa: S606
        except OSError as error:
            os.write(2, f"{self._request['command'][0]}: {error.strerror}\n".encode())
        finally:
            os._exit(127)

    def _confine(self) -> None:
        for limit, wanted in (
            (resource.RLIMIT_AS, self._settings["memory_bytes"]),
            (resource.RLIMIT_NPROC, self._settings["processes"]),
            (resource.RLIMIT_NOFILE, MOST_DESCRIPTORS),
            (resource.RLIMIT_CORE, 0),
        ):
            _, hard = resource.getrlimit(limit)
            may = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(limit, (may, may))
        self._kernel.drop_capabilities()
        self._kernel.prctl(self._kernel.PR_SET_NO_NEW_PRIVS, 1)
        # Python ignores it, and what is ignored stays so.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)

    def _supervise(self, process: int, streams: Streams, deadline: float) -> tuple[str, int]:
        """Await the end of a command, or end everything; return the ending and the wait status."""
        over = os.pidfd_open(process)
        streams.poll.register(over, select.POLLIN)
        status, ending = None, "exited"
        while status is None or streams.readers:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                ending = "timed_out" if status is None else ending
                break
            if streams.serve(left_s, over) and status is None:
                _, status = os.waitpid(process, 0)
                streams.poll.unregister(over)
                deadline = min(deadline, time.monotonic() + DRAIN_S)
            if max(self._output.total, self._errors.total) > self._settings["most_output_bytes"]:
                ending = "too_much_output"
                break
        os.close(over)
        if ending != "exited":
            # All but this process: the kernel holds every fork until it is done.
            os.kill(-1, signal.SIGKILL)
        if status is None:
            _, status = os.waitpid(process, 0)
        reap()
        return ending, status


class Streams:
    """The streams of a command, in this process."""

    def __init__(self, writer: int, stdin: memoryview, readers: dict[int, Any]) -> None:
        self._writer: int | None = writer
        self._stdin = stdin
        self.readers = readers
        self.poll = select.poll()
        for descriptor in readers:
            self.poll.register(descriptor, select.POLLIN)
        os.set_blocking(writer, False)
        self.poll.register(writer, select.POLLOUT)
        # Messages come one at a time: all that can come now is the end.
        self.poll.register(0, select.POLLHUP)

    def serve(self, timeout_s: float, awaited: int) -> bool:
        """Wait, write and read; return whether a further descriptor is ready."""
        ready = {descriptor for descriptor, _ in self.poll.poll(timeout_s * 1000)}
        if 0 in ready:
            os._exit(0)
        if self._writer in ready:
            self._write()
        for descriptor in ready & self.readers.keys():
            piece = os.read(descriptor, PIECE)
            self.readers[descriptor].add(piece)
            if not piece:
                self._forget(descriptor)
        return awaited in ready

    def close(self) -> None:
        """Close the open descriptors."""
        if self._writer is not None:
            os.close(self._writer)
        for descriptor in list(self.readers):
            self._forget(descriptor)

    def _write(self) -> None:
        assert self._writer is not None  # noqa: S101 (it was ready)
        try:
            self._stdin = self._stdin[os.write(self._writer, self._stdin) :] if self._stdin else self._stdin
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._stdin = self._stdin[:0]
        if not self._stdin:
            self.poll.unregister(self._writer)
            os.close(self._writer)
            self._writer = None

    def _forget(self, descriptor: int) -> None:
        self.poll.unregister(descriptor)
        os.close(descriptor)
        del self.readers[descriptor]


def reap() -> None:
    """Collect the statuses of orphaned processes."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


if __name__ == "__main__":
    main()
