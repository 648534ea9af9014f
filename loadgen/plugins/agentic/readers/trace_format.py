"""A format of recorded sessions: how its inputs begin, and the function that reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgen.plugins.agentic.readers.documents import checksum
from loadgen.plugins.agentic.session_corpus import CorpusFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from loadgen.plugins.agentic.session_corpus import SessionCorpus
    from loadgen.plugins.agentic.session_tree import History
    from workloads.traces.form import TraceForm


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """What the user says about an input.

    Attributes:
        name: The name of the format in the registry.
        form: `--trace-format`.
        history: `--history`; None where not given.
    """

    name: str
    form: TraceForm
    history: History | None = None

    def facts(self, path: Path, unit: str, history: History) -> CorpusFacts:
        """The facts of a corpus in this format."""
        return CorpusFacts(path.name, self.name, unit, history, checksum(path))


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """A format of recorded sessions.

    Attributes:
        title: Its name for people.
        is_first: Whether the first JSON object of an input is of this format.
        read: Reads an input.
    """

    title: str
    is_first: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Path, ReadingOptions], SessionCorpus]
