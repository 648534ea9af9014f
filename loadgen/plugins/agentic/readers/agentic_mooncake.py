"""Dynamo's agentic Mooncake: rows of requests that wait for others by id.

A row has `request_id`, `wait_for` (the requests that must have ended), `delay` and `tool_wait_ms` after the
last of these, `session_id` (the agent), `input_length`, `output_length`, `hash_ids` and `timestamp`. Requests
that wait for each other are one session. Source: github.com/ai-dynamo/dynamo, pull request 9728.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agentic.readers.members import ids_in, ns_in, text_in, tokens_in
from loadgen.plugins.agentic.readers.mooncake import BLOCK_TOKENS, delay_of, with_blocks
from loadgen.plugins.agentic.readers.row_store import RowStore, StoredCorpus
from loadgen.plugins.agentic.readers.trace_format import TraceFormat
from loadgen.plugins.agentic.session_tree import AgentStream, AgentTurn, History, SessionTree
from workloads.errors import TraceError
from workloads.traces.form import UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.agentic.readers.trace_format import ReadingOptions


def is_agentic_mooncake(members: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a row of this format: the first one waits for none, and begins a prompt."""
    own = {"wait_for", "branches", "prefix_reset", "tool_wait_ms"}
    return "request_id" in members and "input_length" in members and not members.keys().isdisjoint(own)


def read_agentic_mooncake(path: Path, options: ReadingOptions) -> StoredCorpus:
    """Read rows as sessions.

    Raises:
        TraceError: A row waits for a request that no earlier row has.
    """
    store, unit = RowStore(path), options.form.unit or "ms"
    facts = options.facts(path, unit, options.declared(str(path), History.CUMULATIVE))
    sessions: dict[str, list[int]] = {}
    session_of: dict[str, str] = {}
    arrivals_ns: dict[str, int] = {}
    for number, place, row in store.rows():
        name, waits = text_in(row, "request_id"), _waits(row)
        if not name or not tokens_in(row, "input_length") or not tokens_in(row, "output_length"):
            facts.left_out.add("a row without request_id or lengths", place)
            continue
        if missing := [each for each in waits if each not in session_of]:
            raise TraceError(f"{place}: wait_for {missing[0]!r}: no row before has this request_id")
        merged = list(dict.fromkeys(session_of[each] for each in waits)) or [name]
        for other in merged[1:]:
            # Sessions that a row waits for together are one.
            rows = sessions.pop(other)
            sessions[merged[0]] += rows
            session_of |= {each: merged[0] for each, session in session_of.items() if session == other}
            arrivals_ns.pop(other, None)
        session_of[name] = merged[0]
        sessions.setdefault(merged[0], []).append(number)
        if not waits and (at_ns := ns_in(row, "timestamp", UNITS[unit])) is not None:
            arrivals_ns.setdefault(merged[0], at_ns)
    ordered = {name: sorted(rows) for name, rows in sessions.items()}
    size = options.form.block_tokens or BLOCK_TOKENS
    tree = partial(_tree, unit_ns=UNITS[unit], size=size)
    return StoredCorpus(facts, store, ordered, tree, shares_ids=True, arrivals_ns=arrivals_ns)


def _waits(row: Mapping[str, Any]) -> list[str]:
    waits = row.get("wait_for")
    return [each for each in waits if isinstance(each, str)] if isinstance(waits, list) else []


def _tree(name: str, rows: Sequence[Mapping[str, Any]], unit_ns: int, size: int) -> SessionTree:
    numbers: dict[str, int] = {}
    streams: dict[str, int] = {}
    agents: list[AgentStream] = []
    last: dict[int, int] = {}
    turns: list[AgentTurn] = []
    began_ns = ns_in(rows[0], "timestamp", unit_ns)
    for number, row in enumerate(rows):
        after = tuple(sorted(numbers[each] for each in _waits(row)))
        agent = text_in(row, "session_id") or name
        if agent not in streams:
            streams[agent] = len(agents)
            agents.append(AgentStream(agent, turns[after[-1]].stream if after else None))
        stream = streams[agent]
        at_ns, tool_ns = ns_in(row, "timestamp", unit_ns), ns_in(row, "tool_wait_ms", UNITS["ms"])
        base = None if row.get("prefix_reset") else last.get(stream)
        turn = AgentTurn(
            stream=stream,
            after=after,
            delay_ns=max(0, (delay_of(row) or 0) + (tool_ns or 0)),
            tool_ns=tool_ns or 0,
            output_tokens=tokens_in(row, "output_length"),
            extends=base,
            start_ns=None if at_ns is None or began_ns is None else max(0, at_ns - began_ns),
        )
        inputs = tokens_in(row, "input_length") or 1
        before = None if base is None else turns[base]
        turns.append(with_blocks(turn, before, inputs, ids_in(row, "hash_ids"), size))
        numbers[text_in(row, "request_id")] = last[stream] = number
    return SessionTree(name, tuple(agents), tuple(turns), History.CUMULATIVE, size, arrival_ns=began_ns)


FORMAT: Final = TraceFormat("Dynamo agentic Mooncake", is_agentic_mooncake, read_agentic_mooncake)
