"""Calls to a judge model, through the client of requests and into the run's log.

A call to a judge is a request of the phase `judge`, which is not measured. Its issue event names the answer
that it is about, and its output is the judge's reply, so that later scoring need not ask again.

The judge has its own limit of concurrent calls. The first call goes alone: if the endpoint is not reachable,
or rejects it, no other is made. The same holds when very many fail one after the other.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Final

import orjson

from lazy_dataclasses import dataclass, field
from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.failure import Failure, mendable
from loadgen.driver.requests.attempt import Retries
from loadgen.driver.requests.turn import RequestRunner
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence

    from loadgen.driver.client.transport import Transport
    from loadgen.driver.requests.turn import Emit
    from loadgen.driver.stop import Stop
    from workloads.scorer import Inquiry

PHASE: Final = "judge"
"""Of the requests to a judge."""

RETRIES: Final = 3
"""The number of further attempts after a failure that may be transient."""

_IN_A_ROW: Final = 20
_FOR_ALL: Final[frozenset[str]] = frozenset(
    {
        *(Failure.REFUSED, Failure.DNS, Failure.TLS, Failure.CONNECT_TIMEOUT),
        *("http_401", "http_403", "http_404"),
    }
)
"""Failures that every other call would share: no server, or a rejected key or model."""
_REASONING_LIMIT: Final = "max_completion_tokens"


@dataclass(frozen=True, slots=True)
class JudgeCall:
    """A call to a judge."""

    judges: str  #: the request whose answer it is about
    scorer: str  #: the scorer that makes the call: `TASK/SCORER`
    version: str
    inquiry: Inquiry


@dataclass(frozen=True, slots=True)
class Sampling:
    """Replacements for the sampling in a benchmark's prompts; None keeps the prompts' setting."""

    temperature: float | None = None
    max_tokens: int | None = None

    @property
    def label(self) -> str:
        """The replaced settings, for the log: `temperature=0.7,max_tokens=512`; empty for nothing."""
        parts = [] if self.temperature is None else [f"temperature={self.temperature:g}"]
        parts += [] if self.max_tokens is None else [f"max_tokens={self.max_tokens}"]
        return ",".join(parts)

    def generation(self, model: str, inquiry: Inquiry) -> Generation:
        """The settings of the request for an inquiry.

        Prompts for reasoning models set their limit as `max_completion_tokens`; it is replaced where it is.
        """
        limit = inquiry.max_tokens if self.max_tokens is None else self.max_tokens
        extra_body = inquiry.extra_body
        if _REASONING_LIMIT in extra_body and limit is not None:
            extra_body, limit = {**extra_body, _REASONING_LIMIT: limit}, None
        return Generation(
            model,
            max_tokens=limit,
            temperature=inquiry.temperature if self.temperature is None else self.temperature,
            stream=False,
            extra_body=extra_body,
        )


AS_PROMPTED: Final = Sampling()
"""As the prompts of the benchmark say."""


@dataclass(slots=True)
class Tally:
    """The results of calls to a judge."""

    answered: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    gave_up: str = ""  #: why the remaining calls were not made; empty where all were, or a stop was requested


class JudgeClient:
    """A client of one judge."""

    def __init__(
        self,
        transport: Transport,
        model: str,
        emit: Emit,
        *,
        timeout_s: float,
        concurrency: int,
        sampling: Sampling = AS_PROMPTED,
    ) -> None:
        self.tally = Tally()
        self._sampling = sampling
        self._model = model
        self._url = transport.endpoint.url
        self._concurrency = concurrency
        self._retries = Retries(RETRIES, timeout_s)
        generation = Generation(model, stream=False)
        self._once = RequestRunner(transport, chat_completions, generation, emit)
        self._patiently = RequestRunner(transport, chat_completions, generation, emit, retries=self._retries)
        self._numbers = count(1)
        self._in_a_row = 0

    async def ask(self, calls: Iterable[JudgeCall], stop: Stop, on_done: Callable[[Tally], None]) -> Tally:
        """Make calls until none is left, until further ones are pointless, or until a stop is requested.

        The first request to stop awaits calls in flight, the second cancels them.
        """
        left = iter(calls)
        first = next(left, None)
        if first is None:
            return self.tally
        again: list[JudgeCall] = []
        await _together([self._alone(first, again, on_done)], stop)
        if not self._is_over(stop):
            rest = chain(again, left)
            retrying = asyncio.create_task(self._retry_until(stop))
            await _together([self._work(rest, stop, on_done) for _ in range(self._concurrency)], stop)
            retrying.cancel()
        return self.tally

    async def _alone(self, call: JudgeCall, again: list[JudgeCall], on_done: Callable[[Tally], None]) -> None:
        """Make the first call, which shows whether the judge answers."""
        failure = await self._call(self._once, call)
        for_all = failure in _FOR_ALL
        if failure is not None and not for_all and mendable(failure):
            again.append(call)
            return
        self._count(failure)
        if failure is not None and for_all:
            self._give_up(failure)
        on_done(self.tally)

    async def _work(self, left: Iterator[JudgeCall], stop: Stop, on_done: Callable[[Tally], None]) -> None:
        """Make one call after the other."""
        for call in left:
            failure = await self._call(self._patiently, call)
            self._count(failure)
            if failure is not None and self._in_a_row >= max(_IN_A_ROW, 2 * self._concurrency):
                self._give_up(failure)
            on_done(self.tally)
            if self._is_over(stop):
                return

    async def _call(self, runner: RequestRunner, call: JudgeCall) -> str | None:
        """Make a call; return the failure's name, None for a success."""
        inquiry = call.inquiry
        sample = Sample(-next(self._numbers), chat=tuple(inquiry.messages))
        generation = self._sampling.generation(self._model, inquiry)
        about_call = {
            "judges": call.judges,
            "scorer": call.scorer,
            "inquiry": inquiry.key,
            "judge_version": call.version,
            "model": self._model,
            "sampling": self._sampling.label,
            "temperature": generation.temperature,
            "max_tokens": generation.max_tokens or generation.extra_body.get(_REASONING_LIMIT),
        }
        body = orjson.dumps(chat_completions.request(sample, generation))
        return (await runner.run(sample, body, time.monotonic_ns(), PHASE, more=about_call)).failure

    def _count(self, failure: str | None) -> None:
        if failure is None:
            self.tally.answered += 1
            self._in_a_row = 0
        else:
            self.tally.failed[failure] += 1
            self._in_a_row += 1

    def _give_up(self, failure: str) -> None:
        self.tally.gave_up = f"{self._url}: {failure}"

    def _is_over(self, stop: Stop) -> bool:
        return bool(self.tally.gave_up) or stop.draining.is_set()

    async def _retry_until(self, stop: Stop) -> None:
        await stop.draining.wait()
        self._retries.stop()


async def _together(work: Sequence[Coroutine[Any, Any, None]], stop: Stop) -> None:
    """Run all work; cancel the work when a stop is requested twice."""
    tasks = [asyncio.create_task(work_item) for work_item in work]
    aborting = asyncio.create_task(stop.aborting.wait())
    try:
        done = asyncio.gather(*tasks)
        either: list[asyncio.Future[Any]] = [done, aborting]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if done.done():
            done.result()
    finally:
        for task in (*tasks, aborting):
            task.cancel()
        await asyncio.gather(*tasks, aborting, return_exceptions=True)
