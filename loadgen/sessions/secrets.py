"""Hiding secrets: from the list of processes, and from error messages.

All users of a machine can read the command line of a process (`ps`); its environment is readable only to its
own user. So a program with a secret on its command line executes itself again at once, as the same process,
with the secret in its environment and `***` in its place; and then removes it from its environment, so that
no child inherits it. This module imports nothing that takes time: until then the secret is visible.
"""

from __future__ import annotations

import os
import signal
import sys

OPTIONS = ("--api-key", "--judge-api-key", "--user-api-key", "--header")
"""Options that are followed by a secret, or by `@` and the name of a file with one."""

MASK = "***"
_CARRIER = "LOADGEN_CONCEALED_"
FILE = "@"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
from_files: set[str] = set()
"""The secrets from elsewhere, for `error_redaction`."""


def conceal() -> str | None:
    """Remove the secrets from the command line, and restore `sys.argv`.

    Returns:
        A note for the user if the secrets stay there; else None.
    """
    if _restored():
        return None
    arguments = sys.argv[1:]
    masked = masked_places(arguments)
    if not masked or sys.orig_argv[-len(arguments) :] != arguments:
        return None
    interpreter = sys.orig_argv[1 : -len(arguments)]
    shown = [masked.get(place, word) for place, word in enumerate(arguments)]
    command = [sys.executable, *interpreter, *shown]
    carried = {f"{_CARRIER}{place}": arguments[place] for place in masked}
    # An interrupt in between is delivered once there is a handler.
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        os.execve(sys.executable, command, os.environ | carried)  # noqa: S606 (this very program)
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        return f"note: the list of processes shows the secret ({error.strerror}): give it in the environment"


def lines(option: str, value: str) -> list[str]:
    """The value of an option or, for `@FILE`, the lines of that file that are not blank."""
    if not value.startswith(FILE):
        return [value]
    from pathlib import Path

    from loadgen.sessions.secret_files import lines_of

    held = lines_of(option, value, Path(value.removeprefix(FILE)))
    from_files.update(held)
    return held


def keep_out_of_errors(secret: str) -> None:
    """Let error messages leave out a secret from elsewhere too."""
    from_files.add(secret)


def _restored() -> bool:
    """Restore the arguments from the environment; return whether there were any."""
    carried = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(_CARRIER)}
    for name, word in carried.items():
        place = name.removeprefix(_CARRIER)
        if place.isdigit() and int(place) + 1 < len(sys.argv):
            sys.argv[int(place) + 1] = word
    if carried:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    return bool(carried)


def masked_places(arguments: list[str]) -> dict[int, str]:
    """The places of the arguments that hold a secret, and the text shown instead."""
    masked: dict[int, str] = {}
    before = ""
    for place, word in enumerate(arguments):
        option, joined, value = word.partition("=")
        if before in OPTIONS and _is_secret(word):
            masked[place] = MASK
        elif option in OPTIONS and joined and _is_secret(value):
            masked[place] = f"{option}={MASK}"
        before = word
    return masked


def _is_secret(value: str) -> bool:
    return bool(value) and not value.startswith(FILE)
