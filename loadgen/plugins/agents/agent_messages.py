"""Messages between a worker and the process of the agents: pickled, in frames."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, NamedTuple

from loadgen.driver.workers.framing import framed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from loadgen.driver.requests.turn_outcome import TurnOutcome
    from loadgen.plugins.agents.episode_plan import EpisodePlan
    from recorder.event import Event
    from workloads.episode_program import EpisodeProgram, EpisodeSample
    from workloads.sample import Sample


class AgentConfig(NamedTuple):
    """The first message to the process.

    Attributes:
        programs: The code of the samples, each once and without its data.
    """

    plan: EpisodePlan
    programs: Sequence[EpisodeProgram]
    model: str
    redact: Callable[[str], str]
    has_user: bool


class Play(NamedTuple):
    """Play an episode; see `loadgen.plugins.agents.runner.EpisodeRunner.play`."""

    episode: int
    sample: EpisodeSample
    phase: str
    scheduled_ns: int
    begun_ns: int


class Cancel(NamedTuple):
    """End an episode."""

    episode: int


class TurnAnswer(NamedTuple):
    """The answer to a turn: the outcome; or, where none was issued, the reason in `cut`."""

    call: int
    outcome: TurnOutcome | None
    cut: str = ""


class AgentsReady(NamedTuple):
    """The code of all agents is imported."""


class Turn(NamedTuple):
    """Issue a turn; see `loadgen.plugins.agents.asking.TakeTurn`."""

    call: int
    episode: int
    sample: Sample
    more: Mapping[str, Any]
    members: Mapping[str, Any] | None
    asked_ns: int


class UserTurn(NamedTuple):
    """Ask the simulated user; see `loadgen.plugins.agents.asking.TakeTurn.user`."""

    call: int
    episode: int
    sample: Sample
    more: Mapping[str, Any]


class Drop(NamedTuple):
    """Cancel a turn; an answer follows."""

    call: int


class Emitted(NamedTuple):
    """Log an event."""

    event: Event


class Played(NamedTuple):
    """An episode is over; the outcome of the last turn."""

    episode: int
    outcome: TurnOutcome


class Crashed(NamedTuple):
    """A bug of this program, in one line."""

    message: str


def encoded(message: NamedTuple) -> bytes:
    """A message as a frame."""
    return framed(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))


def decoded(payload: memoryview) -> Any:
    """A message of a frame."""
    return pickle.loads(payload)  # noqa: S301 (from a process of this program)
