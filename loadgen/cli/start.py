"""The start of the program: handles interrupts from the first moment and hides secrets of the command line.

Whenever an interrupt comes, the program ends with 130 and without a traceback; so it does on SIGTERM and
SIGHUP. While the commands are being imported there is nothing to clean up, and an exception could be lost in
the import machinery: the process ends at once. From then on signals raise KeyboardInterrupt, until a session
handles them itself (`loadgen.driver.stop`). Once the exit code is certain nothing is left to clean up either:
the process ends at once, because an interrupt during the interpreter's end would change the exit code.

Until `main` handles signals, an interrupt shows a traceback of Python's: this module imports nothing that
takes time, and neither does the package `loadgen`.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final, NoReturn

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_INTERRUPTED: Final = 130  # `ExitCode.INTERRUPTED`, which takes longer to import


def main() -> NoReturn:
    """Run the command line, and end the process with the exit code."""
    heard = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    _hear(heard, _end)
    from contextlib import suppress

    from loadgen.driver.system.memory import collect_rarely
    from loadgen.sessions.interrupt import interrupt
    from loadgen.sessions.secrets import conceal

    collect_rarely()
    if note := conceal():
        sys.stderr.write(f"{note}\n")
    from loadgen.cli.app import main as run

    sys.unraisablehook = _unless_interrupted(sys.unraisablehook)
    code = _INTERRUPTED
    with suppress(KeyboardInterrupt):
        _hear(heard, interrupt)
        code = _outcome(run)
    sys.stderr.flush()
    os._exit(code)


def _outcome(run: Callable[[], int]) -> int:
    """The exit code; an interrupt that was swallowed on the way still counts."""
    from loadgen.sessions.interrupt import require_none

    try:
        return run()
    finally:
        require_none()


def _hear(numbers: list[signal.Signals], handler: Any) -> None:
    for number in numbers:
        signal.signal(number, handler)


def _end(*_: object) -> NoReturn:
    os._exit(_INTERRUPTED)


def _unless_interrupted(report: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Handle an interrupt in a place that exceptions do not leave, such as a destructor."""

    def hook(lost: Any) -> None:
        if isinstance(lost.exc_value, KeyboardInterrupt):
            _end()
        report(lost)

    return hook
