"""The arguments of the command line, before they are parsed."""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONG_OPTION: Final = re.compile(r"--[a-z][a-z-]*")
_MAY_BE_EMPTY: Final = frozenset({"--api-key", "--judge-api-key"})
_ALONE: Final = {"--server-metrics": ("auto", "none")}
"""Options that may stand without a value: what they then have, and words that are values, as URLs are."""

_FILES: Final = {
    "--markdown": None,
    "--junit": None,
    "--output": ("report", "compare"),
    "-o": ("report", "compare"),
}
"""Options of a file that may be standard output, `-`, and the commands in which they are that."""


def refuse_empty(arguments: Sequence[str]) -> None:
    """Refuse an option with an empty value, mostly a variable of the shell that is not set.

    An empty key would mean no key, and an empty path the current folder.
    """
    for option, value in pairwise([*arguments, "-"]):
        name, joined, rest = option.partition("=")
        if _LONG_OPTION.fullmatch(name) and name not in _MAY_BE_EMPTY and (rest if joined else value) == "":
            raise UsageError(f"{name} '': is empty; give a value, or leave the option out")


def with_values(arguments: Sequence[str]) -> list[str]:
    """Give the options that may stand alone their values; typer knows no option with an optional one."""
    return [
        f"{word}={_ALONE[word][0]}"
        if word in _ALONE and "://" not in after and after not in _ALONE[word]
        else word
        for word, after in pairwise([*arguments, ""])
    ]


def with_open_file(arguments: Sequence[str], descriptor: int) -> Sequence[str]:
    """Give the option whose file is `-` the place of an open file instead."""
    words = [part for word in arguments for part in (word.split("=", 1) if word.endswith("=-") else [word])]
    places = [
        index
        for index, (option, value) in enumerate(pairwise(words), start=1)
        if value == "-" and option in _FILES and words[0] in (_FILES[option] or words)
    ]
    if not places:
        return arguments
    if len(places) > 1:
        named = " and ".join(words[index - 1] for index in places)
        raise UsageError(f"{named} both name standard output: give a file for all but one")
    return [*words[: places[0]], f"/dev/fd/{descriptor}", *words[places[0] + 1 :]]


def program() -> str:
    """The program's name where a shell finds it, else its path."""
    from shutil import which

    return "loadgen" if which("loadgen") else sys.argv[0]
