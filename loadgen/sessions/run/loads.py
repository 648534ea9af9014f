"""From settings to the load of a run: how requests leave, and for how long."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, assert_never

from loadgen.driver.errors import ProfileError, StagesError
from loadgen.driver.load import Closed, Load, Offline, Open, ProcessArrivals, TraceArrivals
from loadgen.driver.plan import TRACE_SPEED
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.kinds import seconds
from loadgen.sessions.settings.option import OptionValueError
from workloads.arrivals import DEFAULT_ARRIVAL
from workloads.sample import examples

if TYPE_CHECKING:
    from loadgen.driver.arrivals.rate_profile import Profile
    from loadgen.sessions.settings.load_options import LoadSettings
    from workloads.dataset import Dataset

DEFAULT_CONCURRENCY: Final = 8
DEFAULT_REQUESTS: Final = 100
_LOOKED_AT: Final = 1000


def load_of(settings: LoadSettings) -> Load:
    """The load that settings describe."""
    think, limit = _think(settings.think), settings.max_concurrency
    if settings.offline:
        return Offline(limit)
    if settings.has_recorded_times:
        return Open(TraceArrivals(_trace_speed(settings.trace_speed)), limit, think)
    rate = _rate(settings)
    if rate is None:
        return _closed(DEFAULT_CONCURRENCY if settings.concurrency is None else settings.concurrency, think)
    arrivals = ProcessArrivals(settings.arrival or DEFAULT_ARRIVAL, rate, settings.burstiness)
    return Open(arrivals, limit, think)


def duration_of(settings: LoadSettings, repeats: int | None, load: Load) -> float | None:
    """The duration in seconds: as given, or as long as the rate changes; None where a count ends the run.

    Stages always end, with or without a count; a ramp with a count continues at its last rate.
    """
    rate = load.ramp if isinstance(load, Closed) else load.rate
    if settings.duration is not None or rate is None:
        return settings.duration
    counts = (settings.requests, settings.sessions, settings.passes, repeats)
    counted = any(count is not None for count in counts)
    from loadgen.driver.arrivals.stages import Stages

    if isinstance(rate, Stages) or not counted:
        return rate.end_s if rate.end_s < float("inf") else None
    return None


def warmup_of(settings: LoadSettings) -> tuple[int, float | None]:
    """The warm-up: a number of requests, or 0 and a time in seconds."""
    text = settings.warmup.strip()
    if re.fullmatch(r"-?[0-9]{1,20}", text):
        return int(text), None
    if not text[-1:].isalpha():
        raise UsageError(f"--warmup {text!r}: give a number of requests (20), or a time with its unit (30s)")
    try:
        return 0, seconds(text)
    except OptionValueError as error:
        raise UsageError(f"--warmup {error}") from error


def counts_of(
    settings: LoadSettings, repeats: int | None, dataset: Dataset, duration_s: float | None
) -> tuple[int | None, int | None]:
    """How many requests are measured, or how many conversations where the dataset has some.

    Without a count and a duration, each sample is sent once; of synthetic ones, 100. A trace is sent once at
    its recorded times.

    Returns:
        Requests and conversations, of which one at least is None.
    """
    _require_fit(settings, dataset)
    count = settings.sessions if settings.requests is None else settings.requests
    rows = len(dataset.samples)
    passes = settings.passes if repeats is None else repeats
    if passes is not None:
        count = passes * rows
    elif settings.has_recorded_times:
        count = rows if count is None else count
    elif count is None and duration_s is None:
        count = DEFAULT_REQUESTS if dataset.synthetic else rows
    return (None, count) if has_conversations(dataset) else (count, None)


def with_dataset(load: Load, dataset: Dataset) -> Load:
    """The load with the facts of the dataset: a trace's highest rate, the turns of conversations."""
    match load:
        case Open(arrivals=arrivals):
            if isinstance(arrivals, TraceArrivals) and dataset.offsets_ns is not None:
                from loadgen.driver.arrivals.schedule import busiest_rate

                arrivals = replace(arrivals, peak=busiest_rate(dataset.offsets_ns, arrivals.speed))
            turns = _mean_turns(dataset) if has_conversations(dataset) else 1.0
            return replace(load, arrivals=arrivals, turns=turns)
        case Closed() | Offline():
            return load
        case _:
            assert_never(load)


def _mean_turns(dataset: Dataset) -> float:
    """The mean number of turns of a conversation, estimated from some samples where there are many."""
    samples = dataset.samples
    of_all: float | None = getattr(samples, "mean_turns", None)
    if of_all is not None:
        return of_all
    from workloads.conversation_sample import conversation_of

    some = range(0, len(samples), -(-len(samples) // _LOOKED_AT))
    return 1 + sum(len(conversation_of(samples[number]).follow_ups) for number in some) / len(some)


def has_conversations(dataset: Dataset) -> bool:
    """Whether any sample opens a session of several turns."""
    return any(sample.has_several_turns for sample in examples(dataset.samples))


def _require_fit(settings: LoadSettings, dataset: Dataset) -> None:
    """Refuse options of conversations where there are none, and a number of requests where there are."""
    talks, name, rows = has_conversations(dataset), dataset.name, len(dataset.samples)
    if talks and settings.requests is not None:
        raise UsageError(
            f"--requests {settings.requests}: {name} has conversations, of several requests each: say how "
            "many of them with --sessions"
        )
    if not talks and settings.sessions is not None:
        is_file = not dataset.synthetic and settings.trace is None
        raise UsageError(
            f"--sessions {settings.sessions}: {name} has no conversations of several turns: say how many "
            "requests with --requests" + (", or ask all turns with --conversations all" if is_file else "")
        )
    is_open = settings.rate is not None or settings.stages is not None or settings.has_recorded_times
    if not talks and is_open and settings.think is not None:
        raise UsageError(
            f"--think {settings.think} has no effect in an open loop: {name} has only single turns; "
            "omit --think, or give --concurrency"
        )
    for option, count in (("--requests", settings.requests), ("--sessions", settings.sessions)):
        if settings.has_recorded_times and count is not None and count > rows:
            raise UsageError(f"{option} {count}: the trace {name} has {rows}, and is replayed once")


def _closed(users: int | str, think: str | None) -> Closed:
    """A closed loop of a number of users, or of a ramp."""
    if isinstance(users, int):
        return Closed(users, think)
    from loadgen.driver.user_sessions.user_spans import ramp_of

    try:
        ramp = ramp_of(users)
    except ProfileError as error:
        raise UsageError(f"--concurrency {error}") from error
    return Closed(int(ramp.peak), think, ramp)


def _rate(settings: LoadSettings) -> Profile | None:
    """The rate of an open loop; None for a closed one."""
    if settings.stages is not None:
        from loadgen.driver.arrivals.stages_file import read_stages

        try:
            return read_stages(Path(settings.stages))
        except StagesError as error:
            raise UsageError(f"--stages {error}") from error
    if settings.rate is None:
        return None
    from loadgen.driver.arrivals.rate_text import profile

    try:
        return profile(settings.rate)
    except ProfileError as error:
        raise UsageError(f"--rate {error}") from error


def _trace_speed(speed: float | None) -> float:
    """The speed of a trace; checked here, because the trace is read before the plan is made."""
    least, greatest = TRACE_SPEED
    if speed is not None and not least <= speed <= greatest:
        raise UsageError(f"--trace-speed {speed:g}: must be from {least:g} to {greatest:g}")
    return 1.0 if speed is None else speed


def _think(text: str | None) -> str | None:
    if text is None:
        return None
    from loadgen.driver.requests.think_time import PACE
    from workloads.distribution_notation import duration
    from workloads.errors import DistributionError

    try:
        duration(text.removeprefix(PACE))
    except DistributionError as error:
        raise UsageError(f"--think {error}") from error
    return text
