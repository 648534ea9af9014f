"""A runner of requests that leaves some of them before the answer is complete."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, Final

from loadgen.driver.requests.turn import RequestRunner
from loadgen.driver.requests.turn_outcome import LEFT, AnswerUse, TurnOutcome
from loadgen.plugins.abandonment.abandonment import Abandonment
from recorder.event import Event, EventType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.driver.client.exchange import Exchange
    from loadgen.driver.plan import Plan
    from workloads.sample import Sample

_NOTHING: Final[Mapping[str, Any]] = {}


class _Departure:
    """The departure from one request, at the moment that an abandonment names."""

    def __init__(self, abandonment: Abandonment) -> None:
        self.task: asyncio.Task[TurnOutcome] | None = None
        self.has_left = False
        self._abandonment = abandonment
        self._chunks = 0
        self._is_inside = False

    def watch(self, exchange: Exchange) -> None:
        """Leave an exchange when the moment has come."""
        match self._abandonment.after:
            case "first-token":
                announce = exchange._on_first_token  # noqa: SLF001 (an exchange announces to one observer)

                def first_token(at_ns: int) -> None:
                    announce(at_ns)
                    self._leave(exchange)

                exchange._on_first_token = first_token  # noqa: SLF001
            case "tokens":
                self._watch_chunks(exchange)
            case "time":
                sent = exchange._on_sent  # noqa: SLF001

                def leave_later(sending: Exchange) -> None:
                    sent(sending)
                    asyncio.get_running_loop().call_later(self._abandonment.amount, self._leave, exchange)

                exchange._on_sent = leave_later  # noqa: SLF001

    def _watch_chunks(self, exchange: Exchange) -> None:
        read, receive = exchange.body, exchange.received

        def body(pieces: Sequence[bytes], *arguments: Any) -> bool:
            urgent = read(pieces, *arguments)
            if not self._is_inside:
                self._count(exchange, len(pieces))
            # Chunks are to be read as they arrive, until the client leaves.
            return urgent or self._chunks < self._abandonment.amount

        def received(part: Any) -> bool:
            self._is_inside = True
            try:
                urgent = receive(part)
            finally:
                self._is_inside = False
            self._count(exchange, len(part))
            return urgent or self._chunks < self._abandonment.amount

        exchange.body, exchange.received = body, received  # type: ignore[method-assign, assignment]

    def _count(self, exchange: Exchange, chunks: int) -> None:
        if arrivals := exchange.stream.answer.token_ns:
            # A role comes without a token, perhaps together with the first one.
            self._chunks = self._chunks + chunks if self._chunks else len(arrivals)
            if self._chunks >= self._abandonment.amount:
                self._leave(exchange)

    def _leave(self, exchange: Exchange) -> None:
        """Cancel the request, which closes its connection, unless the answer is complete."""
        is_complete = exchange.ended_ns is not None or exchange.stream.answer.done
        if not is_complete and self.task is not None and not self.task.done():
            self.has_left = True
            self.task.cancel()


_DEPARTURE: ContextVar[_Departure | None] = ContextVar("departure", default=None)


class LeavingRunner(RequestRunner):
    """A runner of requests that leaves a share of the measured ones."""

    follows_plain = False
    abandonment: ClassVar[Abandonment]
    seed: ClassVar[int]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._times_asked: Counter[tuple[int, int]] = Counter()
        emit = self._emit

        def named(event: Event) -> None:
            departure = _DEPARTURE.get()
            if event.type is EventType.CANCELLED and departure is not None and departure.has_left:
                event = event._replace(data={**(event.data or {}), "reason": LEFT})
            emit(event)

        self._emit = named

    async def run(
        self,
        sample: Sample,
        body: bytes,
        scheduled_ns: int,
        phase: str,
        endpoint: int = 0,
        more: Mapping[str, Any] = _NOTHING,
        use: AnswerUse = AnswerUse.MEASURED,
    ) -> TurnOutcome:
        """Run a request to the end, or until its client leaves."""
        request = super().run(sample, body, scheduled_ns, phase, endpoint, more, use)
        asked = (sample.index, sample.turn)
        time = self._times_asked[asked]
        if phase == "performance":
            self._times_asked[asked] += 1
        if phase != "performance" or not self.abandonment.chooses(self.seed, *asked, time):
            return await request
        departure = _Departure(self.abandonment)
        token = _DEPARTURE.set(departure)
        departure.task = task = asyncio.create_task(request)
        _DEPARTURE.reset(token)
        try:
            return await task
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if not departure.has_left or (current is not None and current.cancelling()):
                raise
            return TurnOutcome(LEFT, None, 0, message="the client left")

    def _exchange(self, *arguments: Any, **options: Any) -> Exchange:
        exchange = super()._exchange(*arguments, **options)
        if (departure := _DEPARTURE.get()) is not None:
            departure.watch(exchange)
        return exchange


def abandon_runner(setting: str, plan: Plan) -> type[LeavingRunner]:
    """The kind of runner that leaves requests as `--abandon` says."""
    members = {"abandonment": Abandonment.read(setting), "seed": plan.seed}
    return type(LeavingRunner.__name__, (LeavingRunner,), members)
