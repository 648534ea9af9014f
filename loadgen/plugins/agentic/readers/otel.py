"""OpenTelemetry spans of generative AI: exports of OTLP as JSON, or a span a line.

A span of a request to a model is a turn; the nearest span `invoke_agent` around it is its stream, and the
conversation, else the trace, its session. Where all requests have messages, these are sent; else prompts have
the recorded lengths, and each begins with the prompt before in its stream. Source: OpenTelemetry's semantic
conventions of generative AI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from lazy_dataclasses import dataclass, replace
from loadgen.plugins.agentic.readers.documents import documents
from loadgen.plugins.agentic.readers.members import moment_in, objects_in, text_in, tokens_in
from loadgen.plugins.agentic.readers.otel_messages import chat_of
from loadgen.plugins.agentic.readers.trace_format import TraceFormat
from loadgen.plugins.agentic.recorded import RecordedCorpus, RecordedSession, RecordedStream, RecordedTurn
from loadgen.plugins.agentic.session_tree import History
from loadgen.plugins.agentic.stream_times import covered_ns, without_overlap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.agentic.readers.trace_format import ReadingOptions

BLOCK_TOKENS: Final = 64
_REQUESTS: Final = frozenset({"chat", "text_completion", "generate_content"})
_AGENTS: Final = frozenset({"invoke_agent", "create_agent"})
_TOOL: Final = "execute_tool"
_SCALARS: Final = ("stringValue", "intValue", "doubleValue", "boolValue")


@dataclass(frozen=True, slots=True)
class _Span:
    """The members of a span that describe load."""

    span_id: str
    parent_id: str
    trace_id: str
    operation: str
    start_ns: int
    end_ns: int
    attributes: Mapping[str, Any]


def is_otel(members: Mapping[str, Any]) -> bool:
    """Whether a JSON object is an export of spans, or a span of this domain."""
    if "resourceSpans" in members:
        return True
    attributes = members.get("attributes")
    names = (
        attributes
        if isinstance(attributes, dict)
        else [text_in(each, "key") for each in objects_in(members, "attributes")]
    )
    return any(str(name).startswith("gen_ai.") for name in names)


def read_otel(path: Path, options: ReadingOptions) -> RecordedCorpus:
    """Read spans as sessions."""
    facts = options.facts(path, "ns", History.CUMULATIVE)
    spans: dict[str, _Span] = {}
    for document in documents(path):
        for raw in _raw_spans(document.members):
            span = _span(raw)
            if span is None:
                facts.left_out.add("a span without ids or times", document.place)
            else:
                spans[span.span_id] = span
    corpus = RecordedCorpus(facts, options.form.block_tokens or BLOCK_TOKENS)
    sessions: dict[str, dict[str, list[RecordedTurn]]] = {}
    tools: dict[str, list[tuple[int, int]]] = {}
    for span in sorted(spans.values(), key=lambda span: span.start_ns):
        agent = _agent(span, spans)
        if span.operation == _TOOL:
            tools.setdefault(agent, []).append((span.start_ns, span.end_ns))
        elif span.operation in _REQUESTS:
            if (turn := _turn(span)) is None:
                facts.left_out.add("a request without input or output tokens", span.span_id)
            else:
                sessions.setdefault(_session(span, spans), {}).setdefault(agent, []).append(turn)
    turns = [turn for agents in sessions.values() for each in agents.values() for turn in each]
    with_messages = sum(bool(turn.chat) for turn in turns)
    if 0 < with_messages < len(turns):
        facts.notes.append(
            f"{with_messages} of {len(turns)} requests have messages that can be sent; all have made-up "
            "prompts of the recorded lengths"
        )
    own = History.MESSAGES if turns and with_messages == len(turns) else History.CUMULATIVE
    corpus.facts = replace(facts, history=options.declared(str(path), own, History.CUMULATIVE))
    _add(sessions, spans, tools, corpus)
    return corpus


def _raw_spans(members: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "resourceSpans" not in members:
        yield members
        return
    for resource in objects_in(members, "resourceSpans"):
        for scope in objects_in(resource, "scopeSpans"):
            yield from objects_in(scope, "spans")


def _span(raw: Mapping[str, Any]) -> _Span | None:
    context = raw.get("context")
    ids = {**raw, **(context if isinstance(context, dict) else {})}
    span_id = text_in(ids, "spanId") or text_in(ids, "span_id")
    start_ns = _time(raw, "startTimeUnixNano", "start_time")
    end_ns = _time(raw, "endTimeUnixNano", "end_time")
    if not span_id or start_ns is None or end_ns is None:
        return None
    attributes = _attributes(raw.get("attributes"))
    return _Span(
        span_id,
        text_in(raw, "parentSpanId") or text_in(raw, "parent_id"),
        text_in(ids, "traceId") or text_in(ids, "trace_id"),
        text_in(attributes, "gen_ai.operation.name") or ("chat" if _inputs(attributes) else ""),
        start_ns,
        end_ns,
        attributes,
    )


def _time(raw: Mapping[str, Any], nanoseconds: str, date: str) -> int | None:
    text = text_in(raw, nanoseconds)
    return int(text) if text.isdecimal() and len(text) < 20 else moment_in(raw, date)  # noqa: PLR2004 (64 bits)


def _attributes(value: Any) -> Mapping[str, Any]:
    """The attributes by name: an object, or OTLP's list of keys and values."""
    if isinstance(value, dict):
        return value
    pairs = (
        (text_in(each, "key"), each.get("value")) for each in objects_in({"attributes": value}, "attributes")
    )
    return {
        key: next((held[name] for name in _SCALARS if name in held), None)
        for key, held in pairs
        if isinstance(held, dict)
    }


def _count(attributes: Mapping[str, Any], *names: str) -> int | None:
    """A number of tokens, which OTLP writes as text."""
    for name in names:
        text = text_in(attributes, name)
        if text.isdecimal():
            return tokens_in({name: int(text[:9])}, name)
    return None


def _inputs(attributes: Mapping[str, Any]) -> int | None:
    return _count(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")


def _turn(span: _Span) -> RecordedTurn | None:
    inputs = _inputs(span.attributes)
    outputs = _count(span.attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
    if not inputs or not outputs:
        return None
    model, chat = text_in(span.attributes, "gen_ai.request.model"), chat_of(span.attributes)
    sent = b"" if chat is None else orjson.dumps(chat)
    return RecordedTurn(span.start_ns, span.end_ns, inputs, outputs, (), model, chat=sent)


def _ancestors(span: _Span, spans: Mapping[str, _Span]) -> Iterator[_Span]:
    seen: set[str] = set()
    while (parent := spans.get(span.parent_id)) is not None and parent.span_id not in seen:
        seen.add(parent.span_id)
        yield parent
        span = parent


def _agent(span: _Span, spans: Mapping[str, _Span]) -> str:
    """The id of the nearest span of an agent around a span; empty without one."""
    around = (each.span_id for each in _ancestors(span, spans) if each.operation in _AGENTS)
    return next(around, "")


def _session(span: _Span, spans: Mapping[str, _Span]) -> str:
    names = (text_in(each.attributes, "gen_ai.conversation.id") for each in (span, *_ancestors(span, spans)))
    return next(filter(None, names), span.trace_id)


def _add(
    sessions: Mapping[str, Mapping[str, Sequence[RecordedTurn]]],
    spans: Mapping[str, _Span],
    tools: Mapping[str, Sequence[tuple[int, int]]],
    corpus: RecordedCorpus,
) -> None:
    sends = corpus.facts.history is History.MESSAGES
    first_ns = min((span.start_ns for span in spans.values()), default=0)
    for name, agents in sessions.items():
        streams: list[RecordedStream] = []
        numbers: dict[str, int] = {}
        fresh = 1
        # Agents around others go first, then by start.
        order = sorted(agents, key=lambda agent: (len(_around(agent, spans)), agents[agent][0].start_ns))
        for agent in order:
            parent = next((numbers[each] for each in _around(agent, spans) if each in numbers), None)
            numbers[agent] = len(streams)
            for place, turns in enumerate(without_overlap(agents[agent])):
                blocks, fresh = _with_blocks(
                    turns, tools.get(agent, ()), fresh, corpus.block_tokens, sends=sends
                )
                label = _label(agent, spans)
                streams.append(
                    RecordedStream(
                        f"{label} {len(streams)}" if streams else label,
                        blocks,
                        numbers[agent] if place else (0 if parent is None and streams else parent),
                        is_background=bool(place),
                    )
                )
        arrival_ns = min(stream.turns[0].start_ns for stream in streams) - first_ns
        corpus.add(RecordedSession(name, streams, arrival_ns))


def _around(agent: str, spans: Mapping[str, _Span]) -> list[str]:
    """The agents around an agent, the nearest first, and the empty id for the outside."""
    if not agent:
        return []
    return [each.span_id for each in _ancestors(spans[agent], spans) if each.operation in _AGENTS] + [""]


def _label(agent: str, spans: Mapping[str, _Span]) -> str:
    return (text_in(spans[agent].attributes, "gen_ai.agent.name") if agent else "") or "agent"


def _with_blocks(
    turns: Sequence[RecordedTurn], tools: Sequence[tuple[int, int]], fresh: int, size: int, *, sends: bool
) -> tuple[list[RecordedTurn], int]:
    """The turns with blocks, each prompt with all of the prompt before, and the next id that is not used."""
    made: list[RecordedTurn] = []
    for turn in turns:
        count = turn.input_tokens // size
        shared = made[-1].blocks[:count] if made else []
        ids = [*shared, *range(fresh, fresh + count - len(shared))]
        fresh += count - len(shared)
        tool_ns = covered_ns(tools, made[-1].end_ns or 0, turn.start_ns) if made else 0
        made.append(replace(turn, blocks=ids, tool_ns=tool_ns, chat=turn.chat if sends else b""))
    return made, fresh


FORMAT: Final = TraceFormat("OpenTelemetry GenAI spans", is_otel, read_otel)
