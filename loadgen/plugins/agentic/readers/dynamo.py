"""Dynamo's request traces (`dynamo.request.trace.v1`): an event a row, requests and ends of tools.

Requests with `agent_context` are turns of the stream `session_id`, whose parent is `parent_session_id`;
others are sessions of one turn. The ids are hashes of 64 bits that depend on the tokens before, equal in all
sessions. Source: github.com/ai-dynamo/dynamo, docs of request replay tracing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agentic.readers.documents import documents
from loadgen.plugins.agentic.readers.members import ids_in, ns_in, text_in, tokens_in
from loadgen.plugins.agentic.readers.trace_format import TraceFormat
from loadgen.plugins.agentic.recorded import RecordedCorpus, RecordedSession, RecordedStream, RecordedTurn
from loadgen.plugins.agentic.session_tree import History
from loadgen.plugins.agentic.stream_times import covered_ns, without_overlap
from workloads.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.agentic.readers.trace_format import ReadingOptions

SCHEMA: Final = "dynamo.request.trace.v1"
_MS: Final = 1_000_000


def is_dynamo(members: Mapping[str, Any]) -> bool:
    """Whether a JSON object is an event of this format, or holds one."""
    return _event(members).get("schema") == SCHEMA


def read_dynamo(path: Path, options: ReadingOptions) -> RecordedCorpus:
    """Read events as sessions; a folder of shards is one input.

    Raises:
        TraceError: Some requests have `agent_context` and some have not, or sizes of blocks differ.
    """
    facts = options.facts(path, "ms", options.declared(str(path), History.CUMULATIVE))
    corpus = RecordedCorpus(facts, 0, shares_ids=True)
    requests: dict[str, list[RecordedTurn]] = {}
    parents: dict[str, str] = {}
    tools: dict[str, list[tuple[int, int]]] = {}
    has_context: set[bool] = set()
    for document in documents(path):
        event = _event(document.members)
        context = event.get("agent_context")
        context = context if isinstance(context, dict) else event
        name = text_in(context, "session_id")
        if event.get("event_type") in {"tool_end", "tool_error"}:
            if (span := _tool(event)) is not None:
                tools.setdefault(name, []).append(span)
            continue
        turn = _request(event, corpus, document.place)
        if turn is None:
            facts.left_out.add("an event without a request that can be asked", document.place)
            continue
        has_context.add(bool(name))
        name = name or f"request {len(requests) + 1}"
        requests.setdefault(name, []).append(turn)
        if parent := text_in(context, "parent_session_id"):
            parents[name] = parent
    if len(has_context) > 1:
        raise TraceError(
            f"{path}: some requests have agent_context and some have not, so that sessions would lack turns; "
            "split the input"
        )
    _add(requests, parents, tools, corpus)
    return corpus


def _event(members: Mapping[str, Any]) -> Mapping[str, Any]:
    """The event of a row: the row, or the member of a sink's envelope."""
    if "schema" in members:
        return members
    inner = (each for each in members.values() if isinstance(each, dict) and "schema" in each)
    return next(inner, {})


def _request(event: Mapping[str, Any], corpus: RecordedCorpus, place: str) -> RecordedTurn | None:
    request = event.get("request")
    replay = request.get("replay") if isinstance(request, dict) else None
    if not isinstance(request, dict) or not isinstance(replay, dict):
        return None
    start_ns = ns_in(request, "request_received_ms", _MS)
    took_ns, ended_ns = ns_in(request, "total_time_ms", _MS), ns_in(event, "event_time_unix_ms", _MS)
    inputs, outputs = tokens_in(replay, "input_length"), tokens_in(request, "output_tokens")
    ids, size = ids_in(replay, "input_sequence_hashes"), tokens_in(replay, "trace_block_size")
    if start_ns is None or not inputs or not outputs or ids is None or not size:
        return None
    if corpus.block_tokens not in (0, size):
        raise TraceError(
            f"{place}: blocks of {size} tokens, where the requests before have blocks of "
            f"{corpus.block_tokens}; read the sizes as separate inputs"
        )
    corpus.block_tokens = size
    end_ns = ended_ns if took_ns is None else start_ns + took_ns
    return RecordedTurn(start_ns, end_ns, inputs, outputs, ids[: inputs // size], text_in(request, "model"))


def _tool(event: Mapping[str, Any]) -> tuple[int, int] | None:
    tool = event.get("tool")
    if not isinstance(tool, dict):
        return None
    end_ns = ns_in(tool, "ended_at_unix_ms", _MS) or ns_in(event, "event_time_unix_ms", _MS)
    took_ns = ns_in(tool, "duration_ms", _MS)
    start_ns = ns_in(tool, "started_at_unix_ms", _MS)
    if start_ns is None and end_ns is not None and took_ns is not None:
        start_ns = end_ns - took_ns
    return None if start_ns is None or end_ns is None else (start_ns, end_ns)


def _add(
    requests: Mapping[str, Sequence[RecordedTurn]],
    parents: Mapping[str, str],
    tools: Mapping[str, Sequence[tuple[int, int]]],
    corpus: RecordedCorpus,
) -> None:
    """Add the sessions by start, each with all descendants."""
    trees: dict[str, list[str]] = {}
    for name in sorted(requests, key=lambda name: min(turn.start_ns for turn in requests[name])):
        trees.setdefault(_root(name, parents, requests), []).append(name)
    first_ns = min((turn.start_ns for turns in requests.values() for turn in turns), default=0)
    for root, names in trees.items():
        names.sort(key=lambda name: name != root)
        streams: list[RecordedStream] = []
        numbers: dict[str, int] = {}
        for name in names:
            numbers[name] = len(streams)
            parent = numbers.get(parents.get(name, "")) if name != root else None
            parent = 0 if parent is None and name != root else parent
            for place, turns in enumerate(without_overlap(requests[name])):
                streams.append(
                    RecordedStream(
                        name if not place else f"{name}/{place + 1}",
                        [
                            _with_tools(turn, turns[n - 1] if n else None, tools.get(name, ()))
                            for n, turn in enumerate(turns)
                        ],
                        numbers[name] if place else parent,
                        is_background=bool(place),
                    )
                )
        arrival_ns = min(stream.turns[0].start_ns for stream in streams) - first_ns
        corpus.add(RecordedSession(root, streams, arrival_ns))


def _root(name: str, parents: Mapping[str, str], requests: Mapping[str, Any]) -> str:
    seen = {name}
    while (parent := parents.get(name)) in requests and parent is not None and parent not in seen:
        seen.add(parent)
        name = parent
    return name


def _with_tools(
    turn: RecordedTurn, before: RecordedTurn | None, tools: Sequence[tuple[int, int]]
) -> RecordedTurn:
    if before is None or before.end_ns is None:
        return turn
    return replace(turn, tool_ns=covered_ns(tools, before.end_ns, turn.start_ns))


FORMAT: Final = TraceFormat("Dynamo request trace", is_dynamo, read_dynamo)
