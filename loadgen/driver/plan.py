"""The plan of a session, checked before the first request leaves."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final, assert_never

from lazy_dataclasses import dataclass, field
from loadgen.driver.arrivals.rate_limits import LEAST_RATE, MOST_RATE, MOST_SECONDS, shown
from loadgen.driver.client.memory_bounds import MAX_BODY_BYTES, MAX_TOGETHER_BYTES
from loadgen.driver.errors import PlanError
from loadgen.driver.load import Closed, Offline, Open, ProcessArrivals, TraceArrivals, load_record
from workloads.units import number_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.driver.client.codec import Generation
    from loadgen.driver.client.timeouts import Timeouts
    from loadgen.driver.load import Arrivals, Load
    from loadgen.driver.progress import SessionProgress
    from loadgen.driver.session_kind import SessionKind


MOST_REQUESTS: Final = 10**12
MOST_SEED: Final = 2**64 - 1
MOST_RETRIES: Final = 1000
MOST_CONCURRENCY: Final = 1_000_000
BURSTINESS: Final = (0.001, 1000.0)
TRACE_SPEED: Final = (0.001, 1000.0)

LEAST_RESPONSE: Final = 1024
"""Bytes: the least that a response has to be allowed; an answer of one token takes about as much."""


ENOUGH: Final = 20
"""The rate is checked from this many ended requests on: of fewer, one failure is a large share."""


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """How many measured requests may fail; unlimited without a number."""

    errors: int | None = None  #: the number of failed requests that ends the run
    rate: float | None = None  #: more than this share of the requests that have ended ends the run

    def spent(self, progress: SessionProgress) -> str | None:
        """The excess over the budget, in a sentence; None within the budget."""
        failed, ended = progress.errors.total(), progress.ended
        if self.errors is not None and failed >= self.errors:
            return f"{failed} request{'s' * (failed != 1)} failed, and --max-errors is {self.errors}"
        if self.rate is not None and ended >= ENOUGH and failed > self.rate * ended:
            share = f"{failed} of {ended} requests failed ({100 * failed / ended:.1f} %)"
            return f"{share}, and --max-error-rate is {100 * self.rate:.1f} %"
        return None


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a session."""

    load: Load
    requests: int | None  #: how many are measured; None where only time ends the run
    #: The length of the measurement; None where only the count ends it. The first limit reached ends it.
    duration_s: float | None
    warmup: int
    generation: Generation
    protocol: str
    seed: int
    timeouts: Timeouts
    retries: int = 0
    budget: ErrorBudget = field(default_factory=ErrorBudget)
    max_response_bytes: int = MAX_BODY_BYTES
    #: The user's options of the protocol, as JSON values; see `codec_of` there.
    protocol_options: Mapping[str, Any] = field(default_factory=dict)
    #: How many conversations are measured, where that and not the requests is counted.
    sessions: int | None = None
    #: How long requests are issued before the measured ones, where time ends that.
    warmup_s: float | None = None
    #: How long what is in flight at the end is awaited; None for as long as `timeouts` allow.
    drain_s: float | None = None
    #: Whether the run ends early when the endpoint falls further and further behind.
    stop_on_overload: bool = False
    steady: bool = False
    order: str = "in-order"  #: in which order samples are asked; see `loadgen.driver.requests.order`
    #: The answers that later turns of a conversation contain: `answered`, the endpoint's own, or `recorded`,
    #: those of the dataset where it has them.
    history: str = "answered"
    #: Whether every prompt begins with a unique text; see `loadgen.driver.requests.cache_buster`.
    salt: bool = False
    #: Which of several endpoints a request goes to; see `loadgen.driver.requests.order`.
    balance: str = "round-robin"
    #: Whether each request carries a `traceparent`; see `loadgen.driver.requests.cache_buster`.
    trace_context: bool = False
    #: The headers that name the session of a request; see `loadgen.driver.requests.session_headers`.
    session_headers: tuple[str, ...] = ()
    schedule_seed: int | None = None
    #: Options that change how requests run, each by the service `OPTION_runner` of a plug-in.
    runner_options: Mapping[str, str] = field(default_factory=dict)
    #: A further kind of sessions; None where all are single turns or conversations.
    session_kind: SessionKind | None = None
    #: How often the warm-up begins the first measured sessions; 0 where it has its own sessions.
    warmup_rounds: int = 0

    @property
    def arrivals_seed(self) -> int:
        """The seed of arrivals."""
        return self.seed if self.schedule_seed is None else self.schedule_seed

    @property
    def count(self) -> int | None:
        """How many requests, or conversations, are measured; None where only time ends the run."""
        return self.requests if self.sessions is None else self.sessions

    @property
    def first(self) -> int:
        """The number in the session that the first measured request has: after those of the warm-up.

        But 0 where their number is unknown, and where whole passes are shuffled: the warm-up then has the
        numbers below 0. With `warmup_rounds` it has those from 0.
        """
        from_0 = self.warmup_s is not None or self.order == "shuffle" or self.warmup_rounds
        return 0 if from_0 else self.warmup

    def __post_init__(self) -> None:
        if self.requests is None and self.sessions is None and self.duration_s is None:
            raise PlanError("nothing ends the run: give --requests or --duration")
        if isinstance(self.load, Offline) and self.count is None:
            raise PlanError("--offline sends a fixed number of requests at once: give --requests")
        if self.stop_on_overload and self.load.limit is not None:
            raise PlanError(
                "--stop-on-overload watches the requests in flight, and --max-concurrency bounds them: "
                "leave one out"
            )
        _within("--requests", self.requests, 1, MOST_REQUESTS)
        _within("--duration", self.duration_s, 0.001, MOST_SECONDS)
        _require_load_in_range(self.load)
        _within("--sessions", self.sessions, 1, MOST_REQUESTS)
        _within("--drain", self.drain_s, 0, MOST_SECONDS)
        for option, seconds in self.timeouts.by_option().items():
            _within(option, seconds, 0.001, MOST_SECONDS)
        _within("--retry", self.retries, 0, MOST_RETRIES)
        _within("--max-errors", self.budget.errors, 1, MOST_REQUESTS)
        _within("--max-error-rate", self.budget.rate, 0, 1)
        _within("--max-response", self.max_response_bytes, LEAST_RESPONSE, MAX_TOGETHER_BYTES)
        _within("--warmup", self.warmup, 0, MOST_REQUESTS)
        _within("--warmup", self.warmup_s, 0.001, MOST_SECONDS)
        _within("--max-tokens", self.generation.max_tokens, 1, MOST_REQUESTS)
        _within("--temperature", self.generation.temperature, 0, 1000)
        _within("--seed", self.seed, 0, MOST_SEED)
        _within("--schedule-seed", self.schedule_seed, 0, MOST_SEED)
        self._require_time_for_stages()
        self._require_an_arrival()

    def _require_time_for_stages(self) -> None:
        """Refuse a duration that lasts beyond the last stage, or leaves a stage out."""
        stages = self.load.rate
        if self.duration_s is None or stages is None:
            return
        from loadgen.driver.arrivals.stages import Stages

        if not isinstance(stages, Stages):
            return
        option, end_s = f"--duration {shown(self.duration_s)}", stages.end_s
        if self.duration_s > end_s:
            raise PlanError(f"{option}: the stages end after {shown(end_s)} s: leave it out, or add a stage")
        for number, stage in enumerate(stages.stages, 1):
            if stage.start_s >= self.duration_s:
                raise PlanError(
                    f"{option}: stage {number} begins at {shown(stage.start_s)} s, and so never would: "
                    f"leave it out, or the stage"
                )

    def _require_an_arrival(self) -> None:
        """Refuse a schedule without an arrival before the end."""
        if not isinstance(self.load, Open) or not isinstance(self.load.arrivals, ProcessArrivals):
            return
        arrivals = self.load.arrivals
        first_ns = next(arrivals.offsets(self.arrivals_seed), None)
        if first_ns is None:
            raise PlanError("the rate never brings a request: give a higher --rate, or longer --stages")
        if self.duration_s is not None and first_ns >= self.duration_s * 1e9:
            raise PlanError(
                f"--duration {shown(self.duration_s)}: with {self._given_seed} the first request is due "
                f"after {first_ns / 1e9:.3g} s: measure for longer, or give a higher --rate"
            )
        self._require_as_many_arrivals(arrivals)

    def _require_as_many_arrivals(self, arrivals: ProcessArrivals) -> None:
        """Refuse a count that a rate never reaches because the rate ends at 0."""
        rate, count = arrivals.rate, self.count
        if count is None or self.duration_s is not None:
            return
        if rate.end_s == float("inf") or rate.rate(rate.end_s):
            return
        brought = sum(1 for _ in islice(arrivals.offsets(self.arrivals_seed), count))
        if brought < count:
            option = "--requests" if self.sessions is None else "--sessions"
            raise PlanError(
                f"{option} {count}: with {self._given_seed} the rate brings {brought}, and ends at 0: "
                "give fewer, or --duration"
            )

    @property
    def _given_seed(self) -> str:
        option = "--seed" if self.schedule_seed is None else "--schedule-seed"
        return f"{option} {self.arrivals_seed}"

    def settings(self) -> Mapping[str, Any]:
        """The plan for the log."""
        return {
            "protocol": self.protocol,
            "protocol_options": dict(self.protocol_options),
            "model": self.generation.model,
            "load": load_record(self.load),
            "requests": self.requests,
            "sessions": self.sessions,
            "duration_s": self.duration_s,
            "warmup": self.warmup,
            "warmup_s": self.warmup_s,
            "drain_s": self.drain_s,
            "stop_on_overload": self.stop_on_overload,
            "steady": self.steady,
            "order": self.order,
            "history": self.history,
            "salt": self.salt,
            "balance": self.balance,
            "trace_context": self.trace_context,
            **({"session_headers": list(self.session_headers)} if self.session_headers else {}),
            "max_tokens": self.generation.max_tokens,
            "temperature": self.generation.temperature,
            "stream": self.generation.stream,
            "extra_body": dict(self.generation.extra_body),
            "ignore_eos": self.generation.ignore_eos,
            "request_seed": self.generation.seed,
            "seed": self.seed,
            "schedule_seed": self.arrivals_seed,
            **self.runner_options,
            **self.timeouts.settings(),
            "retry": self.retries,
            "max_errors": self.budget.errors,
            "max_error_rate": self.budget.rate,
            "max_response_bytes": self.max_response_bytes,
            **({} if self.session_kind is None else self.session_kind.settings()),
        }


def _require_load_in_range(load: Load) -> None:
    match load:
        case Closed(concurrency=concurrency):
            _within("--concurrency", concurrency, 1, MOST_REQUESTS)
        case Open(arrivals=arrivals, limit=limit):
            _within("--max-concurrency", limit, 1, MOST_CONCURRENCY)
            _require_arrivals_in_range(arrivals)
        case Offline(limit=limit):
            _within("--max-concurrency", limit, 1, MOST_CONCURRENCY)
        case _:
            assert_never(load)


def _require_arrivals_in_range(arrivals: Arrivals) -> None:
    match arrivals:
        case ProcessArrivals(rate=rate, burstiness=burstiness):
            from loadgen.driver.arrivals.rate_profile import Flat

            if isinstance(rate, Flat):
                _within("--rate", rate.level, LEAST_RATE, MOST_RATE)
            _within("--burstiness", burstiness, *BURSTINESS)
        case TraceArrivals(speed=speed):
            _within("--trace-speed", speed, *TRACE_SPEED)
        case _:
            assert_never(arrivals)


def _within(option: str, value: float | None, least: float, greatest: float) -> None:
    # NaN is within no bounds.
    if value is not None and not least <= value <= greatest:
        bounds = f"from {number_text(least)} to {number_text(greatest)}"
        raise PlanError(f"{option} {number_text(value)}: must be {bounds}")
