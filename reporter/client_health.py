"""How the client and the recorder did, and how much client overhead a figure may contain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import asdict, dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class RecorderHealth:
    """The recorder's readings of itself, of all segments together; None for what it did not report.

    Attributes:
        lost: Events that could not be written.
        high_water: The most events that waited to be written.
        high_water_bytes: The most bytes in the queue.
        slowest_commit_ms: The longest that a batch took.
        longest_wait_ms: The longest that an event waited for the end of its commit.
        others: Further readings, as another program's recorder may have them.
    """

    events: int | None = None
    commits: int | None = None
    lost: int | None = None
    high_water: int | None = None
    high_water_bytes: int | None = None
    slowest_commit_ms: float | None = None
    longest_wait_ms: float | None = None
    others: dict[str, float | None] = field(default_factory=dict)

    @classmethod
    def of_dict(cls, readings: Mapping[str, Any]) -> RecorderHealth:
        """The health of readings by name."""
        own = {name: value for name, value in readings.items() if name in _OWN}
        return cls(**own, others={name: value for name, value in readings.items() if name not in _OWN})

    def to_dict(self) -> dict[str, float | None]:
        """The readings by name, without those that there are not."""
        own = {name: value for name in _OWN if (value := getattr(self, name)) is not None}
        return own | self.others


_OWN = tuple(name for name in RecorderHealth.__dataclass_fields__ if name != "others")


@dataclass(frozen=True, slots=True)
class WorkerHealth:
    """How one worker was doing; the figures are those of `ClientHealth`."""

    worker: int
    node: str | None = None
    readings: int = 0
    loop_lag_p50_ms: float | None = None
    loop_lag_max_ms: float | None = None
    gc_pause_max_ms: float | None = None
    cpu_share_mean: float | None = None
    cpu_share_max: float | None = None
    cpu_wait_share_mean: float | None = None
    cpu_wait_share_max: float | None = None
    in_flight_max: int | None = None
    backlog_events_max: int | None = None
    held_up_ms: float | None = None


@dataclass(frozen=True, slots=True)
class ClientHealth:
    """How the load generator's processes were doing while they issued requests: the worst of the workers.

    report.json has an empty object where there are no readings.

    Attributes:
        cpu_share_sum: The mean shares of all processes together; of several machines, on the busiest one.
        cpu_wait_share_mean: The mean share of the time in which a worker was ready and had no CPU.
        parent_cpu_share_mean: The mean share of a core that the process used that writes the log.
        held_up_ms: How long issuing was held up by the log, in all.
    """

    readings: int = 0
    workers: int = 0
    loop_lag_p50_ms: float | None = None
    loop_lag_max_ms: float | None = None
    gc_pause_max_ms: float | None = None
    cpu_share_mean: float | None = None
    cpu_share_max: float | None = None
    cpu_share_sum: float | None = None
    cpu_wait_share_mean: float | None = None
    cpu_wait_share_max: float | None = None
    parent_cpu_share_mean: float | None = None
    in_flight_max: int | None = None
    backlog_events_max: int | None = None
    held_up_ms: float | None = None
    per_worker: list[WorkerHealth] = field(default_factory=list)

    @property
    def is_known(self) -> bool:
        """Whether there are readings."""
        return self.readings > 0

    def to_dict(self) -> dict[str, Any]:
        """The figures by name; nothing without readings."""
        if not self.is_known:
            return {}
        workers = [asdict(worker) for worker in self.per_worker]
        for worker in workers:
            if worker["node"] is None:
                del worker["node"]
        return {**asdict(self), "per_worker": workers}


@dataclass(frozen=True, slots=True)
class OwnLimit:
    """How much client overhead a figure may have until it makes a run invalid (docs/metrics.md).

    Attributes:
        share: This share of it, and
        ms: this many milliseconds, so that a server of 2 ms is judged fairly.
        tail_ms: Where no rule asks for a percentile and the median is not affected, this many milliseconds of
            the p99: Linux takes the CPU from a process for about 4 ms at a time (a tick at 250 Hz), on an
            idle machine too.
    """

    share: float
    ms: float
    tail_ms: float = 4.0


OWN_TTFT_LIMIT: Final = OwnLimit(share=0.1, ms=1.0)


@dataclass(frozen=True, slots=True)
class OwnEffect:
    """The client overhead in a figure that counts from the schedule, without the set-up of connections.

    Attributes:
        own_ms: The client overhead in it, in ms.
        of_ms: The figure with that, in ms.
        share_low: The least that the share can be, where stamps are in doubt; None where they are exact.
        in_doubt: Whether the part is above the limit at one of these ends, and not at the other.
    """

    own_ms: float
    of_ms: float
    share: float
    share_low: float | None = None
    share_high: float | None = None
    in_doubt: bool = False
