"""The arguments of the command line, before they are parsed."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONG_OPTION: Final = re.compile(r"--[a-z][a-z-]*")
_MAY_BE_EMPTY: Final = frozenset({"--api-key", "--judge-api-key"})
_ALONE: Final = {"--server-metrics": "auto"}
"""Options that may stand without a value, which is a URL, and what they then have."""


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
        f"{word}={_ALONE[word]}" if word in _ALONE and "://" not in after and after != _ALONE[word] else word
        for word, after in pairwise([*arguments, ""])
    ]
