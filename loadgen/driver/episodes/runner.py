"""Plays episodes: runs their code, and logs how each one ends."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
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
from workloads.episodes.program import EpisodeProgram, error_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.driver.episodes.asking import TakeTurn
    from loadgen.driver.episodes.plan import EpisodePlan, UserEndpoint
    from loadgen.driver.requests.turn import Emit
    from workloads.sample import Sample

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


class EpisodeRunner:
    """Plays the episodes of one worker.

    Args:
        plan: How.
        emit: Where events go.
        user: Asks the simulated user; None where there is none.
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

    async def play(self, sample: Sample, take: TakeTurn, phase: str, scheduled_ns: int) -> TurnOutcome:
        """Play the episode of a sample to its end; return the outcome of its last turn."""
        program = self._program(sample)
        ask = EpisodeAsk(sample, program, take, self._plan.limits, self._emit, phase, self._user)
        try:
            result: EpisodeResult | None = await self._played(sample, program, ask)
        except asyncio.CancelledError:
            self._emit_end(ask, "cut", "the session gave it up")
            raise
        except EpisodeError as error:
            ending, reason, result = error.ending, str(error), None
        except Exception as error:  # noqa: BLE001 (an agent's bug ends its episode, not the run)
            ending, reason, result = "agent_error", error_text(error), None
        else:
            assert result is not None  # noqa: S101 (the code has returned)
            ending, reason = "completed", result.finish_reason
            if result.error is not None:
                ending, reason = "agent_error", result.error
        self._emit_end(ask, ending, reason, result)
        if ask.last is not None:
            return ask.last
        if ending == "cut":
            return TurnOutcome(Failure.CANCELLED, None, 0)
        return self._never_asked(sample, ask, phase, scheduled_ns, reason)

    async def _played(self, sample: Sample, program: EpisodeProgram, ask: EpisodeAsk) -> EpisodeResult:
        """Run the code within the limit of time."""
        async with AsyncExitStack() as stack:
            sandbox = None
            if self._plan.sandbox is not None:
                from workloads.sandbox.asynchronous import async_sandbox

                sandbox = await stack.enter_async_context(async_sandbox(self._plan.sandbox))
            seconds = self._plan.limits.seconds
            try:
                async with asyncio.timeout(seconds) as limit:
                    if self._program_player is not None:
                        return await self._program_player.play(sample, ask)
                    return await self._player(program).play(sample, ask, sandbox)
            except TimeoutError:
                if not limit.expired():
                    raise
                raise LimitReachedError("time", f"the episode took longer than {seconds:g} s") from None

    def _program(self, sample: Sample) -> EpisodeProgram:
        """The code that plays a sample: the agent of the session, else its own."""
        own = sample.episode
        if self._plan.command is not None:
            return EpisodeProgram(self._plan.command.words[0], {} if own is None else own.data)
        if self._plan.agent is None:
            assert own is not None  # noqa: S101 (only such samples, and those of an agent, are played)
            return own
        return EpisodeProgram(self._plan.agent, {} if own is None else own.data)

    def _player(self, program: EpisodeProgram) -> EpisodePlayer:
        """The code, imported; the state of an agent is kept only where samples are played in sequence."""
        player = self._players.get(program.code)
        if player is None:
            player = EpisodePlayer(program.code, self._plan.paths, sequential=self._plan.sequential)
            self._players[program.code] = player
        return player

    def _emit_end(
        self, ask: EpisodeAsk, ending: str, reason: str, result: EpisodeResult | None = None
    ) -> None:
        data: dict[str, Any] = {
            **ask.facts(),
            "started_ns": ask.started_ns,
            "ending": ending,
            "reason": self._redact(reason),
        }
        if result is not None:
            data["reward"] = result.reward
            data["texts"] = {"messages": list(result.messages), "details": dict(result.details)}
        self._emit(Event(EventType.EPISODE_ENDED, time.monotonic_ns(), data=data))

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
