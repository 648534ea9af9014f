"""AIPerf's conversations that branch (`*.dag.jsonl`): a conversation a line, which names others as children.

A fork inherits the history of the turn with its answer, a spawn begins afresh. The next turn of the parent
waits for what was spawned, or the turn `join_at`. An orchestrator sends nothing, and runs its children in
rounds. Source: github.com/ai-dynamo/aiperf, docs/benchmark-modes/dag.md.
"""

from __future__ import annotations

from math import exp, log
from random import Random
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field
from loadgen.plugins.agentic.readers.documents import documents
from loadgen.plugins.agentic.readers.members import object_in, objects_in, text_in, tokens_in
from loadgen.plugins.agentic.readers.trace_format import TraceFormat
from loadgen.plugins.agentic.session_corpus import MakesTrees
from loadgen.plugins.agentic.session_tree import AgentStream, AgentTurn, History, SessionTree
from workloads.errors import TraceError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.agentic.readers.trace_format import ReadingOptions
    from loadgen.plugins.agentic.session_corpus import CorpusFacts
    from loadgen.plugins.agentic.workbench import Steps

_MS: Final = 1_000_000
_WHOLE: Final = "message_array_with_responses"
_MOST_TURNS: Final = 100_000


def is_dag(members: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a conversation of this format."""
    return "session_id" in members and ("turns" in members or bool(members.get("orchestrator")))


def read_dag(path: Path, options: ReadingOptions) -> DagCorpus:
    """Read conversations; those that no other one names are the roots of sessions.

    Raises:
        TraceError: A child does not exist, or conversations name each other in a circle.
    """
    lines = {}
    for document in documents(path):
        name = text_in(document.members, "session_id")
        if name in lines:
            raise TraceError(f"{document.place}: session_id {name!r} is used twice; rename one")
        lines[name] = document.members
    whole = {text_in(line, "context_mode") == _WHOLE for line in lines.values() if line.get("turns")}
    if len(whole) > 1:
        raise TraceError(
            f"{path}: some conversations have context_mode {_WHOLE} and some have not; split the file"
        )
    own = History.MESSAGES if whole == {True} else History.LIVE
    return DagCorpus(options.facts(path, "ms", options.declared(str(path), own)), lines)


class DagCorpus(MakesTrees):
    """Conversations that branch as a corpus; see `SessionCorpus`.

    Args:
        facts: What the input is.
        lines: The conversations by id.

    Raises:
        TraceError: A child does not exist, or conversations name each other in a circle.
    """

    shares_ids = False
    """The conversations have messages in place of ids."""

    def __init__(self, facts: CorpusFacts, lines: Mapping[str, Mapping[str, Any]]) -> None:
        self.facts = facts
        self._lines = lines
        children = {name: [child for child, _ in _children(line)] for name, line in lines.items()}
        for name, named in children.items():
            for child in named:
                if child not in lines:
                    raise TraceError(
                        f"{facts.name}, {name}: unknown child {child!r}{did_you_mean(child, lines)}"
                    )
        _require_no_circle(facts.name, children)
        begun = {child for each in children.values() for child in each}
        self._roots = [name for name in lines if name not in begun]

    def __len__(self) -> int:
        return len(self._roots)

    def arrival_ns(self, number: int) -> None:
        """None: the conversations have no times."""

    def making(self, number: int) -> Steps[SessionTree]:
        """The making of the session with a number.

        Raises:
            TraceError: It has too many turns.
        """
        yield
        root = self._roots[number]
        making = _Making(self._lines, self.facts.history, Random(root))  # noqa: S311 (reproducible draws)
        if self._lines[root].get("orchestrator"):
            making.run_rounds(root)
        else:
            making.run(root, None)
        return SessionTree(root, tuple(making.streams), tuple(making.turns), self.facts.history)


@dataclass(slots=True)
class _Making:
    """A session under construction."""

    lines: Mapping[str, Mapping[str, Any]]
    history: History
    random: Random
    streams: list[AgentStream] = field(default_factory=list)
    turns: list[AgentTurn] = field(default_factory=list)

    def run(
        self,
        name: str,
        parent: int | None,
        after: Sequence[int] = (),
        *,
        extends: int | None = None,
        delay_ns: int = 0,
        is_background: bool = False,
    ) -> int:
        """Add the turns of a conversation and of all descendants; return the number of the last own turn.

        Args:
            name: Its id.
            parent: The stream that begins it.
            after: The turns that its first turn waits for.
            extends: The turn whose history it inherits.
            delay_ns: A delay before its first turn, with that of the turn.
            is_background: Whether nothing waits for its end.
        """
        line, stream = self.lines[name], len(self.streams)
        used = sum(each.name.partition("#")[0] == name for each in self.streams)
        self.streams.append(
            AgentStream(name if not used else f"{name}#{used + 1}", parent, is_background=is_background)
        )
        for child in _names(line.get("pre_session_spawns")):
            self.run(child, stream, after, delay_ns=delay_ns, is_background=True)
        joins: dict[int, list[int]] = {}
        turns = objects_in(line, "turns")
        waits, last = list(after), -1
        for number, turn in enumerate(turns):
            waits += joins.pop(number, [])
            last = self._add(stream, waits, turn, extends, delay_ns if not number else 0)
            waits, extends = [last], last
            for child, kind in _children_of_turn(turn):
                ends = number + 1 < len(turns) and kind.join_at(number) is not None
                end = self.run(
                    child,
                    stream,
                    [last],
                    extends=last if kind.inherits else None,
                    is_background=not ends,
                )
                if ends and (join := kind.join_at(number)) is not None:
                    joins.setdefault(min(join, len(turns) - 1), []).append(end)
        return last

    def run_rounds(self, name: str) -> None:
        """Add the rounds of an orchestrator: each waits for all conversations of the round before."""
        line = self.lines[name]
        waits: list[int] = []
        for number, (children, facts) in enumerate(_rounds(line)):
            delay_ns = self._think_ns(facts) if number else 0
            waits = [self.run(child, None, waits, delay_ns=delay_ns) for child in children]

    def _think_ns(self, facts: Mapping[str, Any]) -> int:
        median = float(facts.get("think_time_ms") or 0)
        sigma = float(facts.get("think_time_sigma") or 0)
        drawn = exp(self.random.gauss(log(median), sigma)) if median > 0 and sigma > 0 else median
        low, high = facts.get("think_time_min_ms"), facts.get("think_time_max_ms")
        drawn = drawn if low is None else max(drawn, float(low))
        return round((drawn if high is None else min(drawn, float(high))) * _MS)

    def _add(
        self, stream: int, waits: Sequence[int], turn: Mapping[str, Any], extends: int | None, delay_ns: int
    ) -> int:
        if len(self.turns) >= _MOST_TURNS:
            raise TraceError(f"{self.streams[0].name}: more than {_MOST_TURNS} turns in a session")
        delay = turn.get("delay")
        is_number = isinstance(delay, int | float) and delay >= 0
        self.turns.append(
            AgentTurn(
                stream=stream,
                after=tuple(sorted(set(waits))),
                delay_ns=delay_ns + (round(delay * _MS) if is_number and delay is not None else 0),
                output_tokens=tokens_in(turn, "max_tokens") or None,
                extends=extends,
                messages=tuple(objects_in(turn, "messages")),
                tools=tuple(objects_in(turn, "tools")),
                members=object_in(turn, "extra"),
                model=text_in(turn, "model"),
            )
        )
        return len(self.turns) - 1


@dataclass(frozen=True, slots=True)
class _Branch:
    """How a child begins and ends.

    Attributes:
        inherits: Whether it inherits the history.
        waits: Whether the parent waits for its end.
        join: The turn of the parent that waits; None for the next one.
    """

    inherits: bool
    waits: bool
    join: int | None = None

    def join_at(self, spawned_by: int) -> int | None:
        """The number of the parent's turn that waits for the child; None for none."""
        if not self.waits:
            return None
        return spawned_by + 1 if self.join is None else max(self.join, spawned_by + 1)


_PRE: Final = _Branch(inherits=False, waits=False)


def _children(line: Mapping[str, Any]) -> Iterator[tuple[str, _Branch]]:
    for child in _names(line.get("pre_session_spawns")):
        yield child, _PRE
    for children, _ in _rounds(line):
        for child in children:
            yield child, _PRE
    for turn in objects_in(line, "turns"):
        yield from _children_of_turn(turn)


def _children_of_turn(turn: Mapping[str, Any]) -> Iterator[tuple[str, _Branch]]:
    for entry in turn.get("forks") or ():
        if isinstance(entry, str):
            yield entry, _Branch(inherits=True, waits=False)
        elif isinstance(entry, dict):
            yield text_in(entry, "child"), _Branch(inherits=True, waits=False)
    for entry in turn.get("spawns") or ():
        if isinstance(entry, str):
            yield entry, _Branch(inherits=False, waits=True)
        elif isinstance(entry, dict):
            join = tokens_in(entry, "join_at")
            for child in _names(entry.get("children")):
                yield child, _Branch(inherits=False, waits=True, join=join)


def _rounds(line: Mapping[str, Any]) -> list[tuple[list[str], Mapping[str, Any]]]:
    """The children of each round of an orchestrator, with the members of the think time."""
    if not line.get("orchestrator"):
        return []
    rounds = line.get("rounds", 1)
    if isinstance(rounds, list):
        return [(_names(each.get("spawns")), {**line, **each}) for each in rounds if isinstance(each, dict)]
    return [(_names(line.get("spawns")), line)] * (rounds if isinstance(rounds, int) else 1)


def _names(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _require_no_circle(name: str, children: Mapping[str, Sequence[str]]) -> None:
    """Refuse conversations that begin each other in a circle."""
    done: set[str] = set()
    for root in children:
        path: list[str] = []
        stack = [(root, iter(children[root]))]
        while stack:
            place, rest = stack[-1]
            if place not in path:
                path.append(place)
            child = next((each for each in rest if each not in done), None)
            if child is None:
                done.add(place)
                path.pop()
                stack.pop()
            elif child in path:
                raise TraceError(f"{name}: conversations begin each other in a circle: {child!r}")
            else:
                stack.append((child, iter(children[child])))


FORMAT: Final = TraceFormat("AIPerf DAG", is_dag, read_dag)
