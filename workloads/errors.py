"""What can be wrong with the questions of a run. All of it is the caller's to mend: exit code 2.

WorkloadError
├── SourceError      the file cannot be used at all: missing, a folder, empty, of no known format
├── MalformedError   its content is not what its name promises: syntax, encoding, damaged gzip
├── ColumnError      a column that was asked for is not there, or no column looks like the prompt
├── PromptError      there is a prompt, but it is empty or not text
└── DistributionError  a distribution that cannot be read
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class WorkloadError(Exception):
    """Anything that this package raises."""


class SourceError(WorkloadError):
    """The file cannot be used at all: it is missing, a folder, empty, or of no known format."""


class MalformedError(WorkloadError):
    """The content of the file is not what its name promises."""


class ColumnError(WorkloadError):
    """A column that was asked for is not there, or no column looks like the prompt."""


class PromptError(WorkloadError):
    """There is a prompt, but it is empty or not text."""


class DistributionError(WorkloadError, ValueError):
    """A distribution cannot be read, or is none."""


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """End a sentence with the nearest of the names that there are; empty when none is near."""
    near = get_close_matches(name, names, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
