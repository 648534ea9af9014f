"""Weka's traces of agentic coding: a JSON object per conversation, with subagents as entries of `requests`.

The ids of blocks are unique in a conversation and chained: equal ids mean equal prefixes. Times of the
requests of subagents count from the conversation's start or from the spawn, in a whole input alike. The time
`t` of a subagent is the spawn or the end (the spawn is then `duration_ms` before), in a whole input alike:
what fits more subagents between the turn that spawns and the turn that joins. Source:
github.com/callanjfox/agentic-coding-analysis, docs/TRACE_FORMAT.md.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.plugins.agentic.chains import ChainLink, chains_of, labels_of
from loadgen.plugins.agentic.readers.documents import documents
from loadgen.plugins.agentic.readers.members import ids_in, ns_in, objects_in, text_in, tokens_in
from loadgen.plugins.agentic.readers.trace_format import TraceFormat
from loadgen.plugins.agentic.recorded import RecordedCorpus, RecordedSession, RecordedStream, RecordedTurn
from loadgen.plugins.agentic.session_tree import History
from workloads.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.agentic.readers.documents import Document
    from loadgen.plugins.agentic.readers.trace_format import ReadingOptions
    from loadgen.plugins.agentic.waiting import Place

BLOCK_TOKENS: Final = 64
ASYNC: Final = "async_launched"
_SLACK_NS: Final = 1_000_000_000
"""Starts are often whole seconds."""


@dataclass(slots=True)
class _Agent:
    """An agent while a conversation is read."""

    name: str
    kind: str
    members: Mapping[str, Any]
    spawned_by: Place | None = None
    joined_by: Place | None = None
    is_background: bool = False
    origin_ns: int = 0
    took_ns: int = 0


def is_weka(members: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a conversation of this format."""
    return isinstance(members.get("requests"), list) and "block_size" in members


def read_weka(path: Path, options: ReadingOptions, *, at_spawn: bool = False) -> RecordedCorpus:
    """Read conversations.

    Args:
        path: The input.
        options: The options of the user.
        at_spawn: Whether the time of each subagent is its spawn, whatever fits.

    Raises:
        TraceError: Sizes of blocks differ.
    """
    corpus = RecordedCorpus(options.facts(path, "s", options.declared(str(path), History.CUMULATIVE)), 0)
    reading = _Reading(corpus)
    for document in documents(path):
        reading.add(document)
    corpus.counts_from_spawn = reading.from_spawn > 0 and reading.from_spawn >= reading.from_start
    corpus.origin_is_end = not at_spawn and reading.fit_end > reading.fit_spawn
    reading.note_subagents()
    return corpus


class _Reading:
    """The state of a pass over an input."""

    def __init__(self, corpus: RecordedCorpus) -> None:
        self._corpus = corpus
        self.from_spawn = 0
        self.from_start = 0
        self.fit_spawn = 0
        self.fit_end = 0
        self.joined: list[tuple[int, int, int, int]] = []
        """Of each joined subagent: time, duration, the last inner time, the start of the joining turn."""

    def add(self, document: Document) -> None:
        """Add the conversation of a document."""
        members, left_out = document.members, self._corpus.facts.left_out
        if not is_weka(members):
            left_out.add("not a conversation with requests and block_size", document.place)
            return
        size = tokens_in(members, "block_size") or BLOCK_TOKENS
        if self._corpus.block_tokens not in (0, size):
            raise TraceError(
                f"{document.place}: blocks of {size} tokens, where the conversations before have blocks of "
                f"{self._corpus.block_tokens}; read the sizes as separate inputs"
            )
        self._corpus.block_tokens = size
        if text_in(members, "hash_id_scope") not in {"", "local"}:
            self._corpus.shares_ids = True
        streams = self._streams(document.place, members)
        if streams:
            name = text_in(members, "id") or document.place.rpartition("/")[2]
            self._corpus.add(RecordedSession(name, streams))
        else:
            left_out.add("a conversation without a request that can be asked", document.place)

    def note_subagents(self) -> None:
        """Note what the times of subagents are, and requests after the start of the joining turn."""
        corpus, notes = self._corpus, self._corpus.facts.notes
        shift, is_end = corpus.counts_from_spawn, corpus.origin_is_end
        if shift and is_end:
            notes.append(
                f"t of a subagent is read as the end, which fits {self.fit_end} of {len(self.joined)}; "
                f"as the spawn, t fits {self.fit_spawn}"
            )
        late = sum(last + (t - took * is_end) * shift > join for t, took, last, join in self.joined)
        if late:
            notes.append(
                f"{late} of {len(self.joined)} subagents have requests after the start of the turn that "
                "joins them; the turn waits for them all the same"
            )

    def _streams(self, place: str, members: Mapping[str, Any]) -> list[RecordedStream]:
        streams: list[RecordedStream] = []
        waiting = [_Agent("main", "", members)]
        while waiting:
            agent = waiting.pop(0)
            waiting[:0] = self._add_agent(place, agent, streams)
        return streams

    def _add_agent(self, place: str, agent: _Agent, streams: list[RecordedStream]) -> list[_Agent]:
        """Add the streams of an agent, one per chain, and return the subagents."""
        entries = objects_in(agent.members, "requests")
        turns: list[RecordedTurn] = []
        spawns: list[tuple[int, Mapping[str, Any]]] = []
        for entry in entries:
            if entry.get("type") == "subagent":
                spawns.append((len(turns), entry))
            elif (turn := self._turn(place, entry)) is not None:
                turns.append(turn)
        if not turns:
            return []
        places = self._add_chains(agent, turns, streams)
        return [
            subagent
            for before, entry in spawns
            if (subagent := self._subagent(place, entry, before, places, turns)) is not None
        ]

    def _add_chains(
        self, agent: _Agent, turns: list[RecordedTurn], streams: list[RecordedStream]
    ) -> list[Place]:
        """Add a stream per chain; return the place of each turn."""
        order = sorted(range(len(turns)), key=lambda number: turns[number].start_ns)
        chains = chains_of([_link(turns[number]) for number in order])
        places: list[Place] = [(0, 0)] * len(turns)
        first = len(streams)
        labels = labels_of([[turns[order[link]] for link in links] for links in chains])
        system = sum(tokens_in(agent.members, name) or 0 for name in ("tool_tokens", "system_tokens"))
        for number, links in enumerate(chains):
            for position, link in enumerate(links):
                places[order[link]] = (first + number, position)
            is_main = number == 0
            parent = (
                agent.spawned_by[0]
                if is_main and agent.spawned_by
                else None
                if not first and is_main
                else first
            )
            streams.append(
                RecordedStream(
                    agent.name if is_main else f"{agent.name}/{number + 1}",
                    [turns[order[link]] for link in links],
                    parent,
                    agent.kind if is_main else labels[number],
                    is_background=agent.is_background or not is_main,
                    system_tokens=system if is_main else 0,
                    origin_ns=agent.origin_ns,
                    took_ns=agent.took_ns,
                    spawned_by=agent.spawned_by if is_main else None,
                    joined_by=agent.joined_by if is_main else None,
                )
            )
        return places

    def _subagent(
        self,
        place: str,
        entry: Mapping[str, Any],
        before: int,
        places: Sequence[Place],
        turns: Sequence[RecordedTurn],
    ) -> _Agent | None:
        """The subagent of an entry, between the turns before and after; None if left out."""
        left_out = self._corpus.facts.left_out
        if not before:
            left_out.add("a subagent without a request before it", place)
            return None
        spawn_ns = ns_in(entry, "t") or 0
        inner = next(
            (ns for each in objects_in(entry, "requests") if (ns := ns_in(each, "t")) is not None), None
        )
        if inner is None:
            left_out.add("a subagent without a request", place)
            return None
        if inner < spawn_ns:
            self.from_spawn += 1
        else:
            self.from_start += 1
        is_background = entry.get("status") == ASYNC or before == len(places)
        took_ns = 0 if entry.get("status") == ASYNC else ns_in(entry, "duration_ms", 1_000_000) or 0
        if not is_background:
            last = max(ns_in(each, "t") or 0 for each in objects_in(entry, "requests"))
            spawner, joiner = turns[before - 1], turns[before]
            self.joined.append((spawn_ns, took_ns, last, joiner.start_ns))
            earliest = (spawner.start_ns if spawner.end_ns is None else spawner.end_ns) - _SLACK_NS
            latest = joiner.start_ns + _SLACK_NS
            self.fit_spawn += earliest <= spawn_ns and spawn_ns + took_ns <= latest
            self.fit_end += earliest <= spawn_ns - took_ns and spawn_ns <= latest
        return _Agent(
            text_in(entry, "agent_id") or f"subagent at {spawn_ns / 1e9:g} s",
            text_in(entry, "subagent_type"),
            entry,
            places[before - 1],
            None if is_background else places[before],
            is_background,
            spawn_ns,
            took_ns,
        )

    def _turn(self, place: str, entry: Mapping[str, Any]) -> RecordedTurn | None:
        left_out = self._corpus.facts.left_out
        start_ns, inputs, outputs = ns_in(entry, "t"), tokens_in(entry, "in"), tokens_in(entry, "out")
        ids = ids_in(entry, "hash_ids")
        if start_ns is None or ids is None:
            left_out.add("a request without t or hash_ids", place)
            return None
        if not inputs or not outputs:
            left_out.add("a request without input or output tokens", place)
            return None
        took_ns = ns_in(entry, "api_time")
        return RecordedTurn(
            start_ns,
            None if took_ns is None else start_ns + took_ns,
            inputs,
            outputs,
            ids[: inputs // self._corpus.block_tokens],
            text_in(entry, "model"),
        )


def _link(turn: RecordedTurn) -> ChainLink:
    end_ns = turn.start_ns if turn.end_ns is None else turn.end_ns
    return ChainLink(turn.start_ns, end_ns, turn.blocks, turn.model)


FORMAT: Final = TraceFormat("Weka", is_weka, read_weka)
AT_SPAWN: Final = TraceFormat(
    "Weka, subagents begin at t", lambda _: False, partial(read_weka, at_spawn=True)
)
