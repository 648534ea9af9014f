"""MLPerf Endpoints' rows of agentic inference: a message a row, in the order of turns.

A request is made before each answer of the recorded assistant, with the messages since the answer before.
Source: github.com/mlcommons/endpoints, `examples/10`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agentic.readers.members import ns_in, objects_in, text_in
from loadgen.plugins.agentic.readers.row_store import RowStore, StoredCorpus
from loadgen.plugins.agentic.readers.trace_format import TraceFormat
from loadgen.plugins.agentic.session_tree import AgentStream, AgentTurn, History, SessionTree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.agentic.readers.trace_format import ReadingOptions
    from workloads.sample import Message

_ROLES: Final = frozenset({"user", "assistant", "tool"})
_OF_MESSAGE: Final = ("content", "reasoning_content", "tool_calls")


def is_mlperf(members: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a row of this format."""
    return members.keys() >= {"conversation_id", "turn", "role"}


def read_mlperf(path: Path, options: ReadingOptions) -> StoredCorpus:
    """Read conversations; rows of several may alternate."""
    history = options.declared(str(path), History.RECORDED, History.LIVE)
    facts = options.facts(path, "s", history)
    store = RowStore(path)
    sessions: dict[str, list[int]] = {}
    asks: set[str] = set()
    for number, place, row in store.rows():
        name, role = text_in(row, "conversation_id"), row.get("role")
        if not name or role not in _ROLES:
            facts.left_out.add("a row without conversation_id, or with another role", place)
            continue
        sessions.setdefault(name, []).append(number)
        if role != "assistant":
            asks.add(name)
    for name in sessions.keys() - asks:
        facts.left_out.add("a conversation in which no user and no tool says anything", name)
    made = {name: rows for name, rows in sessions.items() if name in asks}
    return StoredCorpus(facts, store, made, partial(_tree, history=history))


def _tree(name: str, rows: Sequence[Mapping[str, Any]], history: History) -> SessionTree:
    turns: list[AgentTurn] = []
    new: list[Message] = []
    waits_ns = tools_ns = 0
    tools: tuple[dict[str, Any], ...] = ()
    for row in rows:
        tools = tuple(objects_in(row, "tools")) or tools
        if row["role"] != "assistant":
            wait_ns = ns_in(row, "delay_seconds") or 0
            waits_ns += wait_ns
            tools_ns += wait_ns if row["role"] == "tool" else 0
            new += _messages(row, is_first=not turns and not new)
        elif new:
            turns.append(_turn(turns, new, _answer(row), tools, waits_ns, tools_ns))
            new, waits_ns, tools_ns = [], 0, 0
    if new:
        turns.append(_turn(turns, new, None, tools, waits_ns, tools_ns))
    return SessionTree(name, (AgentStream("main"),), tuple(turns), history)


def _turn(
    before: Sequence[AgentTurn],
    new: Sequence[Message],
    answer: Message | None,
    tools: tuple[Mapping[str, Any], ...],
    waits_ns: int,
    tools_ns: int,
) -> AgentTurn:
    last = len(before) - 1 if before else None
    return AgentTurn(
        stream=0,
        after=() if last is None else (last,),
        delay_ns=waits_ns,
        tool_ns=tools_ns,
        extends=last,
        messages=tuple(new),
        answer=answer,
        tools=tools,
    )


def _messages(row: Mapping[str, Any], *, is_first: bool) -> list[Message]:
    messages: list[Message] = []
    if is_first and (system := text_in(row, "system")):
        messages.append({"role": "system", "content": system})
    if row["role"] == "tool":
        return messages + [
            {
                "role": "tool",
                "tool_call_id": text_in(result, "tool_call_id"),
                "content": result.get("content") or "",
            }
            for result in objects_in(row, "tool_results")
        ]
    return [*messages, {"role": "user", "content": row.get("content") or ""}]


def _answer(row: Mapping[str, Any]) -> Message:
    has = {name: row[name] for name in _OF_MESSAGE if row.get(name) is not None}
    return {"role": "assistant", "content": None, **has}


FORMAT: Final = TraceFormat("MLPerf Endpoints agentic rows", is_mlperf, read_mlperf)
