"""The seam between the issuer and the kinds of sessions.

The unit of load is a session: all that one user asks, in a single turn, a conversation or an episode. The
issuer begins a session when the session is due, and holds its place until it ends. Each session says when its
turns are due, and issues them by `SessionTurns`, which counts them and knows when the phase is over.

Single turns and conversations are in `loadgen.driver.user_sessions`. Any other kind comes with the plan
(`Plan.session_kind`), and the driver imports nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from loadgen.driver.requests.session_turns import SessionTurns
    from loadgen.driver.requests.turn import Emit
    from loadgen.driver.requests.turn_outcome import TurnOutcome
    from workloads.sample import Sample


class UserSession(Protocol):
    """A session, ready to begin.

    Attributes:
        number: Its number in the run, on which alone its questions and pauses depend.
        last_turn: The number of its last turn, from 0; of a session that is not planned, any.
    """

    @property
    def number(self) -> int:
        """See above."""

    @property
    def last_turn(self) -> int:
        """See above."""

    def begin(self, turns: SessionTurns) -> Coroutine[Any, Any, TurnOutcome]:
        """Begin; the coroutine takes all turns, and returns the outcome of the last.

        A session of more turns than one calls `turns.open` before it returns, and its coroutine `turns.end`.
        """


class SessionHost(Protocol):
    """Makes the sessions of a kind in one worker."""

    async def begin(self, worker: HostingWorker) -> None:
        """Get ready, before the first phase."""

    def session(self, number: int, sample: Sample) -> UserSession | None:
        """The session that opens with a sample; None where the sample is of another kind.

        Args:
            number: The number of the session in the run.
            sample: What it opens with.
        """

    async def close(self) -> None:
        """End all that the host has started."""


class HostingWorker(NamedTuple):
    """The parts of a worker that a host can use.

    Attributes:
        samples: The samples of the run.
        model: The model under test.
        redact: Removes secrets from a text.
        make_transport: Makes a transport of an endpoint and its timeouts.
        emit: Logs an event.
        prepare: Encodes the body of a request with further members.
    """

    samples: Sequence[Sample]
    model: str
    redact: Callable[[str], str]
    make_transport: Callable[..., Any]
    emit: Emit
    prepare: Callable[[Sample, Mapping[str, Any]], bytes]


class SessionKind(Protocol):
    """A kind of sessions, as a value of the plan, which can be pickled."""

    def settings(self) -> Mapping[str, Any]:
        """Members for the settings in the log, without secrets."""

    def in_folder(self, run: Path) -> Self:
        """The kind for a run in a folder."""

    def require(self) -> None:
        """Raise an error where this machine cannot host such sessions."""

    def host(self) -> SessionHost:
        """Start the host in this worker, which has a single thread and can be copied."""
