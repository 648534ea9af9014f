"""What was run: `run` in report.json, key by key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import dataclass, field
from workloads.arrivals import ARRIVAL_PROCESSES

if TYPE_CHECKING:
    from collections.abc import Mapping

OnInvalid = Literal["fail", "warn"]
"""What an error that can be accepted does: make the run invalid, or be shown as a warning is."""


COMPLETED: Final = "completed"
RUNNING: Final = "running"
"""The end of a run that still runs; also the code of the finding."""

OVERLOADED: Final = "overloaded"
"""The code of the finding that the endpoint could not keep up with an open loop."""

_OPEN_LOOP: Final = frozenset({*ARRIVAL_PROCESSES, "trace"})


def is_open_loop(load: Mapping[str, Any]) -> bool:
    """Whether requests leave at their times, whatever the endpoint does.

    An arrival process of another package is recognized by the rate, without the package.
    """
    kind = load.get("kind")
    changes = any(load.get(key) for key in ("rate", "profile", "stages"))
    return kind in _OPEN_LOOP or (kind != "closed" and changes)


@dataclass(frozen=True, slots=True)
class SegmentFacts:
    """One segment of a run: there are several where it was resumed.

    Attributes:
        started_at: When it started, ISO 8601 in UTC.
        issued: Measured requests that were issued in it.
        completed: Those of them that completed.
        window_s: The length of its window; None where nothing was issued.
    """

    started_at: str
    ended: str
    issued: int
    completed: int
    window_s: float | None


@dataclass(frozen=True, slots=True)
class CompleteUntil:
    """Until when the log of a run that was cut off is complete.

    Attributes:
        at: The moment, ISO 8601 in UTC.
        at_ns: The moment, CLOCK_MONOTONIC.
        last_sign_of_life: When the writer last said so, ISO 8601 in UTC.
        last_sign_of_life_ns: The same, CLOCK_MONOTONIC.
        behind_ms: From the one to the other.
    """

    at: str
    at_ns: int
    last_sign_of_life: str
    last_sign_of_life_ns: int
    behind_ms: float


@dataclass(frozen=True, slots=True)
class PlannedEnd:
    """What was to end the run; None where the log does not say."""

    requests: int | None = None
    conversations: int | None = None
    duration_s: float | None = None


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What was run, how, and how the figures were computed; docs/metrics.md has every key.

    Attributes:
        started_at: When it started, ISO 8601 in UTC.
        ended: `completed`, `running`, `cut_off`, or what else ended it, such as `interrupted`.
        segments: Its segments.
        complete_until: Of a run that was cut off; None where its writer did not say.
        urls: The endpoints of a run with several; None for one.
        load: The settings' load: `kind`, `rate`, `concurrency` and more.
        max_tokens: The limit of output tokens that was asked for.
        generation: What each request asked for, as its body spells it.
        timeouts_s: The client's limits in seconds, by the failures of requests that exceed them.
        salt: Whether each prompt was made different.
        steady: Whether the run is invalid without a steady state.
        max_error_rate: The share of requests that may fail (`--max-error-rate`); None by default.
        on_invalid: What an invalid run ends with: `fail` or `warn`.
        skip: What of them is left out.
        timestamp_source: By whom arrivals were stamped.
        versions: Of the program, of Python and its packages, and the platform.
        tpot_mode: Whether TPOT is distributed over requests or over tokens.
        own_delay_decides: The figures that decide whether the client was too late, where rules do.
        percentiles: Those of the reader's choice; report.json has the key only where there were any.
        power: What the power rules were evaluated with; report.json has the key only where it was declared.
        imported: Of results that were imported, their `format`, `path`, and what else their harness recorded;
            report.json has the key only there.
        as_started: Whether rules and options are those that the run was started with; report.json has the
            key only then.
    """

    session_id: str
    started_at: str
    ended: str
    segments: list[SegmentFacts] = field(default_factory=list)
    complete_until: CompleteUntil | None = None
    model: str | None = None
    url: str | None = None
    urls: list[str] | None = None
    protocol: str | None = None
    stream: Any = None
    load: dict[str, Any] = field(default_factory=dict)
    max_tokens: int | None = None
    generation: dict[str, Any] = field(default_factory=dict)
    seed: Any = None
    schedule_seed: int | None = None
    planned: PlannedEnd = PlannedEnd()
    timeouts_s: dict[str, float] = field(default_factory=dict)
    salt: bool = False
    steady: bool = False
    max_error_rate: float | None = None
    on_invalid: OnInvalid = "fail"
    dataset: dict[str, Any] | None = None
    ruleset: dict[str, Any] | None = None
    skip: list[str] = field(default_factory=list)
    gpus: int | None = None
    workers: int | None = None
    transport: str | None = None
    timestamp_source: str | None = None
    usable_cpus: int | None = None
    versions: dict[str, Any] = field(default_factory=dict)
    tpot_mode: str = "request_weighted"
    percentile_method: str = ""
    definitions: dict[str, Any] = field(default_factory=dict)
    own_delay_decides: list[str] | None = None
    percentiles: list[str] | None = None
    power: dict[str, Any] | None = None
    imported: dict[str, Any] | None = None
    as_started: bool | None = None
