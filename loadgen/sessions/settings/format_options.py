"""The options that choose a format: `--format`, and `--json` as a shorthand."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from loadgen.sessions.errors import UsageError
from loadgen.sessions.formats import (
    FORMATS,
    JSON,
    TEXT,
    Subject,
    format_called,
    formats_of,
    own_formats_of,
    require_format,
)
from loadgen.sessions.settings.option import Option, OptionValueError

Json = Annotated[
    bool,
    Option("--json", "Print JSON instead of text.", stored=False, instead="that is --json of loadgen run"),
]


def _name(subjects: tuple[Subject, ...], value: str) -> str:
    value = format_called(value)
    try:
        require_format(subjects[0], value)
    except UsageError as error:
        if not any(value in formats_of(subject) for subject in subjects):
            raise OptionValueError(str(error).removeprefix("--format ")) from error
    return value


def _option(*subjects: Subject) -> Option:
    """The option of a command that renders one of several subjects, the first of which is the usual one."""
    names = [name for name in FORMATS if any(name in own_formats_of(subject) for subject in subjects)]
    described = "; ".join(f"{name} ({FORMATS[name].title})" for name in names)
    return Option("--format", parser=partial(_name, subjects), metavar="|".join(names), help=f"{described}.")


ReportFormat = Annotated[str, _option("report", "series")]
VerdictFormat = Annotated[str, _option("verdict")]
ComparisonFormat = Annotated[str, _option("comparison")]


def chosen_format(name: str, *, json: bool) -> str:
    """The format that `--format` and `--json` choose together."""
    if json and name not in {TEXT, JSON}:
        raise UsageError(f"--json and --format {name} contradict each other: give only one")
    return JSON if json else name
