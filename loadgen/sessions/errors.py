"""The errors that Python callers get; `error_exit_codes` makes them of the errors of other rooms.

LoadgenError
├── UsageError           what was asked for cannot be done
│   ├── EvalFnError      an eval function of a bench cannot be used (`loadgen.plugins.agents.bench`)
│   ├── DatasetParseError       a bench's file cannot be read (`loadgen.plugins.agents.datasets`)
│   └── DatasetValidationError  a row of a bench's file lacks a column (as above)
├── SetupError           this machine, or the endpoint, cannot do it
│   ├── GraderLostError  no grader is left (`loadgen.sessions.scoring.grader_pool`)
│   └── ProviderError    a provider rejected a request (`loadgen.plugins.agents.llm_client`)
└── RunError             a run could not be recorded to its end
"""

from __future__ import annotations

from typing import Final

from rulesets.exit_codes import ExitCode

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


def printable(text: str, longest: int | None = _LONGEST) -> str:
    """A message that may quote a server or a file, fit for a terminal: no control sequences, not endless."""
    shown = "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode()
        for char in text
    )
    return shown if longest is None or len(shown) <= longest else shown[:longest] + "…"
