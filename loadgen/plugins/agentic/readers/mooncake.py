"""Mooncake's rows with `session_id`: requests of sessions, with a history that has to be declared.

A row has `timestamp` or `delay` (`delay_ms`), in ms, `input_length`, `output_length` and `hash_ids`, or
`messages`. The user declares the history: whole prompts, or what is new in each.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agentic.block_store import common_length
from loadgen.plugins.agentic.readers.members import ids_in, ns_in, object_in, objects_in, text_in, tokens_in
from loadgen.plugins.agentic.readers.row_store import RowStore, StoredCorpus
from loadgen.plugins.agentic.readers.trace_format import TraceFormat
from loadgen.plugins.agentic.session_tree import AgentStream, AgentTurn, History, SessionTree
from workloads.traces.form import UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.agentic.readers.trace_format import ReadingOptions
    from workloads.sample import Message

BLOCK_TOKENS: Final = 512
WITHOUT_ENDS: Final = "rows have starts and no ends, so that delays hold the recorded time of the server"


def is_mooncake_session(members: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a row of a session in this format."""
    has_time = not members.keys().isdisjoint({"timestamp", "delay", "delay_ms"})
    return (
        "session_id" in members and not members.keys().isdisjoint({"input_length", "messages"}) and has_time
    )


def read_mooncake_sessions(path: Path, options: ReadingOptions) -> StoredCorpus:
    """Read sessions, of which the rows are in order.

    Raises:
        TraceError: The history is not declared.
    """
    store = RowStore(path)
    unit = options.form.unit or "ms"
    sessions: dict[str, list[int]] = {}
    arrivals_ns: dict[str, int] = {}
    history = options.undeclared(str(path), *History)
    facts = options.facts(path, unit, history)
    has_times = has_ids = False
    for number, place, row in store.rows():
        name = text_in(row, "session_id")
        has_length = bool(tokens_in(row, "input_length"))
        if not name:
            facts.left_out.add("a row without session_id", place)
        elif not has_length and not objects_in(row, "messages"):
            facts.left_out.add("a row without input_length or messages", place)
        elif history is History.CUMULATIVE and not has_length:
            facts.left_out.add("a row without input_length, which cumulative rows have", place)
        elif history is History.MESSAGES and not objects_in(row, "messages"):
            facts.left_out.add("a row without messages", place)
        else:
            has_times = has_times or (name in sessions and delay_of(row) is None and "timestamp" in row)
            has_ids = has_ids or "hash_ids" in row
            if name not in sessions and (at_ns := ns_in(row, "timestamp", UNITS[unit])) is not None:
                arrivals_ns[name] = at_ns
            sessions.setdefault(name, []).append(number)
    if has_times:
        facts.notes.append(WITHOUT_ENDS)
    size = options.form.block_tokens or BLOCK_TOKENS

    tree = partial(session_of_rows, history=history, unit_ns=UNITS[unit], block_tokens=size)
    return StoredCorpus(facts, store, sessions, tree, shares_ids=has_ids, arrivals_ns=arrivals_ns)


def session_of_rows(
    name: str, rows: Sequence[Mapping[str, Any]], history: History, unit_ns: int, block_tokens: int
) -> SessionTree:
    """The session of rows in order.

    Args:
        name: The id.
        rows: The requests.
        history: What each holds of the history.
        unit_ns: The ns of the unit of times.
        block_tokens: The tokens of a block.
    """
    turns: list[AgentTurn] = []
    arrival_ns = before_ns = ns_in(rows[0], "timestamp", unit_ns)
    for number, row in enumerate(rows):
        at_ns = ns_in(row, "timestamp", unit_ns)
        delay_ns = delay_of(row)
        if delay_ns is None and number and at_ns is not None and before_ns is not None:
            delay_ns = at_ns - before_ns
        before_ns = at_ns
        turns.append(
            _with_prompt(
                AgentTurn(
                    stream=0,
                    after=(number - 1,) if number else (),
                    delay_ns=max(0, delay_ns or 0),
                    output_tokens=tokens_in(row, "output_length") or None,
                    extends=number - 1 if number else None,
                    tools=tuple(objects_in(row, "tools")),
                    members=object_in(row, "extra"),
                    start_ns=None if at_ns is None or arrival_ns is None else at_ns - arrival_ns,
                ),
                row,
                turns,
                history,
                block_tokens,
            )
        )
    return SessionTree(
        name, (AgentStream("main"),), tuple(turns), history, block_tokens, arrival_ns=arrival_ns
    )


def delay_of(row: Mapping[str, Any]) -> int | None:
    """The delay of a row, in ns; None without one."""
    delay_ns = ns_in(row, "delay", UNITS["ms"])
    return ns_in(row, "delay_ms", UNITS["ms"]) if delay_ns is None else delay_ns


def _with_prompt(
    turn: AgentTurn, row: Mapping[str, Any], before: Sequence[AgentTurn], history: History, size: int
) -> AgentTurn:
    messages = tuple(objects_in(row, "messages"))
    inputs = tokens_in(row, "input_length")
    if history is History.MESSAGES:
        return replace(turn, messages=messages, input_tokens=inputs)
    if history is History.CUMULATIVE:
        return with_blocks(turn, before[-1] if before else None, inputs or 0, ids_in(row, "hash_ids"), size)
    last = before[-1] if before else None
    earlier = 0 if last is None else (last.input_tokens or 0) + (last.output_tokens or 0)
    made: Message = {"role": "user", "tokens": inputs or 1}
    answer: Message = {"role": "assistant", "tokens": turn.output_tokens or 1}
    return replace(
        turn,
        messages=messages or (made,),
        input_tokens=None if inputs is None else earlier + inputs,
        answer=answer if history is History.RECORDED else None,
    )


def with_blocks(
    turn: AgentTurn, base: AgentTurn | None, tokens: int, ids: Sequence[int] | None, size: int
) -> AgentTurn:
    """A turn with the blocks of the prompt; without recorded ids, the prompt begins with the whole base.

    Args:
        turn: The turn.
        base: The turn that it extends.
        tokens: The tokens of its prompt.
        ids: The recorded ids.
        size: The tokens of a block.
    """
    had: Sequence[int] = () if base is None else base.blocks
    if ids is None:
        shared = had[: tokens // size]
        fresh = 0 if base is None else max(had, default=-1) + 1
        ids = [*shared, *range(fresh, fresh + tokens // size - len(shared))]
    whole = tuple(ids[: tokens // size])
    return replace(turn, input_tokens=tokens, blocks=whole, kept_blocks=common_length(tuple(had), whole))


FORMAT: Final = TraceFormat("Mooncake with session_id", is_mooncake_session, read_mooncake_sessions)
