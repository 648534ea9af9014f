"""An interrupt that a library has swallowed, as some do while they are imported, is one all the same."""

from __future__ import annotations

from typing import Final

_came: Final[list[int]] = []
_stops: Final[list[bool]] = []


def interrupt(number: int, _: object) -> None:
    """The handler of a signal that interrupts."""
    _came.append(number)
    raise KeyboardInterrupt


def came() -> bool:
    """Tell whether one has come so far."""
    return bool(_came)


def note_stop() -> None:
    """Note that a session, which hears signals itself, was asked to stop, be it when all of it was done."""
    _stops.append(True)


def stopped() -> bool:
    """Tell whether a session was asked to stop so far."""
    return bool(_stops)


def forget_stops() -> None:
    """Begin again: what was stopped before concerns no further session of this process."""
    _stops.clear()


def require_no_stop() -> None:
    """Make sure that no session was asked to stop so far: nothing may follow one that was."""
    if _stops:
        raise KeyboardInterrupt


def require_none() -> None:
    """Make sure that no interrupt has come so far."""
    if came():
        raise KeyboardInterrupt
