"""The errors that Python callers get, and the exit codes of all that explain themselves.

    LoadgenError
    ├── UsageError           what was asked for cannot be done
    │   ├── EvalFnError      an eval function of a bench cannot be used (`loadgen.plugins.agents.bench`)
    │   ├── DatasetParseError       a bench's file cannot be read (`loadgen.plugins.agents.datasets`)
    │   └── DatasetValidationError  a row of a bench's file lacks a column (likewise)
    ├── SetupError           this machine, or the endpoint, cannot do it
    │   ├── GraderLostError  no grader is left (`loadgen.sessions.scoring.grader_pool`)
    │   └── ProviderError    a provider rejected a request (`loadgen.plugins.agents.llm_client`)
    └── RunError             a run could not be recorded to its end

`one_tree` makes them of the errors of the other rooms, by their exit codes:

    2 settings: UsageError; SettingsError and RejectedError of the driver; MockOptionsError; LogError,
      LogExistsError, BeingWrittenError and OldLogError of the recorder; ReporterError; RulesetError;
      WorkloadError
    3 set-up: SetupError; UnreachableError and WorkerLostError of the driver; MockSetupError; LogNotMadeError
      of the recorder; NoRoomError and NoDatabaseError of the reporter; SandboxError; an OSError about a file
      or a full disk
    4 the run: WriterError of the recorder
    130 an interrupt: KeyboardInterrupt; StoppedEarlyError of the driver

Everything else is a bug of this program: it keeps its traceback, and ends with 70.
"""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_ROOM: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}

_LONGEST: Final = 4000


class LoadgenError(Exception):
    """What went wrong, where, and what to do: the base of all errors that Python callers get.

    Attributes:
        exit_code: What the command line ends with.
    """

    exit_code: ExitCode = ExitCode.BUG


class UsageError(LoadgenError):
    """What was asked for cannot be done; the message says what and what to do."""

    exit_code = ExitCode.USAGE


class SetupError(LoadgenError):
    """This machine, or the endpoint, cannot do what was asked for; the message says what and what to do."""

    exit_code = ExitCode.SETUP


class RunError(LoadgenError):
    """A run could not be recorded to its end; its log has what was recorded."""

    exit_code = ExitCode.INVALID


def exit_code(error: BaseException) -> ExitCode | None:
    """The exit code of an error that is explained by its message; None for a bug."""
    from loadgen.driver.errors import RejectedError, SettingsError, UnreachableError, WorkerLostError
    from loadgen.mock_endpoint.errors import MockOptionsError, MockSetupError
    from recorder.errors import (
        BeingWrittenError,
        LogError,
        LogExistsError,
        LogNotMadeError,
        OldLogError,
        WriterError,
    )
    from reporter.errors import NoDatabaseError, NoRoomError, ReporterError
    from rulesets.errors import RulesetError
    from workloads.errors import WorkloadError
    from workloads.sandbox_contract import SandboxError

    codes: dict[type[BaseException], ExitCode] = {
        WriterError: ExitCode.INVALID,
        LogNotMadeError: ExitCode.SETUP,
        SettingsError: ExitCode.USAGE,
        RejectedError: ExitCode.USAGE,
        UnreachableError: ExitCode.SETUP,
        WorkerLostError: ExitCode.SETUP,
        MockOptionsError: ExitCode.USAGE,
        SandboxError: ExitCode.SETUP,
        WorkloadError: ExitCode.USAGE,
        NoRoomError: ExitCode.SETUP,
        NoDatabaseError: ExitCode.SETUP,
        ReporterError: ExitCode.USAGE,
        RulesetError: ExitCode.USAGE,
        LogError: ExitCode.USAGE,
        LogExistsError: ExitCode.USAGE,
        BeingWrittenError: ExitCode.USAGE,
        OldLogError: ExitCode.USAGE,
        MockSetupError: ExitCode.SETUP,
    }
    if isinstance(error, LoadgenError):
        return error.exit_code
    if isinstance(error, OSError) and (error.filename is not None or error.errno in _NO_ROOM):
        return ExitCode.SETUP
    return next((code for kind, code in codes.items() if isinstance(error, kind)), None)


@contextmanager
def one_tree() -> Iterator[None]:
    """Raise the errors of all rooms that explain themselves as `LoadgenError`; a bug stays what it is.

    Raises:
        UsageError, SetupError, RunError: By the exit code that the command line would end with.
        KeyboardInterrupt: The session was stopped before it began.
    """
    from loadgen.driver.errors import StoppedEarlyError

    try:
        yield
    except LoadgenError:
        raise
    except StoppedEarlyError as error:
        raise KeyboardInterrupt from error
    except Exception as error:
        kinds = {kind.exit_code: kind for kind in (UsageError, SetupError, RunError)}
        kind = kinds.get(exit_code(error) or ExitCode.BUG)
        if kind is None:
            raise
        raise kind(message_of(error)) from error


def is_interrupt(error: BaseException) -> bool:
    """Tell whether an error is an interrupt, or what a library has made of one.

    Some tell nothing of what it was made of: whatever goes wrong after an interrupt has come is that.
    """
    from loadgen.driver.errors import StoppedEarlyError
    from loadgen.sessions.interrupt import came

    if came():
        return True
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, (KeyboardInterrupt, StoppedEarlyError)):
        cause = cause.__cause__ or cause.__context__
    return cause is not None


def message_of(error: BaseException) -> str:
    """The message of an error. An OSError without a file name is of standard output, or of any open file."""
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
