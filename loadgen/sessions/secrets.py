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
_FILE = "@"
_LONGEST_FILE = 64 * 1024
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_from_files: set[str] = set()


def conceal() -> str | None:
    """Remove the secrets from the command line, and restore `sys.argv`.

    Returns:
        A note for the user if the secrets stay there; else None.
    """
    if _restored():
        return None
    arguments = sys.argv[1:]
    masked = _masked(arguments)
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
    from pathlib import Path

    from loadgen.sessions.errors import UsageError

    if not value.startswith(_FILE):
        return [value]
    path = Path(value.removeprefix(_FILE))
    try:
        with path.open("rb") as file:
            content = file.read(_LONGEST_FILE + 1)
    except OSError as error:
        raise UsageError(f"{option} {value}: the file cannot be read ({error.strerror})") from error
    if len(content) > _LONGEST_FILE:
        raise UsageError(
            f"{option} {value}: more than {_LONGEST_FILE} bytes are not a secret; name another file"
        )
    held = [line.strip() for line in content.decode(errors="replace").splitlines() if line.strip()]
    if not held:
        raise UsageError(f"{option} {value}: there is nothing in the file")
    _from_files.update(held)
    return held


def keep_out_of_errors(secret: str) -> None:
    """Let `redacted` remove a secret from elsewhere too."""
    _from_files.add(secret)


def redacted(text: str) -> str:
    """A message without any secret that this program was given."""
    from loadgen.driver.client.redaction import VARIABLES, hide, secrets_of

    words = [sys.argv[1:][place] for place in _masked(sys.argv[1:])]
    words += [os.environ.get(name, "") for name in VARIABLES]
    secrets: set[str] = set()
    for word in (*words, *_from_files):
        text_of_option = _without_option(word)
        name, colon, value = text_of_option.partition(":")
        secrets |= {text_of_option} | secrets_of({name: value} if colon else {})
    return hide(text, secrets)


def _without_option(word: str) -> str:
    option, joined, value = word.partition("=")
    return value if joined and option in OPTIONS else word


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


def _masked(arguments: list[str]) -> dict[int, str]:
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
    return bool(value) and not value.startswith(_FILE)
