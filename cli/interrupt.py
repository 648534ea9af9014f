"""An interrupt that a library has swallowed, as some do while they are imported, is one all the same."""

from __future__ import annotations

from typing import Final

_came: Final[list[int]] = []


def interrupt(number: int, _: object) -> None:
    """The handler of a signal that interrupts.

    Raises:
        KeyboardInterrupt: Always.
    """
    _came.append(number)
    raise KeyboardInterrupt


def came() -> bool:
    """Tell whether one has come so far."""
    return bool(_came)


def require_none() -> None:
    """Make sure that no interrupt has come so far.

    Raises:
        KeyboardInterrupt: One has.
    """
    if came():
        raise KeyboardInterrupt
