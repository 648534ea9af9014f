"""agentperf-local's rows: a request a row, with all messages of the prompt.

Source: agentperf-local 0.3.2, as described by third parties (Artificial Analysis AgentPerf, July 2026).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agentic.readers.members import ns_in, objects_in, text_in, tokens_in
from loadgen.plugins.agentic.readers.row_store import RowStore, StoredCorpus
from loadgen.plugins.agentic.readers.trace_format import TraceFormat
from loadgen.plugins.agentic.session_tree import AgentStream, AgentTurn, History, SessionTree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.agentic.readers.trace_format import ReadingOptions

_MS: Final = 1_000_000


def is_agentperf(members: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a row of this format."""
    return members.keys() >= {"conversation_id", "turn_id", "messages"}


def read_agentperf(path: Path, options: ReadingOptions) -> StoredCorpus:
    """Read conversations; the rows of each are taken by `conversation_idx`."""
    facts = options.facts(path, "ms", options.declared(str(path), History.MESSAGES))
    store = RowStore(path)
    sessions: dict[str, list[tuple[int, int]]] = {}
    for number, place, row in store.rows():
        name = text_in(row, "conversation_id")
        if not name or not objects_in(row, "messages"):
            facts.left_out.add("a row without conversation_id or messages", place)
            continue
        rows = sessions.setdefault(name, [])
        place_in = tokens_in(row, "conversation_idx")
        rows.append((len(rows) if place_in is None else place_in, number))
    ordered = {name: [number for _, number in sorted(rows)] for name, rows in sessions.items()}
    return StoredCorpus(facts, store, ordered, _tree)


def _tree(name: str, rows: Sequence[Mapping[str, Any]]) -> SessionTree:
    turns: list[AgentTurn] = []
    for number, row in enumerate(rows):
        delay_ns = _tools_ns(rows[number - 1]) if number else 0
        before = number - 1 if number else None
        turns.append(
            AgentTurn(
                stream=0,
                after=() if before is None else (before,),
                delay_ns=delay_ns,
                tool_ns=delay_ns,
                output_tokens=tokens_in(row, "target_output_tokens") or tokens_in(row, "max_output_tokens"),
                extends=before,
                messages=tuple(objects_in(row, "messages")),
                tools=tuple(objects_in(row, "tools")),
            )
        )
    task = text_in(rows[0], "task_id")
    tags = {"task": task} if task else {}
    return SessionTree(name, (AgentStream("main"),), tuple(turns), History.MESSAGES, tags=tags)


def _tools_ns(row: Mapping[str, Any]) -> int:
    """The time of tools after a request: as simulated, else as recorded, one call after the other."""
    simulated = ns_in(row, "simulated_tool_delay_ms_after", _MS)
    if simulated is not None:
        return max(0, simulated)
    calls = objects_in(row, "recorded_tool_calls_after")
    return sum(max(0, ns_in(call, "duration_ms", _MS) or 0) for call in calls)


FORMAT: Final = TraceFormat("agentperf-local", is_agentperf, read_agentperf)
