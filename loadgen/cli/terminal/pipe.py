"""Output with a reader that may leave early: `loadgen sql RUN … | head`."""

from __future__ import annotations

import signal


def end_with_the_reader() -> None:
    """Let the process end like others on a closed output: at once, by SIGPIPE.

    Only for commands that open no sockets: there a broken connection is an error to be handled.
    """
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
