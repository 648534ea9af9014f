"""The exit codes of all commands: the one table that verdicts, errors, help texts and docs follow."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, Self


class ExitCode(IntEnum):
    """The exit codes.

    Attributes:
        label: What it means, in a word or two.
        meaning: What it means for a run that is evaluated by rules.
        advice: What a CI job should do; empty where nothing follows.
    """

    label: str
    meaning: str
    advice: str

    PASS = (0, "pass", "every rule that counts is met; warnings may have been missed", "continue")
    FAIL = (1, "a gate failed", "a rule is missed, or what it needs was not measured", "fail")
    USAGE = (
        2,
        "usage",
        "the command line or the ruleset is wrong: a file, a key, an unknown name",
        "fix the job",
    )
    SETUP = (
        3,
        "set-up failed",
        "set-up failed: a requested file cannot be written, an endpoint cannot be reached",
        "fix the machine",
    )
    INVALID = (
        4,
        "run invalid",
        (
            "the run is invalid or incomplete: too short, too few requests, wrong settings, a late "
            "client, cut off, still running"
        ),
        "measure again",
    )
    INCONCLUSIVE = (
        5,
        "inconclusive",
        "inconclusive: too few samples for the confidence that the rules demand",
        "measure for longer",
    )
    BUG = (70, "a bug", "a bug of this program", "report it")
    INTERRUPTED = (130, "interrupted", "interrupted", "")
    BROKEN_PIPE = (
        141,
        "broken pipe",
        "no process reads the output (`| head`), as a shell reports SIGPIPE",
        "",
    )

    def __new__(cls, code: int, label: str, meaning: str, advice: str) -> Self:
        """Make a member from a code and the texts for docs."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.label, member.meaning, member.advice = label, meaning, advice
        return member


PRECEDENCE: Final = (
    ExitCode.INTERRUPTED,
    ExitCode.USAGE,
    ExitCode.SETUP,
    ExitCode.INVALID,
    ExitCode.FAIL,
    ExitCode.INCONCLUSIVE,
    ExitCode.PASS,
)
"""Where several apply, the first of these wins."""
