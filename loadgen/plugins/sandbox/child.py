"""The end of a helper process that lives as long as standard input is open."""

from __future__ import annotations

import subprocess
from contextlib import suppress


def end_child(process: subprocess.Popen[bytes], patience_s: float) -> None:
    """Close the input of a process, which ends the process; kill the process after `patience_s`."""
    assert process.stdin is not None  # noqa: S101 (it is a pipe)
    with suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
