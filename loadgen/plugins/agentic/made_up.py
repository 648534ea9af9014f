"""Made-up agentic sessions: tool loops, fan-out to subagents, compaction; trees are made from a seed.

Sessions of a theme share the blocks of tool definitions and system prompt, and all subagents share theirs;
all other blocks are those of one session. Recorded times are nominal: a prompt takes `PREFILL_NS` per new
token, an answer `DECODE_NS` per token.
"""

from __future__ import annotations

from hashlib import sha256
from random import Random
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, replace
from loadgen.plugins.agentic.agentic_form import read_agentic_form
from loadgen.plugins.agentic.block_store import BlockStore, StoredBlocks
from loadgen.plugins.agentic.session_corpus import CorpusFacts, MakesTrees
from loadgen.plugins.agentic.session_tree import AgentStream, AgentTurn, History, SessionTree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.plugins.agentic.agentic_form import AgenticForm
    from loadgen.plugins.agentic.workbench import Steps

PREFILL_NS: Final = 100_000
DECODE_NS: Final = 20_000_000
_NS: Final = 1_000_000_000

_THEMES: Final = 1 << 62
_AGENTS: Final = (1 << 62) + (1 << 61)
_PER_THEME: Final = 32
"""Bits of a block of a theme; of a session's blocks too."""


class MadeUpSessions(MakesTrees):
    """Made-up sessions as a corpus; see `SessionCorpus`.

    Args:
        form: The form of the sessions.
        seed: The same seed makes the same sessions.
    """

    shares_ids: Final = True
    """Equal ids in different sessions are equal blocks."""

    def __init__(self, form: AgenticForm, seed: int) -> None:
        self._form = form
        self._seed = seed
        digest = sha256(f"{form.spec}/{seed}".encode()).hexdigest()
        self.facts = CorpusFacts("agentic", "agentic", "s", History.CUMULATIVE, digest)

    def __reduce__(self) -> tuple[Any, ...]:
        # The distributions of a form are functions; workers read the form again.
        return _again, (self._form.spec, self._seed)

    def __len__(self) -> int:
        return self._form.sessions

    def arrival_ns(self, number: int) -> None:
        """None: made-up sessions arrive by the load."""

    def making(self, number: int) -> Steps[SessionTree]:
        """The making of the session with a number."""
        return _Session(self._form, self._seed, number).making()


def _again(spec: str, seed: int) -> MadeUpSessions:
    return MadeUpSessions(read_agentic_form(spec), seed)


@dataclass(slots=True)
class _Context:
    """The prompt of an agent while turns are made.

    Attributes:
        tokens: The length of the prompt.
        ids: The ids of the full blocks.
        system: The tokens of tool definitions and system prompt.
        turn: The number of the last turn; None before the first.
        answer: The tokens of the answer to that turn.
    """

    tokens: int
    ids: list[int]
    system: int
    turn: int | None = None
    answer: int = 0


class _Session:
    """Makes one session."""

    def __init__(self, form: AgenticForm, seed: int, number: int) -> None:
        self._form = form
        self._seed = seed
        self._number = number
        self._random = Random(f"{seed}/agentic/{number}")  # noqa: S311 (reproducible draws, no secrets)
        self._blocks = BlockStore()
        self._streams: list[AgentStream] = []
        self._turns: list[AgentTurn] = []
        self._fresh = number << _PER_THEME
        self._first_agents: int | None = None

    def making(self) -> Steps[SessionTree]:
        """The making of the session."""
        form = self._form
        theme = self._random.randrange(form.themes)
        system = form.system(Random(f"{self._seed}/theme/{theme}"))  # noqa: S311 (as above)
        yield from self._run_agent(
            _THEMES | (theme << _PER_THEME), system, form.turns(self._random), None, 0, 0
        )
        tags = {"theme": str(theme)}
        name = f"agentic-{self._number}"
        return SessionTree(
            name, tuple(self._streams), tuple(self._turns), History.CUMULATIVE, form.block, tags=tags
        )

    def _run_agent(
        self, first_block: int, system: int, turns: int, parent: int | None, spawn: int, depth: int
    ) -> Steps[int]:
        """Make the turns of an agent with subagents; return the number of the last turn of the agent.

        Args:
            first_block: The first id of its system prompt.
            system: The tokens of its system prompt.
            turns: How many requests it makes.
            parent: The stream that spawned it.
            spawn: The turn that spawned it.
            depth: How many spawns are before it.
        """
        form, random = self._form, self._random
        stream = len(self._streams)
        system = min(system, form.context // 2)
        self._streams.append(AgentStream(_name(stream), parent, system_tokens=system))
        full = system // form.block
        context = _Context(system, [*range(first_block, first_block + full)], system)
        joined: list[int] = []
        for place in range(turns):
            is_user = place == 0 or random.random() < form.user
            delay_s = form.think(random) if is_user and place else form.tool(random) if place else 0.0
            new = form.task(random) if is_user else form.result(random)
            before = [] if parent is None and not place else [spawn if context.turn is None else context.turn]
            # What is joined waits for the turn before.
            self._add_turn(stream, context, joined or before, round(delay_s * _NS), new, is_tool=not is_user)
            joined = []
            yield
            if place + 1 < turns and depth < form.depth and random.random() < form.fanout:
                joined = yield from self._fan_out(stream, context, depth)
        assert context.turn is not None  # noqa: S101 (an agent has a turn)
        return context.turn

    def _fan_out(self, stream: int, context: _Context, depth: int) -> Steps[list[int]]:
        """Spawn subagents after the last turn; return the last turns of those that the next turn joins."""
        form, random = self._form, self._random
        spawn, joined = context.turn or 0, []
        is_background = random.random() < form.background
        system = form.agent_system(Random(f"{self._seed}/agents"))  # noqa: S311 (as above)
        for _ in range(form.subagents(random)):
            child = len(self._streams)
            last = yield from self._run_agent(
                _AGENTS, system, form.agent_turns(random), stream, spawn, depth + 1
            )
            if is_background:
                self._streams[child] = replace(self._streams[child], is_background=True)
            else:
                joined.append(last)
        return joined

    def _add_turn(
        self,
        stream: int,
        context: _Context,
        after: Sequence[int],
        delay_ns: int,
        new: int,
        *,
        is_tool: bool,
    ) -> None:
        form, random = self._form, self._random
        output = min(form.output(random), form.context // 8)
        room = form.context - output
        extends, shared = context.turn, context.tokens // form.block
        context.tokens += context.answer + new
        if context.tokens > room:
            shared = context.system // form.block
            compacted = context.system + form.summary(random) + new
            context.tokens, context.ids = min(compacted, room), context.ids[:shared]
        missing = context.tokens // form.block - len(context.ids)
        context.ids += range(self._fresh, self._fresh + missing)
        self._fresh += max(0, missing)
        if extends is None:
            extends, shared = self._first_of_agents(stream, shared)
        number = len(self._turns)
        self._blocks.add(context.ids, extends, shared if extends is not None else 0)
        start_ns = max((self._turns[each].end_ns or 0 for each in after), default=0) + delay_ns
        took_ns = PREFILL_NS * (context.tokens - shared * form.block) + DECODE_NS * output
        self._turns.append(
            AgentTurn(
                stream=stream,
                after=tuple(sorted(after)),
                delay_ns=delay_ns,
                tool_ns=delay_ns if is_tool else 0,
                input_tokens=context.tokens,
                output_tokens=output,
                blocks=StoredBlocks(self._blocks, number),
                extends=extends,
                kept_blocks=shared if extends is not None else 0,
                start_ns=start_ns,
                end_ns=start_ns + took_ns,
            )
        )
        context.turn, context.answer = number, output

    def _first_of_agents(self, stream: int, shared: int) -> tuple[int | None, int]:
        """The turn that a first turn of a subagent begins like: the first turn of the first subagent."""
        if stream == 0:
            return None, 0
        first = self._first_agents
        if first is None:
            self._first_agents = len(self._turns)
            return None, 0
        return first, shared


def _name(stream: int) -> str:
    return f"agent-{stream}" if stream else "main"
