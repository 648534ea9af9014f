"""TraceLab's rounds of coding agents (Claude Code, Codex): a request a row, with times of events.

A round is submitted at its last input event and ends with its last output event. The blocks of its prompt are
those of the round before as far as the cached prefix goes, then new ones. A session is a subagent if it ran
inside a call that starts agents, of a session of the same user and project. Source:
github.com/uw-syfi/TraceLab; the conversion follows AIPerf.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field
from loadgen.plugins.agentic.readers.documents import documents
from loadgen.plugins.agentic.readers.members import moment_in, objects_in, text_in, tokens_in
from loadgen.plugins.agentic.readers.trace_format import TraceFormat
from loadgen.plugins.agentic.recorded import RecordedCorpus, RecordedSession, RecordedStream, RecordedTurn
from loadgen.plugins.agentic.session_tree import History
from workloads.traces.form import DATES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.agentic.readers.trace_format import ReadingOptions

BLOCK_TOKENS: Final = 64
SHORTEST_CALL_NS: Final = 10_000_000_000
_INPUT: Final = frozenset({"user_message", "tool_result"})
_OUTPUT: Final = frozenset({"reasoning", "text", "tool_call"})
_CALLS: Final = frozenset({"Agent", "Task"})
_SPAWN: Final = "spawn_agent"
_WAIT: Final = "wait_agent"


@dataclass(frozen=True, slots=True)
class _Round:
    """A row of one request."""

    submitted_ns: int
    index: int
    end_ns: int
    total: int
    prefix: int
    outputs: int
    model: str
    after_tools: bool
    calls: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class _Call:
    """A time in which a session may have started subagents: from a round to a later one."""

    session: str
    start_ns: int
    end_ns: int
    spawned_by: int
    joined_by: int


@dataclass(slots=True)
class _Rounds:
    """The rounds of a session, in order of submission."""

    owner: tuple[str, str]
    rounds: list[_Round] = field(default_factory=list)
    call: _Call | None = None


def is_tracelab(members: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a round of this format."""
    return members.keys() >= {"session_id", "round_index", "timing_events"}


def read_tracelab(path: Path, options: ReadingOptions) -> RecordedCorpus:
    """Read rounds as sessions."""
    facts = options.facts(path, DATES, options.declared(str(path), History.CUMULATIVE))
    sessions: dict[str, _Rounds] = {}
    for document in documents(path):
        row = document.members
        name, one_round = text_in(row, "session_id"), _round(row)
        if not name or one_round is None:
            facts.left_out.add("a round without tokens, input event or output event", document.place)
            continue
        owner = (text_in(row, "user"), text_in(row, "project"))
        sessions.setdefault(name, _Rounds(owner)).rounds.append(one_round)
    for each in sessions.values():
        each.rounds.sort(key=lambda each: (each.submitted_ns, each.index))
    _find_parents(sessions)
    corpus = RecordedCorpus(facts, options.form.block_tokens or BLOCK_TOKENS)
    _add(sessions, corpus)
    return corpus


def _round(row: Mapping[str, Any]) -> _Round | None:
    events = objects_in(row, "timing_events")
    inputs, outputs = _moments(events, _INPUT), _moments(events, _OUTPUT)
    total, out = tokens_in(row, "input_tokens_total"), tokens_in(row, "output_tokens")
    if not inputs or not outputs or not total or not out:
        return None
    submitted_ns = max(inputs)
    calls = tuple(
        (text_in(tool, "tool_name"), start_ns, end_ns)
        for tool in objects_in(row, "tools")
        if (start_ns := moment_in(tool, "emitted_at")) is not None
        and (end_ns := moment_in(tool, "result_at")) is not None
    )
    return _Round(
        submitted_ns,
        tokens_in(row, "round_index") or 0,
        max(submitted_ns, *outputs),
        total,
        min(total, tokens_in(row, "prefix_tokens") or 0),
        out,
        text_in(row, "model"),
        any(event.get("event_type") == "tool_result" for event in events),
        calls,
    )


def _moments(events: Sequence[Mapping[str, Any]], types: frozenset[str]) -> list[int]:
    moments = (moment_in(event, "timestamp") for event in events if event.get("event_type") in types)
    return [moment for moment in moments if moment is not None]


def _find_parents(sessions: Mapping[str, _Rounds]) -> None:
    """Find the call that each session ran inside; the shortest of several."""
    by_owner: dict[tuple[str, str], list[_Call]] = {}
    for name, session in sessions.items():
        by_owner.setdefault(session.owner, []).extend(_calls(name, session.rounds))
    for name, session in sessions.items():
        start_ns = session.rounds[0].submitted_ns
        end_ns = max(each.end_ns for each in session.rounds)
        around = [
            call
            for call in by_owner[session.owner]
            if call.session != name and call.start_ns <= start_ns and end_ns <= call.end_ns
        ]
        session.call = min(around, key=lambda call: call.end_ns - call.start_ns, default=None)


def _calls(name: str, rounds: Sequence[_Round]) -> Iterator[_Call]:
    spawns = [
        (number, start)
        for number, each in enumerate(rounds)
        for tool, start, _ in each.calls
        if tool == _SPAWN
    ]
    waits = [
        (number, end) for number, each in enumerate(rounds) for tool, _, end in each.calls if tool == _WAIT
    ]
    if spawns and waits:
        yield _Call(name, spawns[0][1], waits[-1][1], spawns[0][0], waits[-1][0] + 1)
    for number, each in enumerate(rounds):
        for tool, start_ns, end_ns in each.calls:
            if tool in _CALLS and end_ns - start_ns >= SHORTEST_CALL_NS:
                yield _Call(name, start_ns, end_ns, number, number + 1)


def _add(sessions: Mapping[str, _Rounds], corpus: RecordedCorpus) -> None:
    """Add the sessions outside of all calls by start, each with subagents."""
    children: dict[str, list[str]] = {}
    for name, session in sessions.items():
        if session.call is not None:
            children.setdefault(session.call.session, []).append(name)
    roots = [name for name, session in sessions.items() if session.call is None]
    roots.sort(key=lambda name: sessions[name].rounds[0].submitted_ns)
    first_ns = sessions[roots[0]].rounds[0].submitted_ns if roots else 0
    for root in roots:
        streams: list[RecordedStream] = []
        numbers: dict[str, int] = {}
        fresh = 1
        waiting = [root]
        while waiting:
            name = waiting.pop(0)
            numbers[name] = len(streams)
            turns, fresh = _turns(sessions[name].rounds, fresh, corpus.block_tokens)
            streams.append(_stream(name, sessions, turns, numbers))
            waiting += children.get(name, ())
        arrival_ns = sessions[root].rounds[0].submitted_ns - first_ns
        corpus.add(RecordedSession(root, streams, arrival_ns))


def _stream(
    name: str, sessions: Mapping[str, _Rounds], turns: Sequence[RecordedTurn], numbers: Mapping[str, int]
) -> RecordedStream:
    call = sessions[name].call
    if call is None:
        return RecordedStream(name, turns)
    parent = numbers[call.session]
    is_background = call.joined_by >= len(sessions[call.session].rounds)
    return RecordedStream(
        name,
        turns,
        parent,
        is_background=is_background,
        spawned_by=(parent, call.spawned_by),
        joined_by=None if is_background else (parent, call.joined_by),
    )


def _turns(rounds: Sequence[_Round], fresh: int, size: int) -> tuple[list[RecordedTurn], int]:
    """The requests of a session, and the next id that is not used."""
    turns: list[RecordedTurn] = []
    for each in rounds:
        shared = turns[-1].blocks[: each.prefix // size] if turns else []
        new = each.total // size - len(shared)
        turns.append(
            RecordedTurn(
                each.submitted_ns,
                each.end_ns,
                each.total,
                each.outputs,
                [*shared, *range(fresh, fresh + new)],
                each.model,
                max(0, each.submitted_ns - rounds[len(turns) - 1].end_ns)
                if turns and each.after_tools
                else 0,
            )
        )
        fresh += new
    return turns, fresh


FORMAT: Final = TraceFormat("TraceLab", is_tracelab, read_tracelab)
