"""The border between errors and exit codes: what the user is told instead of a traceback.

    2 settings                                      3 set-up                              4 the run
    ├── cli.errors.UsageError                       ├── cli.errors.SetupError             └── recorder.errors
    ├── loadgen.plan.PlanError                      ├── loadgen.probe.UnreachableError        .WriterError
    ├── loadgen.client.endpoint.EndpointError       ├── loadgen.mock_endpoint.errors
    ├── loadgen.probe.RejectedError                 │   .MockSetupError
    ├── loadgen.mock_endpoint.errors                ├── recorder.errors.LogNotMadeError
    │   .MockOptionsError                           ├── reporter.errors.NoRoomError
    ├── recorder.errors.LogError, .LogExistsError,  └── OSError about a file or a full disk
    │   .BeingWrittenError, .OldLogError
    ├── reporter.errors.ReporterError
    ├── rulesets.errors.RulesetError
    └── workloads.errors.WorkloadError

Everything else is a bug of this program: it keeps its traceback, and ends with 70.
"""

from __future__ import annotations

import errno
from typing import Final

PASS: Final = 0
USAGE: Final = 2
SETUP: Final = 3
INVALID: Final = 4
BUG: Final = 70
INTERRUPTED: Final = 130

_NO_ROOM: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}

_LONGEST: Final = 4000


class UsageError(Exception):
    """The command line asks for something that cannot be done; the message says what and what to do."""


class SetupError(Exception):
    """This machine cannot do what the command line asks for; the message says what and what to do."""


def exit_code(error: BaseException) -> int | None:
    """The exit code of an error that is explained by its message; None for a bug."""
    from loadgen.client.endpoint import EndpointError
    from loadgen.mock_endpoint.errors import MockOptionsError, MockSetupError
    from loadgen.plan import PlanError
    from loadgen.probe import RejectedError, UnreachableError
    from recorder.errors import (
        BeingWrittenError,
        LogError,
        LogExistsError,
        LogNotMadeError,
        OldLogError,
        WriterError,
    )
    from reporter.errors import NoRoomError, ReporterError
    from rulesets.errors import RulesetError
    from workloads.errors import WorkloadError

    codes: dict[type[BaseException], int] = {
        WriterError: INVALID,
        LogNotMadeError: SETUP,
        UsageError: USAGE,
        PlanError: USAGE,
        EndpointError: USAGE,
        RejectedError: USAGE,
        MockOptionsError: USAGE,
        WorkloadError: USAGE,
        NoRoomError: SETUP,
        ReporterError: USAGE,
        RulesetError: USAGE,
        LogError: USAGE,
        LogExistsError: USAGE,
        BeingWrittenError: USAGE,
        OldLogError: USAGE,
        UnreachableError: SETUP,
        MockSetupError: SETUP,
        SetupError: SETUP,
    }
    if isinstance(error, OSError) and (error.filename is not None or error.errno in _NO_ROOM):
        return SETUP
    return next((code for kind, code in codes.items() if isinstance(error, kind)), None)


def is_interrupt(error: BaseException) -> bool:
    """Tell whether an error is an interrupt, or what a library has made of one.

    Some tell nothing of what it was made of: whatever goes wrong after an interrupt has come is that.
    """
    from cli.interrupt import came
    from loadgen.stop import StoppedEarlyError

    if came():
        return True
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, (KeyboardInterrupt, StoppedEarlyError)):
        cause = cause.__cause__ or cause.__context__
    return cause is not None


def told(error: BaseException) -> str:
    """What an error says for itself. Without a name it is of standard output, or of any file that is open."""
    if isinstance(error, OSError) and error.filename is None and error.strerror:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        failed = (
            "the output cannot be written" if full else "the output, or a file, cannot be read or written"
        )
        return f"{failed} ({error.strerror})"
    return str(error)


def printable(text: str, longest: int | None = _LONGEST) -> str:
    """A message that may quote a server or a file, fit for a terminal: no control sequences, not endless."""
    shown = "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode()
        for char in text
    )
    return shown if longest is None or len(shown) <= longest else shown[:longest] + "…"
