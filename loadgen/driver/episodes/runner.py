"""Plays episodes: runs their code, and logs how each one ends."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.episodes.asking import EpisodeAsk, SimulatedUserClient
from loadgen.driver.episodes.command import CommandPlayer
from loadgen.driver.requests.retries import Retries
from loadgen.driver.requests.turn import RequestRunner, TurnOutcome
from recorder.event import Event, EventType
from workloads.episodes.agent import EpisodePlayer
from workloads.episodes.episode import EpisodeError, EpisodeResult, LimitReachedError
from workloads.episodes.program import EpisodeProgram, error_text, imported
from workloads.sandbox.asynchronous import SandboxPool
from workloads.sandbox.base import SandboxError

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.driver.episodes.asking import TakeTurn
    from loadgen.driver.episodes.plan import EpisodePlan, UserEndpoint
    from loadgen.driver.requests.turn import Emit
    from workloads.sample import Sample
    from workloads.sandbox.asynchronous import SandboxOnDemand

_USER_RETRIES: Final = 3


def user_client(
    user: UserEndpoint, make_transport: Callable[..., Any], emit: Emit
) -> tuple[SimulatedUserClient, Any]:
    """A client of the endpoint that plays users, and its transport."""
    transport = make_transport(user.target, Timeouts(total_s=user.timeout_s, named="--user-timeout"))
    retries = Retries(_USER_RETRIES, user.timeout_s)
    generation = Generation(user.model, stream=False)
    runner = RequestRunner(transport, chat_completions, generation, emit, retries=retries)
    return SimulatedUserClient(runner, user), transport


@dataclass(frozen=True, slots=True)
class _End:
    """How an episode ended.

    Attributes:
        ending: The ending, as the log names it.
        reason: The reason as text.
        result: The return value of its code; None if it was stopped.
        ended_ns: The time of the end; 0 for now.
    """

    ending: str
    reason: str
    result: EpisodeResult | None = None
    ended_ns: int = 0


def _end_by(error: Exception) -> _End:
    """The end of an episode whose code has raised."""
    match error:
        case EpisodeError():
            return _End(error.ending, str(error))
        case SandboxError():
            return _End("sandbox_error", str(error))
    return _End("agent_error", error_text(error))


class EpisodeRunner:
    """Plays the episodes of one worker.

    Args:
        plan: How episodes are played.
        emit: Logs an event.
        user: The client of the simulated user; None without one.
        redact: Removes secrets from a text.
        model: The model under test.
    """

    def __init__(
        self,
        plan: EpisodePlan,
        emit: Emit,
        user: SimulatedUserClient | None,
        redact: Callable[[str], str],
        model: str = "",
    ) -> None:
        self._program_player = (
            None if plan.command is None else CommandPlayer(plan.command, model, sequential=plan.sequential)
        )
        self._plan = plan
        self._emit = emit
        self._user = user
        self._redact = redact
        self._players: dict[str, EpisodePlayer] = {}
        self._sandboxes = SandboxPool()

    async def play(self, sample: Sample, take: TakeTurn, phase: str, scheduled_ns: int) -> TurnOutcome:
        """Play the episode of a sample to its end; return the outcome of its last turn."""
        program = self._program(sample)
        ask = EpisodeAsk(
            sample, program, take, self._plan.limits, self._emit, phase, self._user, self._plan.debug_dir
        )
        try:
            async with self._sandboxes.on_demand(self._plan.sandbox_of(sample)) as sandbox:
                end = await self._from_setup_to_finish(sample, program, ask, sandbox)
        except asyncio.CancelledError:
            self._emit_end(ask, _End("cut", "the session gave it up"))
            raise
        except Exception as error:  # noqa: BLE001 (a bug of a benchmark ends its episode, not the run)
            end = _end_by(error)
        self._emit_end(ask, end)
        if ask.last is not None:
            return ask.last
        if end.ending == "cut":
            return TurnOutcome(Failure.CANCELLED, None, 0)
        return self._never_asked(sample, ask, phase, scheduled_ns, end.reason)

    async def _from_setup_to_finish(
        self, sample: Sample, program: EpisodeProgram, ask: EpisodeAsk, sandbox: SandboxOnDemand
    ) -> _End:
        """Play an episode, with what its benchmark does before and after."""
        if program.setup:
            await imported(program.setup, self._plan.paths)(sample, sandbox)
        ask.start()
        try:
            result = await self._played(sample, program, ask, sandbox)
        except Exception as error:  # noqa: BLE001 (an agent's bug ends its episode, not the run)
            end = _end_by(error)
        else:
            end = _End("completed", result.finish_reason, result)
            if result.error is not None:
                end = _End("agent_error", result.error, result)
        end = replace(end, ended_ns=time.monotonic_ns())
        if program.finish and (end.ending == "completed" or end.ending.startswith("max_")):
            finish = imported(program.finish, self._plan.paths)
            so_far = end.result or EpisodeResult(ask.messages, finish_reason=end.ending)
            end = replace(end, result=await finish(sample, sandbox, so_far))
        return end

    async def _played(
        self, sample: Sample, program: EpisodeProgram, ask: EpisodeAsk, sandbox: SandboxOnDemand
    ) -> EpisodeResult:
        """Run the code within the limit of time."""
        limits = (self._plan.limits.seconds, program.seconds)
        seconds = min((limit for limit in limits if limit is not None), default=None)
        try:
            async with asyncio.timeout(seconds) as limit:
                if self._program_player is not None:
                    inside = sandbox if self._plan.runs_inside(sample) else None
                    return await self._program_player.play(sample, ask, inside)
                return await self._player(program).play(sample, ask, sandbox, ask.trace)
        except TimeoutError:
            if not limit.expired():
                raise
            raise LimitReachedError("time", f"the episode took longer than {seconds:g} s") from None

    def _program(self, sample: Sample) -> EpisodeProgram:
        """The code that plays a sample: the agent of the session, else its own."""
        command, agent = self._plan.command, self._plan.agent
        if command is None and agent is None:
            assert sample.episode is not None  # noqa: S101 (only such samples, and those of an agent, are played)
            return sample.episode
        code = str(agent) if command is None else command.words[0]
        return EpisodeProgram(code) if sample.episode is None else replace(sample.episode, code=code)

    def _player(self, program: EpisodeProgram) -> EpisodePlayer:
        """The code, imported; the state of an agent is kept only where samples are played in sequence."""
        player = self._players.get(program.code)
        if player is None:
            player = EpisodePlayer(program.code, self._plan.paths, sequential=self._plan.sequential)
            self._players[program.code] = player
        return player

    def _emit_end(self, ask: EpisodeAsk, end: _End) -> None:
        now_ns = time.monotonic_ns()
        data: dict[str, Any] = {
            **ask.facts(),
            "started_ns": ask.started_ns,
            "duration_ns": (end.ended_ns or now_ns) - ask.started_ns,
            "ending": end.ending,
            "reason": self._redact(end.reason),
        }
        if end.result is not None:
            data["reward"] = end.result.reward
            data["texts"] = {"messages": list(end.result.messages), "details": dict(end.result.details)}
        self._emit(Event(EventType.EPISODE_ENDED, now_ns, data=data))
        ask.trace.write("end", ending=end.ending, reason=data["reason"], reward=data.get("reward"))

    def _never_asked(
        self, sample: Sample, ask: EpisodeAsk, phase: str, scheduled_ns: int, reason: str
    ) -> TurnOutcome:
        """Log an episode that ended before its first turn as one failed request: it counts all the same."""
        uuid, at_ns = token_hex(16), time.monotonic_ns()
        issued = {
            "scheduled_ns": scheduled_ns,
            "phase": phase,
            "prompt_id": sample.index,
            "conversation": ask.conversation,
            "turn": 0,
            "episode": True,
            "texts": {"messages": sample.messages()},
        }
        if sample.tags:
            issued["tags"] = dict(sample.tags)
        self._emit(Event(EventType.LOADGEN_ISSUE_CALLED, at_ns, uuid, issued))
        failure = {"error": str(Failure.AGENT_ERROR), "message": self._redact(reason)}
        self._emit(Event(EventType.ERROR, at_ns, uuid, failure))
        return TurnOutcome(str(Failure.AGENT_ERROR), None, 0)
