"""Samples that open episodes, and the code that plays each."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field, fields, replace
from workloads.errors import EpisodeCodeError
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Self

    from workloads.sandbox_contract import SandboxSpec


_FORMER_PLACES: Final = {
    "loadgen.plugins.evals.": "workloads.",
    "loadgen.plugins.agents.": "workloads.episodes.",
}
"""Where code of episodes was when the first logs were made."""


@dataclass(frozen=True, slots=True)
class EpisodeProgram:
    """The code of an episode, by name, so that a worker process can import the code.

    Attributes:
        code: `module:attribute` of an async function `(sample, ask, sandbox)`.
        data: What the function needs of the dataset's row, as JSON values; `sample.episode.data`.
        files: Files that the function reads, by its own name; only their contents matter.
        user: Whether it asks a simulated user, at a second endpoint.
        sandbox: Where it runs commands; None where it runs none. One of the kind `docker` is opened as it is;
            one of the kind `local` where the session chooses.
        setup: `module:attribute` of an async function `(sample, sandbox)` that comes before the episode.
        finish: `module:attribute` of an async function `(sample, sandbox, result)` that comes after it, also
            where a limit has ended it, and returns its result: tests, say. Both run as well where a user's
            agent plays the episode, and the time of neither counts.
        seconds: How long the episode may take; None for no limit but the session's.
    """

    code: str
    data: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    user: bool = False
    sandbox: SandboxSpec | None = None
    setup: str = ""
    finish: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeSample(Sample):
    """A question that code answers in an episode.

    Attributes:
        episode: The code.
    """

    episode: EpisodeProgram

    @classmethod
    def of(cls, sample: Sample, episode: EpisodeProgram) -> Self:
        """A sample as an episode."""
        return cls(
            **{member.name: getattr(sample, member.name) for member in fields(Sample)}, episode=episode
        )

    @property
    def has_several_turns(self) -> bool:
        """Whether further turns may follow."""
        return True

    def content(self) -> list[Any]:
        """All that is asked, for a checksum."""
        program = self.episode
        places: dict[str, Any] = {
            name: _stable(getattr(program, name)) for name in ("code", "setup", "finish")
        }
        return [*Sample.content(self), replace(program, files={}, **places)]


def _stable(code: str) -> str:
    """The place of code as logs of every version have it: a module that moves changes no checksum."""
    for now, then in _FORMER_PLACES.items():
        if code.startswith(now):
            return then + code.removeprefix(now)
    return code


def programs_of(samples: Iterable[Sample]) -> list[EpisodeProgram]:
    """The code of the samples that open episodes."""
    return [sample.episode for sample in samples if isinstance(sample, EpisodeSample)]


def imported(code: str, paths: Sequence[str] = ()) -> Any:
    """Import `module:attribute`.

    Args:
        code: The name.
        paths: Folders to find the module in, before those of the interpreter.

    Raises:
        EpisodeCodeError: The module or attribute does not exist, or importing it fails.
    """
    module_name, _, attribute = code.partition(":")
    if not module_name or not attribute:
        raise EpisodeCodeError(f"{code}: write MODULE:ATTRIBUTE, e.g. my_agent:MyAgentLoop")
    sys.path[:0] = [path for path in paths if path not in sys.path]
    try:
        value: Any = importlib.import_module(module_name)
    except Exception as error:
        raise EpisodeCodeError(f"{code}: importing {module_name} fails: {error_text(error)}") from error
    for name in attribute.split("."):
        if not hasattr(value, name):
            raise EpisodeCodeError(f"{code}: {module_name} has no {attribute}")
        value = getattr(value, name)
    return value


def error_text(error: BaseException) -> str:
    """An exception in one line: class, message, and the last line of code passed."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" ({trace.tb_frame.f_code.co_filename}, line {trace.tb_lineno})" if trace else ""
    return f"{type(error).__name__}: {error}{where}"
