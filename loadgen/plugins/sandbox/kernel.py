"""Linux' means of confining a process: namespaces, a private file system, Landlock, seccomp.

Each function raises `OSError` where the kernel refuses. It imports the standard library alone, for it is
loaded into the process in which the program runs.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import socket
import struct
import sys
from contextlib import suppress

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
MNT_DETACH = 2

SIOCSIFFLAGS, IFF_UP = 0x8914, 1

# Calls that libc has no function for have the same number on every architecture since Linux 5.1.
SYS_MOUNT_SETATTR = 442
SYS_LANDLOCK_CREATE_RULESET, SYS_LANDLOCK_ADD_RULE, SYS_LANDLOCK_RESTRICT_SELF = 444, 445, 446
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID = 1, 2

LANDLOCK_VERSION = 1
LANDLOCK_PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
READ = EXECUTE | READ_FILE | READ_DIR
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""All rights to files that a version of Landlock knows, by the version that brought them."""
_SCOPED_SINCE = 6
_SCOPES = 3
"""Abstract sockets and signals stay within the domain."""

_ARCHITECTURES: dict[str, tuple[int, dict[str, tuple[int, ...]]]] = {
    "x86_64": (
        0xC000003E,
        {
            "clone": (56,),
            "refused": (57, 58, 101, 272, 308, 321, 298, 425, 310, 311, 200, 424, 438),
            "to_self": (62, 234, 129, 297, 302),
            "owner": (72, 16),
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "clone": (220,),
            "refused": (117, 97, 268, 280, 241, 425, 270, 271, 130, 424, 438),
            "to_self": (129, 131, 138, 240, 261),
            "owner": (25, 29),
        },
    ),
}
"""The audit name and the numbers of each system call, by asm-generic/unistd.h and syscall_64.tbl:
`refused`: fork, vfork, ptrace, unshare, setns, bpf, perf_event_open, io_uring_setup, process_vm_readv and
_writev, tkill, pidfd_send_signal, pidfd_getfd;
`to_self`, for this process alone: kill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo, prlimit64;
`owner`: fcntl, ioctl, which can name the process that gets a signal when a file is ready."""
_SET_OWNER = (8, 15, 0x8901, 0x8902)
"""F_SETOWN and F_SETOWN_EX of fcntl, FIOSETOWN and SIOCSPGRP of ioctl."""
_CLONE3 = 435
_CLONE_THREAD = 0x00010000
_X32_BIT = 0x40000000

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, name: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def _syscall(name: str, number: int, *arguments: object) -> int:
    return _checked(_libc.syscall(ctypes.c_long(number), *arguments), name)


def prctl(option: int, value: int, more: object = 0) -> None:
    """Set an attribute of this process."""
    _checked(_libc.prctl(option, ctypes.c_ulong(value), more, 0, 0), "prctl")


def new_namespaces(uid: int, gid: int) -> None:
    """Leave all namespaces for new ones, in which this user and group remain, and no other.

    Of processes, the next child is the first of the new namespace.
    """
    flags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC
    _checked(_libc.unshare(flags), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="utf-8") as file:  # noqa: PTH123 (nothing more is loaded)
            file.write(text)


def make_mounts_private() -> None:
    """Let no mount reach another namespace."""
    _mount(None, "/", None, MS_REC | MS_PRIVATE, None)


def make_read_only(path: str) -> None:
    """Let no process of this namespace write below a path."""
    attributes = struct.pack("=QQQQ", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, 0, 0, 0)
    _syscall(
        "mount_setattr",
        SYS_MOUNT_SETATTR,
        ctypes.c_int(AT_FDCWD),
        ctypes.c_char_p(path.encode()),
        ctypes.c_uint(AT_RECURSIVE),
        ctypes.c_char_p(attributes),
        ctypes.c_size_t(len(attributes)),
    )


def mount_memory(path: str, size_bytes: int, most_files: int) -> None:
    """Put an empty file system of bounded size over a folder."""
    options = f"size={size_bytes},nr_inodes={most_files},mode=700"
    _mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options)


def mount_processes() -> None:
    """Let /proc have the processes of this namespace alone; none where that is not possible."""
    try:
        _mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, None)
    except OSError:
        mount_memory("/proc", 4096, 2)


def bind(path: str, other: str) -> None:
    """Show the contents of a path at another path too."""
    _mount(path, other, None, MS_BIND | MS_REC, None)


def change_root(path: str, old: str) -> None:
    """Make a mounted folder the root, and show the old root in a folder below."""
    _checked(_libc.pivot_root(path.encode(), old.encode()), f"pivot_root {path}")
    os.chdir("/")


def detach(path: str) -> None:
    """Detach a file system with all mounts below."""
    _checked(_libc.umount2(path.encode(), MNT_DETACH), f"umount {path}")


def loopback_up() -> None:
    """Let programs of this network namespace reach each other at 127.0.0.1."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        fcntl.ioctl(channel, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None) -> None:
    texts = [None if text is None else text.encode() for text in (source, target, kind, options)]
    _checked(_libc.mount(*texts[:3], ctypes.c_ulong(flags), texts[3]), f"mount {target}")


def drop_capabilities() -> None:
    """Have no right that other processes of the user do not have."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno == errno.EINVAL:  # the kernel has no further one
                break
    header = struct.pack("=Ii", 0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
    _checked(_libc.capset(ctypes.c_char_p(header), ctypes.c_char_p(bytes(24))), "capset")


def landlock(folder: str, readable: list[str]) -> None:
    """Allow access only to files below a folder, and, for reading, below some paths; no signals to others.

    Permanently, for this process and all that it starts. Documentation/userspace-api/landlock.rst of Linux.

    Args:
        folder: Where everything is allowed.
        readable: What can be read; paths that do not exist are left out.
    """
    version = _syscall("landlock", SYS_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), LANDLOCK_VERSION)
    rights = max(right for since, right in _RIGHTS.items() if since <= version)
    attributes = struct.pack("=QQQ", rights, 0, _SCOPES if version >= _SCOPED_SINCE else 0)
    size = len(attributes) if version >= _SCOPED_SINCE else 8
    ruleset = _syscall(
        "landlock",
        SYS_LANDLOCK_CREATE_RULESET,
        ctypes.c_char_p(attributes),
        ctypes.c_size_t(size),
        ctypes.c_uint(0),
    )
    try:
        _allow(ruleset, folder, rights)
        for path in readable:
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                _allow(ruleset, path, READ & rights if os.path.isdir(path) else READ_FILE)  # noqa: PTH112
        for device in ("null", "zero", "full", "random", "urandom"):
            with suppress(FileNotFoundError):
                _allow(ruleset, f"/dev/{device}", READ_FILE | WRITE_FILE)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        _syscall("landlock", SYS_LANDLOCK_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint(0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("=Qi", rights, descriptor)
        _syscall(
            "landlock",
            SYS_LANDLOCK_ADD_RULE,
            ctypes.c_int(ruleset),
            ctypes.c_int(LANDLOCK_PATH_BENEATH),
            ctypes.c_char_p(rule),
            ctypes.c_uint(0),
        )
    finally:
        os.close(descriptor)


def start_no_process() -> None:
    """Forbid new processes permanently (threads stay allowed), and access to other processes.

    Raises:
        OSError: The kernel has no seccomp, or the architecture is not known here.
    """
    architecture = _ARCHITECTURES.get(platform.machine())
    if architecture is None or sys.maxsize < 2**32:
        raise OSError(errno.ENOSYS, f"seccomp: {platform.machine()}: numbers of calls are not known")
    program = _filter(*architecture, os.getpid())
    code = ctypes.create_string_buffer(b"".join(program))
    head = struct.pack("@HxxxxxxQ" if sys.maxsize > 2**32 else "@HxxI", len(program), ctypes.addressof(code))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(head))


def _filter(audit: int, numbers: dict[str, tuple[int, ...]], own: int) -> list[bytes]:
    """A filter as instructions of BPF (include/uapi/linux/filter.h)."""
    load, equal, at_least, has_bits, answer = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, kill, not_permitted, not_there = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026

    def step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
        return struct.pack("=HBBI", code, if_true, if_false, value)

    def by_argument(
        number: int, place: int, values: tuple[int, ...], if_listed: int, otherwise: int
    ) -> list[bytes]:
        """Answer by whether an argument is among the values."""
        count = len(values)
        return [
            step(equal, number, 0, count + 3),
            step(load, 16 + 8 * place),
            *(step(equal, value, count - index) for index, value in enumerate(values)),
            step(answer, otherwise),
            step(answer, if_listed),
        ]

    steps = [
        step(load, 4),  # the architecture
        step(equal, audit, 1, 0),
        step(answer, kill),
        step(load, 0),  # the call
        step(at_least, _X32_BIT, 0, 1),
        step(answer, not_permitted),
        # glibc falls back to clone, whose flags can be seen.
        step(equal, _CLONE3, 0, 1),
        step(answer, not_there),
    ]
    for number in numbers["refused"]:
        steps += [step(equal, number, 0, 1), step(answer, not_permitted)]
    *signals, limits = numbers["to_self"]
    for number in signals:
        steps += by_argument(number, 0, (own,), allow, not_permitted)
    steps += by_argument(limits, 0, (0, own), allow, not_permitted)
    for number in numbers["owner"]:
        steps += by_argument(number, 1, _SET_OWNER, not_permitted, allow)
    return [
        *steps,
        step(equal, numbers["clone"][0], 0, 3),
        step(load, 16),  # the first argument
        step(has_bits, _CLONE_THREAD, 1, 0),
        step(answer, not_permitted),
        step(answer, allow),
    ]
