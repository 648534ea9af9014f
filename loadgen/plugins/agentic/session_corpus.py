"""The sessions of an input as one value; trees are made on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from lazy_dataclasses import dataclass, field
from loadgen.plugins.agentic.workbench import finished
from workloads.left_out import LeftOut

if TYPE_CHECKING:
    from loadgen.plugins.agentic.session_tree import History, SessionTree
    from loadgen.plugins.agentic.workbench import Steps


@dataclass(frozen=True, slots=True)
class CorpusFacts:
    """The facts of an input of sessions.

    Attributes:
        name: The name of the file or the folder, without what it is in.
        format: A name of the registry's kind `traces`, or `agentic` for made-up sessions.
        unit: The unit of the recorded times: a name of `workloads.traces.form.UNITS`, or `dates`.
        history: What the rows hold of the history of their session.
        sha256: In hexadecimal, of the stored bytes; of made-up sessions, of what they are made from.
        left_out: What of the input cannot be replayed, by reason.
        notes: Facts about the reading, as sentences.
    """

    name: str
    format: str
    unit: str
    history: History
    sha256: str
    left_out: LeftOut = field(default_factory=LeftOut)
    notes: list[str] = field(default_factory=list)


class SessionCorpus(Protocol):
    """The sessions of an input, by number."""

    @property
    def facts(self) -> CorpusFacts:
        """The facts of the input."""
        ...

    @property
    def shares_ids(self) -> bool:
        """Whether equal ids in different sessions are equal blocks."""
        ...

    def __len__(self) -> int:
        """The number of sessions."""
        ...

    def arrival_ns(self, number: int) -> int | None:
        """When a session began, from the start of the trace; None where the input does not say."""
        ...

    def making(self, number: int) -> Steps[SessionTree]:
        """The making of the session with a number."""
        ...

    def tree(self, number: int) -> SessionTree:
        """The session with a number, made now."""
        ...


class MakesTrees:
    """Makes a tree at once in the steps of `making`; a base of corpora."""

    __slots__ = ()

    def tree(self: SessionCorpus, number: int) -> SessionTree:
        """The session with a number, made now."""
        return finished(self.making(number))
