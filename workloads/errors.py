"""Errors of a run's questions. The caller can correct all but one: exit code 2.

WorkloadError
├── SourceError      the file cannot be used at all: missing, a folder, empty, of no known format
├── MalformedError   its content is not what its name promises: syntax, encoding, damaged gzip
│   └── NotYAMLError  a text is not YAML, with the line (`workloads.yaml_values`)
├── ColumnError      a column that was asked for is not there or holds something else, or no column looks
│                    like the prompt
├── PromptError      there is a prompt, but it is empty or none that can be asked
├── TraceError       a trace of no known format, or with a line that cannot be replayed
├── DistributionError  a distribution that cannot be read, or cannot give its mean
├── ArrivalError     an arrival process that there is not
├── TaskError        a benchmark that there is not, or an option that it does not have
├── EvalError        an eval function that cannot be imported, or is not one
├── EpisodeCodeError  the code of an episode that cannot be imported, or is not one
│   └── ToolValidationError  a tool of an agent without a valid name (`loadgen.plugins.agents.rollout`)
├── EpisodeError     an episode that cannot ask another turn (`loadgen.plugins.agents.episode`)
│   ├── TurnFailedError    its request failed
│   ├── UserFailedError    the simulated user failed
│   ├── LimitReachedError  one of its limits is reached
│   └── EpisodeCutError    the session ends
├── PluginError      an entry point of another package that cannot be used
├── SandboxError     no program can be run here (`sandbox_contract`): the machine's to mend, exit code 3
│   └── NoClientError  Docker's client is not installed (`docker_daemon`); an ExtraError too
└── ExtraError       a benchmark or a tokenizer that takes a package which is not installed
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable


_NEARLY: Final = 0.8
_VERSION: Final = re.compile(r"[-_ .]?v?\d+([._]\d+)*$")


class WorkloadError(Exception):
    """Anything that this package raises."""


class SourceError(WorkloadError):
    """The file is unusable: missing, a folder, empty, or of an unknown format."""


class MalformedError(WorkloadError):
    """The content of the file does not match the file's suffix."""


class ColumnError(WorkloadError):
    """A column that was asked for is not there or holds something else, or none looks like the prompt."""


class PromptError(WorkloadError):
    """A prompt is empty, or not a valid prompt."""


class TraceError(WorkloadError):
    """A trace has an unknown format, or a line cannot be replayed."""


class DistributionError(WorkloadError, ValueError):
    """A distribution cannot be parsed, is undefined, or cannot reach the mean."""


class ArrivalError(WorkloadError, ValueError):
    """No arrival process has this name."""


class TaskError(WorkloadError):
    """Unknown benchmark, or unknown option or scorer of a benchmark."""


class EvalError(WorkloadError):
    """An eval function cannot be imported, is missing, or has the wrong parameters."""


class EpisodeCodeError(WorkloadError):
    """An episode's code, or an agent, cannot be imported or cannot be run as an episode."""


class PluginError(WorkloadError):
    """A plug-in cannot be used; the message names the package."""


class ExtraError(WorkloadError):
    """A benchmark or a tokenizer needs a missing package; the message has the `pip install` command."""


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """End a sentence with the nearest of the names that there are; empty when none is near."""
    near = nearest(name, names)
    return f"; did you mean {near!r}?" if near else ""


def near_name(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate with nearly the letters of a name, versions at the name's end aside; None without."""
    by_letters = {letters(each): each for each in candidates}
    for text in (name, _VERSION.sub("", name)):
        if near := nearest(letters(text), by_letters, _NEARLY):
            return by_letters[near]
    return None


def letters(name: str) -> str:
    """A name in lower case, without hyphens, underscores and spaces."""
    return re.sub(r"[-_ ]", "", name.lower())


def nearest(name: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The name that is spelt most like another one; None where all differ more than the cut-off allows."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, names, n=1, cutoff=cutoff)), None)
