"""The exit codes of errors, and the errors of all rooms as `LoadgenError`.

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
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from loadgen.sessions.errors import LoadgenError, RunError, SetupError, UsageError
from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator

_URL_IN_PATH: Final = re.compile(r"\b(s3|gs|az|https?):/(?=[^/])")
_NO_ROOM: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


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


def with_urls(text: str) -> str:
    """A text with each URL as typed: `pathlib` keeps one slash of two."""
    return _URL_IN_PATH.sub(r"\1://", text)


def message_of(error: BaseException) -> str:
    """The message of an error. An OSError without a file name is of standard output, or of any open file."""
    if isinstance(error, OSError) and error.strerror:
        if error.filename is not None:
            return with_urls(f"{error.filename}: {error.strerror}")
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        cannot_be = "the output cannot be" if full else "the output, or a file, cannot be read or"
        return f"{cannot_be} written ({error.strerror})"
    return with_urls(str(error))
