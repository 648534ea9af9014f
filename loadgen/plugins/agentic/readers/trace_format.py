"""A format of recorded sessions: a test of the first JSON object, and a function that reads an input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass
from loadgen.plugins.agentic.readers.documents import checksum
from loadgen.plugins.agentic.session_corpus import CorpusFacts
from workloads.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from loadgen.plugins.agentic.session_corpus import SessionCorpus
    from loadgen.plugins.agentic.session_tree import History
    from workloads.traces.form import TraceForm


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """The options of the user for an input.

    Attributes:
        name: The name of the format in the registry.
        form: `--trace-format`.
        history: `--history`; None where not given.
    """

    name: str
    form: TraceForm
    history: History | None = None

    def declared(self, place: str, own: History, *others: History) -> History:
        """The history of an input in a format that states one, unless the user names another one.

        Args:
            place: The input, for messages.
            own: What the format states.
            others: What the user may name in place of it.

        Raises:
            TraceError: The user names one that the input cannot have.
        """
        if self.history in (None, own, *others):
            return self.history or own
        possible = " or ".join(each.value for each in (own, *others))
        raise TraceError(f"{place}: --history {self.history}: sessions in this format are {possible}")

    def undeclared(self, place: str, *possible: History) -> History:
        """The history that the user names for an input in a format that states none.

        Args:
            place: The input, for messages.
            possible: What the rows may hold.

        Raises:
            TraceError: None is named, or one that the rows cannot hold.
        """
        if self.history in possible:
            return self.history
        options = "|".join(each.value for each in possible)
        raise TraceError(
            f"{place}: rows have session ids, but do not say whether each holds its whole prompt or only "
            f"the new part; give --history {options}"
        )

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
