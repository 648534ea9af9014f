"""Files with a secret, as `@FILE` in place of the secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

_LONGEST_FILE = 64 * 1024


def lines_of(option: str, value: str, path: Path) -> list[str]:
    """The lines of the file that the value of an option names, those that are not blank.

    Raises:
        UsageError: The file cannot be read, is too long, or has no such line.
    """
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
    return held
