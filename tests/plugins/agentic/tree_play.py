"""Session trees on a clock that the test moves."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from loadgen.driver.client.codec import Generation
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.issuing import Issuer
from loadgen.driver.load_session import LoadSession
from loadgen.driver.plan import Plan
from loadgen.driver.requests.request_source import RequestSource
from loadgen.driver.requests.turn_outcome import AnswerUse, TurnOutcome
from loadgen.driver.session_kind import HostingWorker
from loadgen.driver.stop import Stop
from loadgen.plugins.agentic.prompt_texts import TreeTexts
from loadgen.plugins.agentic.session_corpus import CorpusFacts, MakesTrees
from loadgen.plugins.agentic.session_tree import AgentStream, AgentTurn, History, SessionTree
from loadgen.plugins.agentic.tree_kind import TreeKind
from loadgen.plugins.agentic.tree_sample import TreeSamples
from recorder.event import Event, EventType
from recorder.lifecycle import violations
from tests.driver.manual_clock import ManualClock
from tests.driver.test_issued_conversations import see_through

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from loadgen.driver.load import Load
    from loadgen.plugins.agentic.workbench import Steps
    from workloads.sample import Sample

MS = 1_000_000


class PlayedTurn(NamedTuple):
    """A turn, as the endpoint saw it."""

    session: str
    tree: int
    turn: int
    due_ns: int
    issued_ns: int
    ended_ns: int
    messages: list[dict[str, Any]]
    phase: str
    most_tokens: int | None
    more: Mapping[str, Any]


class TreeRunner:
    """Answers a turn after a time that the test chooses, or fails."""

    endpoints = 1

    def __init__(
        self, clock: ManualClock, service_ns: Callable[[int, int], int], fails: Callable[[int, int], str]
    ) -> None:
        self.clock = clock
        self.service_ns = service_ns
        self.fails = fails
        self.taken: list[PlayedTurn] = []
        self.models: list[tuple[int, int, str | None]] = []

    def prepare(self, sample: Sample, members: Mapping[str, Any]) -> bytes:
        """The messages."""
        self.models.append((sample.index, sample.turn, members.get("model")))
        return orjson.dumps(sample.messages())

    async def run(
        self,
        sample: Sample,
        body: bytes,
        scheduled_ns: int,
        phase: str,
        endpoint: int,  # noqa: ARG002
        more: Mapping[str, Any],
        use: AnswerUse,
    ) -> TurnOutcome:
        """Answer after a while."""
        issued_ns = self.clock.now_ns()
        await self.clock.sleep_until(issued_ns + self.service_ns(sample.index, sample.turn))
        ended_ns, messages = self.clock.now_ns(), orjson.loads(body)
        named = more["conversation"], sample.index, sample.turn
        self.taken.append(
            PlayedTurn(*named, scheduled_ns, issued_ns, ended_ns, messages, phase, sample.max_tokens, more)
        )
        if message := self.fails(sample.index, sample.turn):
            return TurnOutcome("http_400", None, 0, message=message, ended_ns=ended_ns)
        answer = {"role": "assistant", "content": f"answer {sample.index}.{sample.turn}"}
        return TurnOutcome(None, 1.0, 5, answer if use is AnswerUse.FOLLOWED else None, ended_ns=ended_ns)

    def relay(self, *_: object) -> None:
        """Nothing is issued by compiled code."""

    def give_up_for(self, reason: str) -> None:
        """Learn of a stop."""


class MadeTrees(MakesTrees):
    """Trees as a corpus."""

    shares_ids = False

    def __init__(self, trees: Sequence[SessionTree]) -> None:
        self.facts = CorpusFacts("made", "made", "ms", History.MESSAGES, "")
        self._trees = trees

    def __len__(self) -> int:
        return len(self._trees)

    def arrival_ns(self, number: int) -> None:
        """None."""

    def making(self, number: int) -> Steps[SessionTree]:
        """The tree with a number."""
        yield
        return self._trees[number]


class TreePlay:
    """A run of trees that has ended, of one issuer."""

    def __init__(
        self,
        load: Load,
        trees: Sequence[SessionTree],
        *,
        service_ns: Callable[[int, int], int] = lambda *_: 20 * MS,
        fails: Callable[[int, int], str] = lambda *_: "",
        stop_at_ns: int | None = None,
        left: Sequence[int] | None = None,
        offsets_ns: Sequence[int] | None = None,
        kind: TreeKind = TreeKind(),  # noqa: B008 (a frozen value)
        **limits: Any,
    ) -> None:
        prompts = TreeTexts(0)
        samples = TreeSamples(MadeTrees(trees), prompts, range(len(trees)))
        plan = {"requests": None, "duration_s": None, "warmup": 0, "sessions": len(trees)} | limits
        self.plan = Plan(
            load, generation=Generation("m"), protocol="chat", seed=3, timeouts=Timeouts(60), **plan
        )
        self.agenda = RequestSource(samples, conversations=True, left=left, offsets_ns=offsets_ns)
        self.events: list[Event] = []
        self.clock = ManualClock(0)
        self.runner = TreeRunner(self.clock, service_ns, fails)
        self.host = kind.host()
        asyncio.run(self._run(stop_at_ns))
        assert violations(self.events) == []

    async def _run(self, stop_at_ns: int | None) -> None:
        stop = Stop()
        await self.host.begin(
            HostingWorker((), "m", str, lambda *_: None, self.events.append, self.runner.prepare)
        )
        self.issuer = Issuer(self.plan, self.agenda, self.runner, self.clock, host=self.host)

        async def ask_to_stop(at_ns: int) -> None:
            await self.clock.sleep_until(at_ns)
            stop.ask()

        stopping = None if stop_at_ns is None else asyncio.create_task(ask_to_stop(stop_at_ns))
        session = LoadSession(self.plan, self.issuer, self.events.append, self.clock, stop)
        await see_through(self.clock, session.run(), lambda: self.host.bench.is_busy)
        if stopping is not None:
            stopping.cancel()

    @property
    def taken(self) -> list[PlayedTurn]:
        """What was asked, by its end."""
        return self.runner.taken

    def measured(self) -> list[PlayedTurn]:
        """What was asked after the warm-up, by its end."""
        return [taken for taken in self.taken if taken.phase == "performance"]

    def ends(self) -> list[Mapping[str, Any]]:
        """The payloads of the ends of the trees."""
        return [event.data for event in self.events if event.type is EventType.TREE_ENDED]

    def by_session(self) -> dict[str, dict[int, PlayedTurn]]:
        """The turns of each play of a tree."""
        sessions: dict[str, dict[int, PlayedTurn]] = {}
        for taken in self.measured():
            turns = sessions.setdefault(taken.session, {})
            assert taken.turn not in turns, "a turn was issued twice"
            turns[taken.turn] = taken
        return sessions


def tree(*turns: AgentTurn, history: History = History.MESSAGES, name: str = "s", **more: Any) -> SessionTree:
    """A tree of turns, whose subagents are of the main agent."""
    last_stream = max(turn.stream for turn in turns)
    subagents = (AgentStream(f"sub {number}", 0, "Explore") for number in range(1, last_stream + 1))
    return SessionTree(name, (AgentStream("main"), *subagents), turns, history, **more)


def user(text: str) -> tuple[dict[str, str], ...]:
    """The message of a user."""
    return ({"role": "user", "content": text},)
