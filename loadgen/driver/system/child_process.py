"""Child processes that run a module of this program, and their exit statuses in words."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def start_child(
    module: str, *arguments: str, environment: Mapping[str, str], **options: Any
) -> subprocess.Popen[bytes]:
    """Start a process that runs a module, by default without input and output, or raise OSError."""
    quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    return subprocess.Popen(  # noqa: S603 (this very program)
        command(module, *arguments), env=variables(environment), **(quiet | options)
    )


def command(module: str, *arguments: str) -> list[str]:
    """The command line that runs a module, never a file of equal name in the working folder.

    Arguments hold no secret: every user of the machine can read a command line.
    """
    return [sys.executable, "-P", "-m", module, *arguments]


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of an environment with this process' import paths."""
    return {**environment, "PYTHONPATH": os.pathsep.join(sys.path)}


def exit_status(code: int) -> str:
    """An exit status in words: `exit code 1`, or `killed by SIGKILL`."""
    return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
