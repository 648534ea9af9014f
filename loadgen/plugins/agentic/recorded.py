"""Recorded sessions in compact arrays, from which session trees are made on demand."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

import orjson

from lazy_dataclasses import dataclass, field, replace
from loadgen.plugins.agentic.block_store import NO_BASE, BlockStore, StoredBlocks, longest_match
from loadgen.plugins.agentic.session_corpus import MakesTrees
from loadgen.plugins.agentic.session_tree import AgentStream, AgentTurn, SessionTree
from loadgen.plugins.agentic.waiting import StreamTimes, in_order
from workloads.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.plugins.agentic.session_corpus import CorpusFacts
    from loadgen.plugins.agentic.waiting import Place
    from loadgen.plugins.agentic.workbench import Steps

NOT_STATED: Final = -1
_PER_STEP: Final = 8
"""Turns, which take some 10 µs each."""

MOST_TURNS: Final = 2_000_000
MOST_NEW_BLOCKS: Final = 100_000_000
"""Of all sessions together; each takes eight bytes here, and in every worker."""


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """A request of a recorded session.

    Attributes:
        start_ns: When it began, on the clock of the session, or of the stream.
        end_ns: When it ended; None where the input does not say.
        input_tokens: The tokens of the whole prompt.
        output_tokens: The tokens of the answer.
        blocks: The ids of the blocks of the prompt.
        model: The model.
        tool_ns: The time of tools before it; None where the input does not say.
        chat: JSON of an object with the `messages` of the whole prompt and the `tools`; empty without.
    """

    start_ns: int
    end_ns: int | None
    input_tokens: int
    output_tokens: int
    blocks: Sequence[int]
    model: str = ""
    tool_ns: int | None = None
    chat: bytes = b""


@dataclass(frozen=True, slots=True)
class RecordedStream:
    """An agent of a recorded session.

    Attributes:
        name: Unique in the session.
        turns: The requests by start, at least one.
        parent: The number of the stream that spawned it.
        kind: See `AgentStream`.
        is_background: See `AgentStream`.
        system_tokens: See `AgentStream`.
        origin_ns: The spawn or the end, from which inner times may count.
        took_ns: From the spawn to the end.
        spawned_by: The turn that spawned it, as stream and number in it; None where none came before.
        joined_by: The turn that waits for its end; None for background.
    """

    name: str
    turns: Sequence[RecordedTurn]
    parent: int | None = None
    kind: str = ""
    is_background: bool = False
    system_tokens: int = 0
    origin_ns: int = 0
    took_ns: int = 0
    spawned_by: Place | None = None
    joined_by: Place | None = None


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """A recorded session.

    Attributes:
        session_id: The recorded id.
        streams: The agents, of which the first is the main agent.
        arrival_ns: See `SessionTree`.
        tags: See `SessionTree`.
    """

    session_id: str
    streams: Sequence[RecordedStream]
    arrival_ns: int | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class RecordedCorpus(MakesTrees):
    """Recorded sessions as one value: arrays of all turns, and trees on demand.

    Attributes:
        facts: What the input is.
        block_tokens: The tokens of a block.
        keeps_interleaving: Whether turns wait for what had ended in other streams; see `in_order`.
        counts_from_spawn: Whether the times of subagents count from their spawn.
        origin_is_end: Whether the origins of subagents are their ends.
        shares_ids: Whether equal ids in different sessions are equal blocks.
    """

    facts: CorpusFacts
    block_tokens: int
    keeps_interleaving: bool = True
    counts_from_spawn: bool = False
    origin_is_end: bool = False
    shares_ids: bool = False
    _sessions: list[tuple[str, int, int | None, Mapping[str, str]]] = field(default_factory=list)
    _streams: list[RecordedStream] = field(default_factory=list)
    _first_turns: array[int] = field(default_factory=lambda: array("I", [0]))
    _starts: array[int] = field(default_factory=lambda: array("q"))
    _ends: array[int] = field(default_factory=lambda: array("q"))
    _inputs: array[int] = field(default_factory=lambda: array("I"))
    _outputs: array[int] = field(default_factory=lambda: array("I"))
    _tools: array[int] = field(default_factory=lambda: array("q"))
    _models: array[int] = field(default_factory=lambda: array("H"))
    _model_numbers: dict[str, int] = field(default_factory=dict)
    _chats: dict[int, bytes] = field(default_factory=dict)
    _blocks: BlockStore = field(default_factory=BlockStore)

    def add(self, session: RecordedSession) -> None:
        """Add a session.

        Raises:
            TraceError: There are more requests or blocks than can be kept.
        """
        self._sessions.append((session.session_id, len(self._streams), session.arrival_ns, session.tags))
        heads: list[tuple[int, Sequence[int]]] = []
        for stream in session.streams:
            self._add_stream(stream, heads)
        if len(self._starts) > MOST_TURNS or len(self._blocks.new) > MOST_NEW_BLOCKS:
            raise TraceError(
                f"{self.facts.name}: more than {MOST_TURNS} requests, or {MOST_NEW_BLOCKS} different blocks, "
                "cannot be replayed in one run; give a part of the sessions"
            )

    def _add_stream(self, stream: RecordedStream, heads: list[tuple[int, Sequence[int]]]) -> None:
        tail: list[tuple[int, Sequence[int]]] = []
        for turn in stream.turns:
            number = len(self._starts)
            base, shared = longest_match(turn.blocks, tail or heads)
            heads.append((number, turn.blocks))
            tail = [(number, turn.blocks)]
            self._blocks.add(turn.blocks, base, shared)
            if turn.chat:
                self._chats[number] = turn.chat
            self._starts.append(turn.start_ns)
            self._ends.append(NOT_STATED if turn.end_ns is None else turn.end_ns)
            self._inputs.append(turn.input_tokens)
            self._outputs.append(turn.output_tokens)
            self._tools.append(NOT_STATED if turn.tool_ns is None else turn.tool_ns)
            self._models.append(self._model_numbers.setdefault(turn.model, len(self._model_numbers)))
        self._first_turns.append(len(self._starts))
        # The arrays hold the turns.
        self._streams.append(replace(stream, turns=()))

    def __len__(self) -> int:
        return len(self._sessions)

    def arrival_ns(self, number: int) -> int | None:
        """When a session began, from the start of the trace; None where the input does not say."""
        return self._sessions[number][2]

    def making(self, number: int) -> Steps[SessionTree]:
        """The making of the session with a number."""
        session_id, first, arrival_ns, tags = self._sessions[number]
        end = self._sessions[number + 1][1] if number + 1 < len(self._sessions) else len(self._streams)
        streams = self._streams[first:end]
        firsts = self._first_turns[first : end + 1]
        times = [
            self._times(stream, firsts[place], firsts[place + 1]) for place, stream in enumerate(streams)
        ]
        begin_ns = min(each.starts_ns[0] for each in times)
        yield
        ordered = []
        for each in in_order(times, keeps_interleaving=self.keeps_interleaving):
            ordered.append(each)
            if not len(ordered) % _PER_STEP:
                yield
        numbers: dict[Place, int] = {turn.place: place for place, turn in enumerate(ordered)}
        by_row = {firsts[stream] + turn: numbers[stream, turn] for stream, turn in numbers}
        models = list(self._model_numbers)
        turns: list[AgentTurn] = []
        for each in ordered:
            if not len(turns) % _PER_STEP:
                yield
            stream, turn = each.place
            row = firsts[stream] + turn
            base = self._blocks.bases[row]
            start_ns = times[stream].starts_ns[turn] - begin_ns
            chat = orjson.loads(self._chats.get(row, b"{}"))
            turns.append(
                AgentTurn(
                    stream=stream,
                    after=tuple(numbers[place] for place in each.after),
                    delay_ns=each.delay_ns,
                    tool_ns=None if self._tools[row] == NOT_STATED else min(self._tools[row], each.delay_ns),
                    input_tokens=self._inputs[row],
                    output_tokens=self._outputs[row],
                    blocks=StoredBlocks(self._blocks, row),
                    extends=None if base == NO_BASE else by_row[base],
                    kept_blocks=self._blocks.shared[row],
                    messages=tuple(chat.get("messages", ())),
                    tools=tuple(chat.get("tools", ())),
                    model=models[self._models[row]],
                    start_ns=start_ns,
                    end_ns=None if self._ends[row] == NOT_STATED else times[stream].ends_ns[turn] - begin_ns,
                )
            )
        return SessionTree(
            session_id,
            tuple(
                AgentStream(
                    each.name, each.parent, each.kind, each.is_background, self._system(row, next_row, each)
                )
                for each, row, next_row in zip(streams, firsts[:-1], firsts[1:], strict=True)
            ),
            tuple(turns),
            self.facts.history,
            self.block_tokens,
            arrival_ns,
            tags,
        )

    def _times(self, stream: RecordedStream, row: int, end: int) -> StreamTimes:
        spawn_ns = stream.origin_ns - (stream.took_ns if self.origin_is_end else 0)
        shift = spawn_ns if self.counts_from_spawn else 0
        starts = [at_ns + shift for at_ns in self._starts[row:end]]
        ends = [
            at_ns + shift if at_ns != NOT_STATED else start
            for at_ns, start in zip(self._ends[row:end], starts, strict=True)
        ]
        return StreamTimes(starts, ends, stream.spawned_by, stream.joined_by)

    def _system(self, row: int, end: int, stream: RecordedStream) -> int:
        """The tokens of the system prompt that all prompts of the stream share."""
        shared = (self._blocks.shared[each] for each in range(row + 1, end))
        return min(stream.system_tokens, min(shared, default=self._blocks.length(row)) * self.block_tokens)
