"""TensorRT-LLM's execution traces: the events of agents, with lengths of messages in place of texts.

Each recorded answer is a turn with the messages since the answer before in its conversation. Tools delay the
next turn. Between `parallel_start` and `parallel_end` branches run at the same time. Source:
github.com/NVIDIA/TensorRT-LLM, `examples/scaffolding/trace_replay`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field
from loadgen.plugins.agentic.readers.members import ns_in, objects_in, text_in, tokens_in
from loadgen.plugins.agentic.readers.row_store import RowStore, StoredCorpus
from loadgen.plugins.agentic.readers.trace_format import TraceFormat
from loadgen.plugins.agentic.session_tree import AgentStream, AgentTurn, History, SessionTree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.agentic.readers.trace_format import ReadingOptions
    from workloads.sample import Message

_MS: Final = 1_000_000
_Path = tuple[str, ...]


def is_trtllm(members: Mapping[str, Any]) -> bool:
    """Whether a JSON object is an execution trace."""
    events = objects_in(members, "events")
    return bool(events) and "event_type" in events[0]


def read_trtllm(path: Path, options: ReadingOptions) -> StoredCorpus:
    """Read execution traces, each a session."""
    history = options.declared(str(path), History.RECORDED, History.LIVE)
    facts = options.facts(path, "ms", history)
    store = RowStore(path)
    sessions: dict[str, list[int]] = {}
    for number, place, members in store.rows():
        name = text_in(members, "trace_id") or place.rpartition("/")[2]
        if any(_is_answer(event) for event in objects_in(members, "events")):
            sessions.setdefault(name if name not in sessions else f"{name}#{number}", []).append(number)
        else:
            facts.left_out.add("a trace without an answer", place)
    return StoredCorpus(facts, store, sessions, partial(_tree, history=history))


def _is_answer(event: Mapping[str, Any]) -> bool:
    is_message = event.get("event_type") == "message" and event.get("role") == "assistant"
    return is_message and bool(tokens_in(event, "completion_tokens"))


@dataclass(slots=True)
class _BranchState:
    """The turns and the delay that the next turn of a branch waits for."""

    after: list[int]
    delay_ns: int = 0


@dataclass(slots=True)
class _Conversation:
    """A conversation while turns are made."""

    stream: int
    new: list[Message] = field(default_factory=list)
    last: int | None = None
    tokens: int = 0


def _tree(name: str, rows: Sequence[Mapping[str, Any]], history: History) -> SessionTree:
    streams: list[AgentStream] = []
    turns: list[AgentTurn] = []
    conversations: dict[str, _Conversation] = {}
    branches: dict[_Path, _BranchState] = {(): _BranchState([])}
    for event in objects_in(rows[0], "events"):
        path = tuple(map(str, event.get("branch_path") or ()))
        branch = branches.setdefault(path, _begun(path, branches))
        match event.get("event_type"):
            case "tool_call":
                branch.delay_ns += max(0, ns_in(event, "duration_ms", _MS) or 0)
            case "parallel_end":
                _join(path, branches)
            case "message":
                key = text_in(event, "conversation_id")
                if key not in conversations:
                    conversations[key] = _Conversation(len(streams))
                    parent = turns[branch.after[-1]].stream if branch.after else None
                    streams.append(AgentStream(f"conversation {key}", parent if streams else None))
                _message(event, conversations[key], branch, turns, history)
            case _:
                pass
    return SessionTree(name, tuple(streams), tuple(turns), history)


def _begun(path: _Path, branches: Mapping[_Path, _BranchState]) -> _BranchState:
    """The state of a new branch: that of the branch around it."""
    around = next(branches[path[:length]] for length in range(len(path), -1, -1) if path[:length] in branches)
    return _BranchState([*around.after], around.delay_ns)


def _join(path: _Path, branches: dict[_Path, _BranchState]) -> None:
    """Let a branch wait for all branches inside, which end."""
    inside = [each for each in branches if len(each) > len(path) and each[: len(path)] == path]
    if not inside:
        return
    ends = sorted({turn for each in inside for turn in branches[each].after})
    delay_ns = max(branches[each].delay_ns for each in inside)
    branches[path] = _BranchState(ends, delay_ns)
    for each in inside:
        del branches[each]


def _message(
    event: Mapping[str, Any],
    conversation: _Conversation,
    branch: _BranchState,
    turns: list[AgentTurn],
    history: History,
) -> None:
    if not _is_answer(event):
        if event.get("role") != "assistant" and (tokens := tokens_in(event, "tokens")):
            conversation.new.append(_made_up(event, tokens))
        return
    outputs = tokens_in(event, "completion_tokens")
    after = {*branch.after, *([] if conversation.last is None else [conversation.last])}
    answer: Message = {"role": "assistant", "tokens": outputs}
    turns.append(
        AgentTurn(
            stream=conversation.stream,
            after=tuple(sorted(after)),
            delay_ns=branch.delay_ns,
            tool_ns=branch.delay_ns,
            input_tokens=tokens_in(event, "prompt_tokens"),
            output_tokens=outputs,
            extends=conversation.last,
            messages=tuple(conversation.new) or ({"role": "user", "tokens": 1},),
            answer=answer if history is History.RECORDED else None,
        )
    )
    conversation.new, conversation.last = [], len(turns) - 1
    branch.after, branch.delay_ns = [len(turns) - 1], 0


def _made_up(event: Mapping[str, Any], tokens: int) -> Message:
    """A message of a length; system prompts of one id are one text in all traces."""
    # Without the call that it answers, the result of a tool is a user's message for a server.
    role = "system" if event.get("role") == "system" else "user"
    shared = text_in(event, "system_prompt_id")
    return {"role": role, "tokens": tokens, **({"text_id": shared} if shared else {})}


FORMAT: Final = TraceFormat("TensorRT-LLM execution trace", is_trtllm, read_trtllm)
