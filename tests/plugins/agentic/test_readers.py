"""Readers of recorded sessions: small inputs of each format, with trees that are written by hand."""

from __future__ import annotations

import gzip
import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.agentic import reading
from loadgen.plugins.agentic.prefix_hits import prefix_hits
from loadgen.plugins.agentic.prompt_texts import TreeTexts
from loadgen.plugins.agentic.session_tree import History
from workloads.errors import TraceError
from workloads.traces.form import TraceForm

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loadgen.plugins.agentic.session_corpus import SessionCorpus
    from loadgen.plugins.agentic.session_tree import AgentTurn, SessionTree

S = 1_000_000_000
USER = {"role": "user", "content": "Go on."}


def rows(path: Path, *objects: dict[str, Any]) -> Path:
    """The path of a new file of JSON Lines."""
    path.write_text("".join(f"{json.dumps(each)}\n" for each in objects), encoding="utf-8")
    return path


def read_sessions(path: Path, form: TraceForm | None = None, history: History | None = None) -> SessionCorpus:
    """The sessions of an input, as a worker process gets them."""
    stored = pickle.dumps(reading.read_sessions(path, form or TraceForm(), history))
    corpus: SessionCorpus = pickle.loads(stored)  # noqa: S301 (written here)
    return corpus


def waits(tree: SessionTree) -> list[tuple[int, tuple[int, ...], float]]:
    """The stream of each turn, what it waits for, and its delay in seconds."""
    return [(turn.stream, turn.after, turn.delay_ns / S) for turn in tree.turns]


def roles(turn: AgentTurn) -> list[str]:
    """The roles of the messages of a turn."""
    return [message["role"] for message in turn.messages]


def test_mlperf(tmp_path: Path) -> None:
    """A request before each recorded answer, with the results of tools and their delay."""
    tools = [{"type": "function", "function": {"name": "bash"}}]
    call = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    of = {"conversation_id": "a"}
    path = rows(
        tmp_path / "rows.jsonl",
        {**of, "turn": 1, "role": "user", "content": "Fix it.", "system": "You fix.", "tools": tools},
        {"conversation_id": "mute", "turn": 1, "role": "assistant", "content": "?"},
        {**of, "turn": 2, "role": "assistant", "reasoning_content": "Hm.", "tool_calls": [call]},
        {
            **of,
            "turn": 3,
            "role": "tool",
            "delay_seconds": 0.5,
            "tool_results": [{"tool_call_id": "1", "content": "done"}],
        },
        {**of, "turn": 4, "role": "assistant", "content": "Fixed."},
    )
    corpus = read_sessions(path)
    assert (len(corpus), corpus.facts.format, corpus.facts.history) == (1, "mlperf-agentic", "recorded")
    assert list(corpus.facts.left_out.rows) == ["a conversation in which no user and no tool says anything"]
    tree = corpus.tree(0)
    assert waits(tree) == [(0, (), 0), (0, (0,), 0.5)]
    assert [roles(turn) for turn in tree.turns] == [["system", "user"], ["tool"]]
    assert tree.turns[0].answer == {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Hm.",
        "tool_calls": [call],
    }
    assert (tree.turns[1].extends, tree.turns[1].tool_ns, tree.turns[1].tools) == (0, S // 2, tuple(tools))
    assert read_sessions(path, history=History.LIVE).tree(0).history is History.LIVE
    with pytest.raises(
        TraceError, match="--history cumulative: sessions in this format are recorded or live"
    ):
        read_sessions(path, history=History.CUMULATIVE)


def test_agentperf(tmp_path: Path) -> None:
    """Rows of a conversation by index, with whole prompts; tools delay the next row."""
    row = {"version": 1, "conversation_id": "c", "task_id": "t", "messages": [USER], "tools": []}
    path = rows(
        tmp_path / "rows.jsonl",
        {**row, "turn_id": "b", "conversation_idx": 1, "messages": [USER, USER], "max_output_tokens": 9},
        {
            **row,
            "turn_id": "a",
            "conversation_idx": 0,
            "target_output_tokens": 5,
            "recorded_tool_calls_after": [{"duration_ms": 250}, {"duration_ms": 500}],
        },
    )
    tree = read_sessions(path).tree(0)
    assert (tree.history, tree.tags) == (History.MESSAGES, {"task": "t"})
    assert waits(tree) == [(0, (), 0), (0, (0,), 0.75)]
    assert [(len(turn.messages), turn.output_tokens) for turn in tree.turns] == [(1, 5), (2, 9)]


def mooncake(path: Path, *delays: dict[str, float]) -> Path:
    """Rows of one session whose prompts grow by one block."""
    return rows(
        path,
        *(
            {
                "session_id": "s",
                "input_length": 512 * n + 8,
                "output_length": 7,
                "hash_ids": [*range(n)],
                **delay,
            }
            for n, delay in enumerate(delays, start=1)
        ),
    )


def test_undeclared_history(tmp_path: Path) -> None:
    """Rows with session ids are refused, with the option, until the user declares what they hold."""
    path = mooncake(tmp_path / "rows.jsonl", {"timestamp": 0}, {"delay": 1500})
    with pytest.raises(TraceError, match=r"give --history cumulative\|live\|recorded\|messages"):
        read_sessions(path)
    whole = read_sessions(path, history=History.CUMULATIVE)
    assert (whole.facts.format, whole.shares_ids) == ("mooncake-sessions", True)
    tree = whole.tree(0)
    assert waits(tree) == [(0, (), 0), (0, (0,), 1.5)]
    assert [(turn.input_tokens, turn.kept_blocks) for turn in tree.turns] == [(520, 0), (1032, 1)]
    new = read_sessions(path, history=History.RECORDED).tree(0)
    # The recorded prompts are increments: the second holds the first, its answer, and what is new.
    assert [turn.input_tokens for turn in new.turns] == [520, 520 + 7 + 1032]
    assert new.turns[1].messages == ({"role": "user", "tokens": 1032},)
    assert new.turns[0].answer == {"role": "assistant", "tokens": 7}
    assert read_sessions(path, history=History.LIVE).tree(0).turns[0].answer is None
    with pytest.raises(TraceError, match=r"no session that can be replayed.*a row without messages"):
        read_sessions(path, history=History.MESSAGES)


def test_mooncake_without_ids_and_ends(tmp_path: Path) -> None:
    """Without ids a cumulative prompt begins with the one before; starts alone are noted."""
    lengths = [{"session_id": "s", "timestamp": 4000 * n, "input_length": 600 * n} for n in (1, 2)]
    corpus = read_sessions(rows(tmp_path / "rows.jsonl", *lengths), history=History.CUMULATIVE)
    tree = corpus.tree(0)
    assert [list(turn.blocks) for turn in tree.turns] == [[0], [0, 1]]
    assert (tree.turns[1].delay_ns, corpus.shares_ids) == (4 * S, False)
    assert "rows have starts and no ends" in corpus.facts.notes[0]


def test_bailian_sessions(tmp_path: Path) -> None:
    """Chats continue their parents; two of one parent are two streams. The format has to be named."""
    chats = [(1, -1, 0), (2, 1, 5), (3, -1, 6), (4, 1, 9)]
    path = rows(
        tmp_path / "rows.jsonl",
        *(
            {
                "chat_id": chat,
                "parent_chat_id": parent,
                "timestamp": at_s,
                "type": "text",
                "input_length": 16 * chat,
                "output_length": 3,
                "hash_ids": [*range(chat)],
            }
            for chat, parent, at_s in chats
        ),
    )
    corpus = read_sessions(path, TraceForm("bailian-sessions"))
    sessions = range(len(corpus))
    assert [(corpus.tree(number).session_id, corpus.arrival_ns(number)) for number in sessions] == [
        ("1", 0),
        ("3", 6 * S),
    ]
    tree = corpus.tree(0)
    assert waits(tree) == [(0, (), 0), (0, (0,), 5), (1, (0,), 9)]
    assert tree.streams[1].parent == 0
    assert tuple(prefix_hits(tree)) == (3, 7)
    with pytest.raises(TraceError, match=r"not an input of recorded sessions"):
        read_sessions(path)


def dag(path: Path, *conversations: dict[str, Any]) -> Path:
    """Conversations that branch, each turn with a message."""
    return rows(path, *conversations)


def turn(**more: Any) -> dict[str, Any]:
    """A turn of AIPerf's format."""
    return {"messages": [USER], "max_tokens": 4, **more}


def test_dag(tmp_path: Path) -> None:
    """A fork inherits the history; the parent waits for a spawn at `join_at`, or with its next turn."""
    path = dag(
        tmp_path / "x.dag.jsonl",
        {
            "session_id": "root",
            "turns": [
                turn(spawns=["now", {"children": ["late"], "join_at": 2}], extra={"seed": 1}),
                turn(delay=20),
                turn(forks=["end"]),
            ],
        },
        {"session_id": "now", "turns": [turn()]},
        {"session_id": "late", "turns": [turn(), turn(model="small")]},
        {"session_id": "end", "turns": [turn()]},
    )
    corpus = read_sessions(path)
    assert corpus.tree(0).turns[0].members == {"seed": 1}
    tree = corpus.tree(0)
    assert [stream.name for stream in tree.streams] == ["root", "now", "late", "end"]
    assert [stream.is_background for stream in tree.streams] == [False, False, False, True]
    assert waits(tree) == [
        (0, (), 0),
        (1, (0,), 0),
        (2, (0,), 0),
        (2, (2,), 0),
        (0, (0, 1), 0.02),
        (0, (3, 4), 0),
        (3, (5,), 0),
    ]
    assert [each.extends for each in tree.turns] == [None, None, None, 2, 0, 4, 5]
    assert (tree.history, tree.turns[3].model) == (History.LIVE, "small")


def test_dag_rounds(tmp_path: Path) -> None:
    """An orchestrator runs its children in rounds, with a pause between them."""
    path = dag(
        tmp_path / "x.dag.jsonl",
        {"session_id": "o", "orchestrator": True, "rounds": 2, "spawns": ["a", "b"], "think_time_ms": 100},
        {"session_id": "a", "turns": [turn()]},
        {"session_id": "b", "turns": [turn()]},
    )
    tree = read_sessions(path).tree(0)
    assert waits(tree) == [(0, (), 0), (1, (), 0), (2, (0, 1), 0.1), (3, (0, 1), 0.1)]
    assert [stream.name for stream in tree.streams] == ["a", "b", "a#2", "b#2"]


@pytest.mark.parametrize(
    ("conversations", "message"),
    [
        (
            [{"session_id": "a", "turns": [turn(spawns=["bb"])]}, {"session_id": "b", "turns": [turn()]}],
            "unknown child 'bb'; did you mean 'b'",
        ),
        ([{"session_id": "a", "turns": [turn(forks=["a"])]}], "in a circle: 'a'"),
        ([{"session_id": "a", "turns": [turn()]}] * 2, "'a' is used twice"),
    ],
)
def test_dag_mistakes(tmp_path: Path, conversations: Sequence[dict[str, Any]], message: str) -> None:
    """Conversations that cannot be played are refused."""
    with pytest.raises(TraceError, match=message):
        read_sessions(dag(tmp_path / "x.jsonl", *conversations))


def test_trtllm(tmp_path: Path) -> None:
    """Answers are turns with the messages before; tools delay; branches run at the same time."""

    def message(role: str, conversation: int, path: Sequence[int] = (), **more: Any) -> dict[str, Any]:
        of = {"event_type": "message", "conversation_id": conversation, "branch_path": [*path]}
        return {**of, "role": role, **more}

    def answer(conversation: int, prompt: int, path: Sequence[int] = ()) -> dict[str, Any]:
        return message("assistant", conversation, path, prompt_tokens=prompt, completion_tokens=5)

    events = [
        message("system", 0, tokens=20, system_prompt_id="p"),
        message("user", 0, tokens=10),
        answer(0, 30),
        {"event_type": "parallel_start", "branch_path": []},
        message("user", 1, [0], tokens=8),
        answer(1, 8, [0]),
        {"event_type": "tool_call", "branch_path": [1], "duration_ms": 250},
        message("user", 2, [1], tokens=9),
        answer(2, 9, [1]),
        {"event_type": "parallel_end", "branch_path": []},
        {"event_type": "tool_call", "branch_path": [], "duration_ms": 500},
        message("tool", 0, tokens=6),
        answer(0, 41),
    ]
    path = tmp_path / "x.trace.json"
    path.write_text(json.dumps({"trace_id": "t", "events": events}, indent=1), encoding="utf-8")
    tree = read_sessions(path).tree(0)
    assert waits(tree) == [(0, (), 0), (1, (0,), 0), (2, (0,), 0.25), (0, (0, 1, 2), 0.5)]
    assert [each.extends for each in tree.turns] == [None, None, None, 0]
    assert [each.input_tokens for each in tree.turns] == [30, 8, 9, 41]
    assert [stream.parent for stream in tree.streams] == [None, 0, 0]
    prompts = TreeTexts(1).begin(tree)
    system = prompts.messages(0)[0]
    assert (system["role"], [*system]) == ("system", ["role", "content"])
    path.write_text(json.dumps({"trace_id": "u", "events": events}), encoding="utf-8")
    other = TreeTexts(1).begin(read_sessions(path).tree(0))
    assert other.messages(0)[0] == system
    assert other.messages(0)[1] != prompts.messages(0)[1]


def tracelab_round(
    name: str, index: int, at_s: int, took_s: int, tokens: tuple[int, int], **more: Any
) -> dict[str, Any]:
    """A round that is submitted at a second, and ends after some."""
    events = [("tool_result" if index else "user_message", at_s), ("text", at_s + took_s)]
    return {
        "session_id": name,
        "project": "p",
        "round_index": index,
        "model": "m",
        "input_tokens_total": tokens[0],
        "prefix_tokens": tokens[1],
        "output_tokens": 9,
        "timing_events": [
            {"event_type": kind, "timestamp": f"2026-06-01T00:{second // 60:02}:{second % 60:02}Z"}
            for kind, second in events
        ],
        **more,
    }


def test_tracelab(tmp_path: Path) -> None:
    """Blocks of the cached prefix are those of the round before; a session inside a call is a subagent."""
    call = {"tool_name": "Task", "emitted_at": "2026-06-01T00:00:05Z", "result_at": "2026-06-01T00:00:30Z"}
    path = rows(
        tmp_path / "rows.jsonl",
        tracelab_round("main", 1, 31, 4, (320, 200)),
        tracelab_round("main", 0, 0, 5, (200, 100), tools=[call]),
        tracelab_round("sub", 0, 10, 15, (64, 0)),
        tracelab_round("other", 0, 40, 1, (64, 0)),
        {"session_id": "main", "round_index": 2, "timing_events": []},
    )
    corpus = read_sessions(path)
    assert corpus.facts.left_out.total == 1
    assert [corpus.tree(number).arrival_ns for number in range(len(corpus))] == [0, 40 * S]
    tree = corpus.tree(0)
    assert [(stream.name, stream.parent) for stream in tree.streams] == [("main", None), ("sub", 0)]
    assert waits(tree) == [(0, (), 0), (1, (0,), 5), (0, (1,), 6)]
    assert [(len(each.blocks), each.kept_blocks) for each in tree.turns] == [(3, 0), (1, 0), (5, 3)]
    # The tools began when the turn before ended.
    assert tree.turns[2].tool_ns == 6 * S


def otel_span(span: str, parent: str, name: str, times: tuple[int, int], **more: Any) -> dict[str, Any]:
    """A span of OTLP."""
    attributes = {"gen_ai.operation.name": name, **more}
    return {
        "traceId": "t",
        "spanId": span,
        "parentSpanId": parent,
        "startTimeUnixNano": str(times[0] * S),
        "endTimeUnixNano": str(times[1] * S),
        "attributes": [
            {
                "key": key,
                "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value},
            }
            for key, value in attributes.items()
        ],
    }


def test_otel(tmp_path: Path) -> None:
    """Requests are turns of the agent around them; prompts of an agent begin with the one before."""

    def asked(inputs: int) -> dict[str, Any]:
        return {"gen_ai.usage.input_tokens": inputs, "gen_ai.usage.output_tokens": 10}

    spans = [
        otel_span("1", "", "invoke_agent", (0, 60), **{"gen_ai.agent.name": "planner"}),
        otel_span("2", "1", "chat", (0, 4), **asked(130)),
        otel_span("3", "1", "execute_tool", (5, 7)),
        otel_span("4", "3", "invoke_agent", (8, 20), **{"gen_ai.agent.name": "helper"}),
        otel_span("5", "4", "chat", (9, 12), **asked(64)),
        otel_span("6", "1", "chat", (21, 25), **asked(260)),
        otel_span("7", "1", "chat", (30, 31)),
    ]
    path = rows(tmp_path / "x.jsonl", {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    corpus = read_sessions(path)
    assert corpus.facts.left_out.rows == {"a request without input or output tokens": 1}
    tree = corpus.tree(0)
    assert [(stream.name, stream.parent) for stream in tree.streams] == [("planner", None), ("helper 1", 0)]
    assert waits(tree) == [(0, (), 0), (1, (0,), 5), (0, (1,), 9)]
    assert [(len(each.blocks), each.kept_blocks) for each in tree.turns] == [(2, 0), (1, 0), (4, 2)]
    assert tree.turns[2].tool_ns == 2 * S


def test_agentic_mooncake(tmp_path: Path) -> None:
    """Rows that wait for others are one session; the delay has the time of tools."""

    def row(name: str, agent: str, waits: list[str], ids: list[int], **more: Any) -> dict[str, Any]:
        lengths = {"input_length": 512 * len(ids) + 9, "output_length": 5, "hash_ids": ids}
        return {"request_id": name, "session_id": agent, "wait_for": waits, **lengths, **more}

    path = rows(
        tmp_path / "x.jsonl",
        row("p1", "root", [], [1, 2], timestamp=500, prefix_reset=True),
        row("other", "alone", [], [1], timestamp=700, prefix_reset=True),
        row("c1", "child", ["p1"], [7], delay=1000, prefix_reset=True),
        row("p2", "root", ["p1", "c1"], [1, 2, 3], delay=200, tool_wait_ms=800),
    )
    corpus = read_sessions(path)
    assert [corpus.arrival_ns(number) for number in range(len(corpus))] == [S // 2, S * 7 // 10]
    tree = corpus.tree(0)
    assert [(stream.name, stream.parent) for stream in tree.streams] == [("root", None), ("child", 0)]
    assert waits(tree) == [(0, (), 0), (1, (0,), 1), (0, (0, 1), 1)]
    assert (tree.turns[2].tool_ns, tree.turns[2].extends, tree.turns[2].kept_blocks) == (S * 8 // 10, 0, 2)
    early = rows(tmp_path / "y.jsonl", row("p2", "root", ["p1"], [1]))
    with pytest.raises(TraceError, match="wait_for 'p1': no row before has this request_id"):
        read_sessions(early)


def test_otel_messages(tmp_path: Path) -> None:
    """Messages with text and tools are sent as a chat; else, or on request, lengths are replayed."""
    usage = {"gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 3}
    call = {"type": "tool_call", "id": "1", "name": "read", "arguments": {"path": "a"}}
    parts = [
        {"role": "user", "parts": [{"type": "text", "content": "Fix it."}]},
        {"role": "assistant", "parts": [{"type": "reasoning", "content": "Hm."}, call]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": {"text": "b"}}]},
    ]
    more = {
        "gen_ai.input.messages": json.dumps(parts),
        "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be brief."}]),
        "gen_ai.tool.definitions": json.dumps([{"type": "function", "name": "read", "parameters": {}}]),
    }
    path = rows(tmp_path / "x.jsonl", otel_span("1", "", "chat", (0, 4), **usage, **more))
    corpus = read_sessions(path)
    assert corpus.facts.history is History.MESSAGES
    (turn,) = corpus.tree(0).turns
    function = {"name": "read", "arguments": '{"path":"a"}'}
    assert turn.messages == (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Fix it."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "1", "content": '{"text":"b"}'},
    )
    assert turn.tools == ({"type": "function", "function": {"name": "read", "parameters": {}}},)
    assert not read_sessions(path, history=History.CUMULATIVE).tree(0).turns[0].messages
    image = json.dumps([{"role": "user", "parts": [{"type": "blob"}]}])
    other = otel_span("2", "", "chat", (5, 6), **usage, **{"gen_ai.input.messages": image})
    rest = map(json.loads, path.read_text().splitlines())
    mixed = read_sessions(rows(tmp_path / "y.jsonl", *rest, other))
    assert mixed.facts.history is History.CUMULATIVE
    assert mixed.facts.notes[0].startswith("1 of 2 requests have messages that can be sent")


def dynamo_event(name: str, parent: str, times: tuple[int, int], hashes: Sequence[int]) -> dict[str, Any]:
    """The end of a request, with blocks of 4 tokens."""
    context = {"session_id": name, **({"parent_session_id": parent} if parent else {})}
    replay = {"trace_block_size": 4, "input_length": 4 * len(hashes), "input_sequence_hashes": [*hashes]}
    return {
        "schema": "dynamo.request.trace.v1",
        "event_type": "request_end",
        **({"agent_context": context} if name else {}),
        "event_time_unix_ms": times[1] * 1000,
        "request": {"request_received_ms": times[0] * 1000, "output_tokens": 3, "replay": replay},
    }


def test_dynamo(tmp_path: Path) -> None:
    """Sessions with parents are trees; ids of 64 bits are kept; shards of a folder are one input."""
    largest = 2**64 - 1
    tool = {"started_at_unix_ms": 2500, "ended_at_unix_ms": 4000}
    path = rows(
        tmp_path / "0.jsonl",
        dynamo_event("planner", "", (0, 2), [largest, 1]),
        dynamo_event("helper", "planner", (3, 6), [7]),
        {
            "schema": "dynamo.request.trace.v1",
            "event_type": "tool_end",
            "session_id": "planner",
            "tool": tool,
        },
    )
    with gzip.open(tmp_path / "1.jsonl.gz", "wt") as shard:
        shard.write(
            json.dumps({"timestamp": 1, "event": dynamo_event("planner", "", (8, 9), [largest, 1, 2])})
        )
    corpus = read_sessions(tmp_path)
    assert (len(corpus), corpus.shares_ids) == (1, True)
    tree = corpus.tree(0)
    assert [(stream.name, stream.parent) for stream in tree.streams] == [("planner", None), ("helper", 0)]
    assert waits(tree) == [(0, (), 0), (1, (0,), 1), (0, (1,), 2)]
    assert (list(tree.turns[2].blocks), tree.turns[2].kept_blocks) == ([largest, 1, 2], 2)
    assert tree.turns[2].tool_ns == 1.5 * S
    floats = dynamo_event("planner", "", (0, 2), [])
    floats["request"]["replay"]["input_sequence_hashes"] = [1.8e19]
    with pytest.raises(TraceError, match="no session that can be replayed"):
        read_sessions(rows(tmp_path / "float.jsonl", floats))
    mixed = rows(path, dynamo_event("planner", "", (0, 2), [1]), dynamo_event("", "", (3, 4), [2]))
    with pytest.raises(TraceError, match="some requests have agent_context and some have not"):
        read_sessions(mixed)
