"""Rows of an input that are read again when a session is made: only places are in memory."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import orjson

from loadgen.plugins.agentic.readers.documents import documents
from loadgen.plugins.agentic.session_corpus import MakesTrees
from workloads.sources import parse_json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.agentic.session_corpus import CorpusFacts
    from loadgen.plugins.agentic.session_tree import SessionTree
    from loadgen.plugins.agentic.workbench import Steps


class RowStore:
    """The rows of an input by number; compressed rows, and elements of lists, are kept as text.

    Args:
        path: A file, or a folder of files.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files: list[Path] = []
        self._of_file = array("I")
        self._offsets = array("Q")
        self._lengths = array("Q")
        self._texts: dict[int, bytes] = {}

    def rows(self) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
        """Read the input: the number of each row, the place for messages, and the members."""
        for document in documents(self._path):
            number = len(self._offsets)
            if not self._files or self._files[-1] != document.file:
                self._files.append(document.file)
            if document.offset is None:
                self._texts[number] = orjson.dumps(document.members)
            self._of_file.append(len(self._files) - 1)
            self._offsets.append(document.offset or 0)
            self._lengths.append(document.length)
            yield number, document.place, document.members

    def again(self, numbers: Sequence[int]) -> Steps[list[Mapping[str, Any]]]:
        """The members of rows, read from the files."""
        rows = []
        for number in numbers:
            rows.append(self._row(number))
            yield
        return rows

    def _row(self, number: int) -> Mapping[str, Any]:
        text = self._texts.get(number)
        if text is None:
            with self._files[self._of_file[number]].open("rb") as stored:
                stored.seek(self._offsets[number])
                text = stored.read(self._lengths[number])
        members: Mapping[str, Any] = parse_json_text(text.decode("utf-8-sig"))
        return members


class StoredCorpus(MakesTrees):
    """Sessions of messages as a corpus, each made from rows on demand; see `SessionCorpus`.

    Args:
        facts: What the input is.
        store: The rows.
        sessions: The names of sessions, and the numbers of their rows in order.
        made: Makes a session of its name and rows.
        shares_ids: Whether equal ids in different sessions are equal blocks.
        arrivals_ns: When sessions began, by name, from the start of the trace.
    """

    def __init__(
        self,
        facts: CorpusFacts,
        store: RowStore,
        sessions: Mapping[str, Sequence[int]],
        made: Callable[[str, Sequence[Mapping[str, Any]]], SessionTree],
        *,
        shares_ids: bool = False,
        arrivals_ns: Mapping[str, int] | None = None,
    ) -> None:
        self.facts = facts
        self.shares_ids = shares_ids
        self._arrivals_ns = arrivals_ns or {}
        self._store = store
        self._names = list(sessions)
        self._rows = [array("I", rows) for rows in sessions.values()]
        self._made = made

    def __len__(self) -> int:
        return len(self._names)

    def arrival_ns(self, number: int) -> int | None:
        """See `SessionCorpus`."""
        return self._arrivals_ns.get(self._names[number])

    def making(self, number: int) -> Steps[SessionTree]:
        """The making of the session with a number."""
        rows = yield from self._store.again(self._rows[number])
        return self._made(self._names[number], rows)
