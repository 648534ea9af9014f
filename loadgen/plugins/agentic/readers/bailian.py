"""Bailian's rows as sessions: each chat continues the prompt of a parent (`parent_chat_id`).

Rows have `chat_id`, `parent_chat_id` (-1 for none), `timestamp` in s, `input_length`, `output_length`, and
`hash_ids` of blocks of 16 tokens, equal in all sessions. The format is used if it is named: by default the
rows are replayed one by one at their times (`workloads.traces.json_trace`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agentic.readers.members import ids_in, ns_in, text_in, tokens_in
from loadgen.plugins.agentic.readers.mooncake import WITHOUT_ENDS, with_blocks
from loadgen.plugins.agentic.readers.row_store import RowStore, StoredCorpus
from loadgen.plugins.agentic.readers.trace_format import TraceFormat
from loadgen.plugins.agentic.session_tree import AgentStream, AgentTurn, History, SessionTree
from workloads.traces.form import UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.agentic.readers.trace_format import ReadingOptions

BLOCK_TOKENS: Final = 16
_ROOT: Final = {"", "-1"}


def is_never(_: Mapping[str, Any]) -> bool:
    """False: the format has to be named."""
    return False


def read_bailian_sessions(path: Path, options: ReadingOptions) -> StoredCorpus:
    """Read chats as sessions; a chat without a parent in the input begins a session."""
    history = options.declared(str(path), History.CUMULATIVE)
    unit = options.form.unit or "s"
    facts = options.facts(path, unit, history)
    store = RowStore(path)
    roots: dict[str, str] = {}
    sessions: dict[str, list[int]] = {}
    arrivals_ns: dict[str, int] = {}
    for number, place, row in store.rows():
        chat, parent = text_in(row, "chat_id"), text_in(row, "parent_chat_id")
        if not chat or ns_in(row, "timestamp") is None:
            facts.left_out.add("a row without chat_id or timestamp", place)
        elif not tokens_in(row, "input_length") or not tokens_in(row, "output_length"):
            facts.left_out.add("a row without input or output tokens", place)
        else:
            roots[chat] = chat if parent in _ROOT else roots.get(parent, chat)
            sessions.setdefault(roots[chat], []).append(number)
            arrivals_ns.setdefault(roots[chat], ns_in(row, "timestamp", UNITS[unit]) or 0)
    facts.notes.append(WITHOUT_ENDS)
    size = options.form.block_tokens or BLOCK_TOKENS

    tree = partial(_tree, unit_ns=UNITS[unit], size=size)
    return StoredCorpus(facts, store, sessions, tree, shares_ids=True, arrivals_ns=arrivals_ns)


def _tree(name: str, rows: Sequence[Mapping[str, Any]], unit_ns: int, size: int) -> SessionTree:
    """A session; of two chats with one parent, the second is a stream that begins like the first."""
    streams = [AgentStream("main")]
    turns: list[AgentTurn] = []
    numbers: dict[str, int] = {}
    tails: dict[int, int] = {}
    begin_ns = ns_in(rows[0], "timestamp", unit_ns) or 0
    for number, row in enumerate(rows):
        chat, base = text_in(row, "chat_id"), numbers.get(text_in(row, "parent_chat_id"))
        start_ns = (ns_in(row, "timestamp", unit_ns) or 0) - begin_ns
        stream = 0 if base is None else turns[base].stream
        if base is not None and tails[stream] != base:
            streams.append(AgentStream(chat, stream))
            stream = len(streams) - 1
        numbers[chat], tails[stream] = number, number
        before_ns = 0 if base is None else turns[base].start_ns or 0
        turn = AgentTurn(
            stream=stream,
            after=() if base is None else (base,),
            delay_ns=max(0, start_ns - before_ns),
            output_tokens=tokens_in(row, "output_length"),
            extends=base,
            start_ns=start_ns,
        )
        last = None if base is None else turns[base]
        turns.append(
            with_blocks(turn, last, tokens_in(row, "input_length") or 1, ids_in(row, "hash_ids"), size)
        )
    kind = text_in(rows[0], "type")
    return SessionTree(
        name,
        tuple(streams),
        tuple(turns),
        History.CUMULATIVE,
        size,
        arrival_ns=begin_ns,
        tags={"type": kind} if kind else {},
    )


FORMAT: Final = TraceFormat("Bailian as sessions", is_never, read_bailian_sessions)
