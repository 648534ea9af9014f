"""Plays episodes: runs the code, and logs the ending of each."""

from __future__ import annotations

import asyncio
import importlib
import time
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, replace
from loadgen.driver.client.failure import Failure
from loadgen.driver.requests.turn_outcome import TurnOutcome
from loadgen.plugins.agents.asking import EpisodeAsk
from loadgen.plugins.agents.command import CommandPlayer
from loadgen.plugins.agents.episode import EpisodeError, EpisodeResult, LimitReachedError
from loadgen.plugins.agents.rollout import EpisodePlayer
from loadgen.plugins.sandbox.opening import SandboxPool
from recorder.event import Event, EventType
from workloads.episode_program import error_text, imported
from workloads.sandbox_contract import SandboxError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from loadgen.driver.requests.turn import Emit
    from loadgen.plugins.agents.asking import TakeTurn
    from loadgen.plugins.agents.episode_plan import EpisodePlan
    from loadgen.plugins.sandbox.opening import SandboxOnDemand
    from workloads.episode_program import EpisodeProgram, EpisodeSample

CUT: Final = TurnOutcome(Failure.CANCELLED, None, 0)
"""The outcome of an episode that the session ended before its first turn."""


@dataclass(frozen=True, slots=True)
class _End:
    """How an episode ended.

    Attributes:
        ended_ns: The time of the end; 0 for now.
    """

    ending: str
    reason: str
    result: EpisodeResult | None = None
    ended_ns: int = 0


def _end_by(error: Exception) -> _End:
    """The end of an episode after an exception in the code."""
    match error:
        case EpisodeError():
            return _End(error.ending, str(error))
        case SandboxError():
            return _End("sandbox_error", str(error))
    return _End("agent_error", error_text(error))


class EpisodeRunner:
    """Plays the episodes of one worker."""

    def __init__(
        self,
        plan: EpisodePlan,
        emit: Emit,
        redact: Callable[[str], str],
        model: str = "",
    ) -> None:
        self._program_player = (
            None if plan.command is None else CommandPlayer(plan.command, model, sequential=plan.sequential)
        )
        self._plan = plan
        self._emit = emit
        self._redact = redact
        self._players: dict[str, EpisodePlayer] = {}
        self._sandboxes = SandboxPool()

    def prepare(self, programs: Iterable[EpisodeProgram]) -> None:
        """Import the players, set-ups and clean-ups of these programs, or raise `EpisodeCodeError`."""
        plan = self._plan
        if self._program_player is not None:
            importlib.import_module("aiohttp.web")
        elif plan.tools:
            importlib.import_module("loadgen.plugins.agents.tool_agent")
        elif plan.agent is not None:
            self._player(plan.agent)
        for program in programs:
            if not plan.has_agent:
                self._player(program.code)
            for code in filter(None, (program.setup, program.finish)):
                imported(code, plan.paths)

    def close(self) -> None:
        """Remove the state shared by episodes."""
        if self._program_player is not None:
            self._program_player.close()

    async def play(
        self, sample: EpisodeSample, take: TakeTurn, phase: str, scheduled_ns: int, begun_ns: int
    ) -> TurnOutcome:
        """Play the episode of a sample to the end; return the outcome of the last turn."""
        ask = EpisodeAsk(sample, take, self._plan.limits, self._emit, phase, self._plan.debug_dir)
        moments = {"scheduled_ns": scheduled_ns, "begun_ns": begun_ns}
        try:
            async with self._sandboxes.on_demand(self._plan.sandbox_of(sample.episode)) as sandbox:
                end = await self._from_setup_to_finish(sample, ask, sandbox)
        except asyncio.CancelledError:
            self._emit_end(ask, moments, _End("cut", "the session gave it up"))
            raise
        except Exception as error:  # noqa: BLE001 (a bug of a benchmark ends its episode, not the run)
            end = _end_by(error)
        self._emit_end(ask, moments, end)
        if ask.last is not None:
            return ask.last
        if end.ending == "cut":
            return CUT
        return self._never_asked(sample, ask, phase, end.reason)

    async def _from_setup_to_finish(
        self, sample: EpisodeSample, ask: EpisodeAsk, sandbox: SandboxOnDemand
    ) -> _End:
        """Play an episode, with the benchmark's steps before and after."""
        program = sample.episode
        if self._plan.opens_first(program):
            await sandbox.open()
        if program.setup:
            await imported(program.setup, self._plan.paths)(sample, sandbox)
        ask.start()
        try:
            result = await self._played(sample, ask, sandbox)
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
        self, sample: EpisodeSample, ask: EpisodeAsk, sandbox: SandboxOnDemand
    ) -> EpisodeResult:
        """Run the code within the limit of time."""
        limits = (self._plan.limits.seconds, sample.episode.seconds)
        seconds = min((limit for limit in limits if limit is not None), default=None)
        try:
            async with asyncio.timeout(seconds) as limit:
                if self._program_player is not None:
                    inside = sandbox if self._plan.runs_inside(sample.episode) else None
                    return await self._program_player.play(sample, ask, inside)
                if self._plan.tools:
                    from loadgen.plugins.agents.tool_agent import answer_with_tools

                    return await answer_with_tools(sample, ask, sandbox, self._plan.tools)
                return await self._player(sample.episode.code).play(sample, ask, sandbox, ask.trace)
        except TimeoutError:
            if not limit.expired():
                raise
            raise LimitReachedError("time", f"the episode took longer than {seconds:g} s") from None

    def _player(self, code: str) -> EpisodePlayer:
        """The code, imported; the state of an agent is kept only where samples are played in sequence."""
        player = self._players.get(code)
        if player is None:
            player = EpisodePlayer(code, self._plan.paths, sequential=self._plan.sequential)
            self._players[code] = player
        return player

    def _emit_end(self, ask: EpisodeAsk, moments: Mapping[str, int], end: _End) -> None:
        now_ns = time.monotonic_ns()
        data: dict[str, Any] = {
            **ask.facts(),
            **moments,
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

    def _never_asked(self, sample: EpisodeSample, ask: EpisodeAsk, phase: str, reason: str) -> TurnOutcome:
        """Log an episode without any turn as one failed request, so that the episode counts."""
        uuid, at_ns = token_hex(16), time.monotonic_ns()
        issued = {
            "scheduled_ns": at_ns,
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
