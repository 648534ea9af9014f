"""The `ask` of an episode: each call is a request, issued and stamped like every other."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from secrets import randbits, token_hex
from typing import TYPE_CHECKING, Any, Final, Protocol

from lazy_dataclasses import dataclass, field
from loadgen.plugins.agents.episode import Reply, ToolRecord, TurnFailedError, UserFailedError
from recorder.event import Event, EventType
from workloads.answer_details import AnswerDetails
from workloads.sample import Sample, last_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loadgen.driver.requests.turn import Emit
    from loadgen.driver.requests.turn_outcome import TurnOutcome
    from loadgen.plugins.agents.episode_plan import EpisodeLimits
    from workloads.sample import Message

USER_PHASE: Final = "user_sim"
"""Of the requests to a simulated user, which no figure of the system under test counts."""


class EpisodeTrace:
    """Appends events to a file of JSON lines, as `log_event` of an agent loop does."""

    def __init__(self, folder: str | None, name: str) -> None:
        self.folder = folder
        self.name = name

    def write(self, event: str, **data: Any) -> None:
        """Append an event; raise `OSError` if the file cannot be written."""
        if self.folder is None:
            return
        path = Path(self.folder, f"{self.name}.jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"event": event, "rollout_id": self.name, **data}, default=str) + "\n")


class TakeTurn(Protocol):
    """Issues a turn of an episode; see `loadgen.plugins.agents.agent_process.EpisodeTurns`."""

    async def __call__(
        self, sample: Sample, more: Mapping[str, Any], members: Mapping[str, Any] | None, asked_ns: int
    ) -> TurnOutcome:
        """Issue a request now, and return the outcome.

        Args:
            sample: The prompt or conversation to send.
            more: Further fields of the request in the log.
            members: Further members of the request's body.
            asked_ns: When the code of the episode asked, in ns of CLOCK_MONOTONIC.

        Raises:
            EpisodeCutError: The session ends.
        """

    async def user(self, sample: Sample, more: Mapping[str, Any]) -> TurnOutcome:
        """Ask the simulated user, or raise `UserFailedError` without a user, `EpisodeCutError` at the end."""


@dataclass(slots=True)
class EpisodeAsk:
    """Issues the turns of one episode; see `loadgen.plugins.agents.episode.Ask`.

    Attributes:
        conversation: The id of the episode in the log.
        started_ns: The time at which the episode began; `start` sets it.
        messages: The conversation up to the last answer.
    """

    sample: Sample
    take: TakeTurn
    limits: EpisodeLimits
    emit: Emit
    phase: str
    debug_dir: str | None = None
    conversation: str = field(default_factory=partial(token_hex, 8), init=False)
    started_ns: int = field(default_factory=time.monotonic_ns, init=False)
    turns: int = field(default=0, init=False)
    max_turns: int | None = field(init=False)
    trace: EpisodeTrace = field(init=False)
    last: TurnOutcome | None = field(default=None, init=False)
    messages: list[Message] = field(default_factory=list, init=False)
    _user_turns: int = field(default=0, init=False)
    _input_tokens: int = field(default=0, init=False)
    _output_tokens: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.max_turns = self.limits.turns
        self.trace = EpisodeTrace(self.debug_dir, f"bench-{self.sample.index}-{self.conversation}")

    def start(self) -> None:
        """Start the clock: the set-up of the benchmark is not part of the episode."""
        self.started_ns = time.monotonic_ns()

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int | None = None,
        temperature: float | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Issue one turn."""
        asked_ns = time.monotonic_ns()
        seconds = (asked_ns - self.started_ns) / 1e9
        self.limits.require_room(self.turns, self._input_tokens, self._output_tokens, seconds)
        own, turn = self.sample, self.turns
        self.turns += 1
        asked = Sample(
            own.index,
            prompt=last_text(messages),
            chat=tuple(messages),
            tools=tuple(tools),
            max_tokens=own.max_tokens if max_tokens is None else max_tokens,
            temperature=own.temperature if temperature is None else temperature,
            tags=own.tags,
            turn=turn,
            logged=self._already_logged(messages),
        )
        outcome = await self.take(asked, self._names(turn), body, asked_ns)
        self.last = outcome
        self._input_tokens += outcome.input_tokens or 0
        self._output_tokens += outcome.output_tokens
        if outcome.failure is not None or outcome.answer is None:
            message = f"turn {turn + 1} failed: {outcome.failure}: {outcome.message}"
            raise TurnFailedError(message, outcome.rejection)
        self.messages = [*messages, outcome.answer]
        self.trace.write("turn", turn=turn, messages=asked.new_messages(), answer=outcome.answer)
        return Reply(
            *(outcome.answer, outcome.finish_reason, outcome.input_tokens, outcome.output_tokens),
            outcome.details or AnswerDetails(),
        )

    async def user(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        temperature: float | None = None,
    ) -> Reply:
        """Request a message of the simulated user."""
        more = {**self._names(self._user_turns), "role": USER_PHASE}
        self._user_turns += 1
        index = -2 - randbits(60)
        asked = Sample(index, chat=tuple(messages), tools=tuple(tools), temperature=temperature)
        outcome = await self.take.user(asked, more)
        if outcome.failure is not None or outcome.answer is None:
            raise UserFailedError(f"the simulated user failed: {outcome.failure}: {outcome.message}")
        return Reply(outcome.answer, outcome.finish_reason, outcome.input_tokens, outcome.output_tokens)

    @contextmanager
    def tool(self, name: str, arguments: Any = None) -> Iterator[ToolRecord]:
        """Log a call of a tool, which runs inside the `with` block."""
        record, started_ns = ToolRecord(name, arguments), time.monotonic_ns()
        try:
            yield record
        except BaseException as error:
            record.error = record.error or f"{type(error).__name__}: {error}"
            raise
        finally:
            self._emit_tool(record, started_ns, time.monotonic_ns())

    def _emit_tool(self, record: ToolRecord, started_ns: int, ended_ns: int) -> None:
        duration_ns = ended_ns - started_ns
        if record.duration_ms is not None:
            duration_ns = round(record.duration_ms * 1e6)
            started_ns = ended_ns - duration_ns
        data: dict[str, Any] = {
            **self.facts(),
            "turn": max(0, self.turns - 1),
            "name": record.name,
            "started_ns": started_ns,
            "duration_ns": duration_ns,
            "texts": {"arguments": record.arguments, "result": record.result},
        }
        if record.error is not None:
            data["error"] = record.error
        self.emit(Event(EventType.TOOL_CALLED, ended_ns, data=data))
        self.trace.write("tool", name=record.name, ms=duration_ns / 1e6, error=record.error, **data["texts"])

    def facts(self) -> dict[str, Any]:
        """The fields that all events of the episode have."""
        return {
            "conversation": self.conversation,
            "prompt_id": self.sample.index,
            "phase": self.phase,
        }

    def _names(self, turn: int) -> dict[str, Any]:
        return {"conversation": self.conversation, "turn": turn, "episode": True}

    def _already_logged(self, messages: Sequence[Message]) -> int:
        """The number of messages logged by earlier turns; 0 after a rewrite by the code."""
        before = self.messages
        return len(before) if before and list(messages[: len(before)]) == before else 0
