"""The start of a program in a container: removes the leftovers of the previous program.

It is run as `python3 -I -c SOURCE HARNESS`, with the job (`job.py`) as JSON on standard input,
by whatever Python the image has, from 3.10 on. It imports the standard library alone.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from typing import Any


def main() -> None:
    """Empty the folders that can be written, then let the runner run the program."""
    job = json.load(sys.stdin)
    remains = leftovers(job.pop("folders"))
    if remains:
        print(f"\n{job['seal']}{json.dumps({'unclean': remains})}", flush=True)  # noqa: T201 (the way out)
        return
    os.chdir(job.pop("folder"))
    # Not `__main__`: what a program imports of that name is its own.
    namespace: dict[str, Any] = {"__name__": "program_runner"}
    exec(compile(sys.argv[1], "program_runner", "exec"), namespace)  # noqa: S102 (our own)
    namespace["main"](job)


def leftovers(folders: list[str]) -> str:
    """Remove the leftovers of an earlier program; return the remaining ones."""
    for path in os.listdir("/proc"):  # noqa: PTH208 (little is imported)
        if path.isdigit() and int(path) != os.getpid() and owner(f"/proc/{path}") == os.getuid():
            return f"process {path}"
    for kind in ("shm", "msg", "sem"):
        with open(f"/proc/sysvipc/{kind}", encoding="ascii") as file:  # noqa: PTH123
            if len(file.readlines()) > 1:
                return f"System V {kind}"
    for folder in filter(os.path.isdir, folders):
        for entry in os.scandir(folder):
            remove(entry.path)
            if os.path.lexists(entry.path):
                return f"{folder}: {entry.name[:80]!r}"
    return ""


def owner(path: str) -> int:
    """The user of a process; -1 for an ended process."""
    try:
        return os.stat(path).st_uid  # noqa: PTH116
    except OSError:
        return -1


def remove(path: str) -> None:
    """Remove a file, or a folder with all contents, regardless of permissions."""

    def allow(function: object, inner: str, _: object) -> None:
        for place in (os.path.dirname(inner), inner):  # noqa: PTH120
            os.chmod(place, stat.S_IRWXU)  # noqa: PTH101
        function(inner)  # type: ignore[operator]

    try:
        if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114
            shutil.rmtree(path, onerror=allow)
        else:
            os.unlink(path)  # noqa: PTH108
    except (OSError, RecursionError, TypeError):
        return


if __name__ == "__main__":
    main()
