"""The sessions of a run by number, equal for all workers."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.requests.order import order_of
from loadgen.driver.user_sessions.single_turn import SingleTurn

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping

    from loadgen.driver.phase import Phase, RequestNumbers
    from loadgen.driver.plan import Plan
    from loadgen.driver.requests.request_source import RequestSource
    from loadgen.driver.session_kind import SessionHost, UserSession
    from loadgen.driver.user_sessions.conversation import ConversationSession
    from workloads.sample import Sample

_NOTHING: Final[Mapping[str, Any]] = {}
AHEAD: Final = 3  #: sessions of a host that are made before they are due, in some ms of idle time each


class SessionSource:
    """Makes the sessions of a run.

    Args:
        plan: What to do.
        source: What to ask.
        prepare: Encodes a request's body.
        host: Makes the sessions of the plan's own kind; None where the plan has none.
    """

    def __init__(
        self,
        plan: Plan,
        source: RequestSource,
        prepare: Callable[[Sample], bytes],
        host: SessionHost | None,
    ) -> None:
        self._request_source = source
        self._samples = source.samples
        self._order = order_of(plan.order, len(source.samples), plan.seed, source.weights)
        self._salts = plan.salt
        self._recorded = plan.history == "recorded"
        self._prepare = prepare
        self._host = host
        self._made: dict[tuple[str, int], UserSession] = {}
        self._several: type[ConversationSession] | None = None
        if source.conversations:
            from loadgen.driver.user_sessions.conversation import ConversationSession

            self._several = ConversationSession

    @property
    def is_single_turn(self) -> bool:
        """Whether each session is a `SingleTurn`."""
        return self._host is None and self._several is None

    def session(self, phase: Phase, request: int, step: int = 0) -> UserSession:
        """The session that a request opens. A host makes those of the next requests too, `step` apart."""
        session = self._made.pop((phase.name, request), None) or self._session(phase, request)
        if self._host is not None and step:
            for later in filter(phase.has, range(request + step, request + AHEAD * step + 1, step)):
                if (phase.name, later) not in self._made:
                    self._made[phase.name, later] = self._session(phase, later)
        return session

    def _session(self, phase: Phase, request: int) -> UserSession:
        number = self._request_source.number(phase, request)
        sample = sent = self._samples[self._order(number)]
        if self._host is not None and (hosted := self._host.session(number, sample)) is not None:
            return hosted
        more = _NOTHING
        if self._salts:
            from loadgen.driver.requests.cache_buster import new_salt, salted

            more = {"salt": new_salt()}
            sent = salted(sample, more["salt"])
        body = self._prepare(sent)
        if self._several is None:
            return SingleTurn(number, sample, body, more)
        return self._several(number, sample, sent, body, more, recorded=self._recorded)


class ClaimedSessions:
    """The sessions of a phase that users claim one after another.

    Args:
        source: Makes the sessions.
        phase: The phase.
        numbers: The request numbers of this node.
        claim: Claims a number from a counter that all workers pass; None for one worker.
        exhausted: Set when the last session is claimed.
    """

    def __init__(
        self,
        source: SessionSource,
        phase: Phase,
        numbers: RequestNumbers,
        claim: Callable[[], int] | None,
        exhausted: asyncio.Event,
    ) -> None:
        self._source = source
        self._phase = phase
        self._numbers = numbers
        self._claim = claim or count().__next__
        self._step = 1 if claim is None and numbers.node.workers == 1 else 0
        self._exhausted = exhausted
        self._latest = -1

    def next(self, reserve: int = 0) -> tuple[int, UserSession] | None:
        """Claim the next session; None where the phase has at most `reserve` left, or none."""
        phase = self._phase
        if reserve and not phase.has(self._latest + reserve):
            return None
        claimed = self._claim()
        request = self._latest = self._numbers.number(claimed)
        if not phase.has(self._numbers.number(claimed + 1)):
            self._exhausted.set()
        return (request, self.session(request)) if phase.has(request) else None

    def session(self, request: int) -> UserSession:
        """The session of a claimed number."""
        return self._source.session(self._phase, request, self._step)
