"""A reading of a sensor, as a value, and its event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from lazy_dataclasses import dataclass, field, replace
from recorder.event import Event, EventType
from recorder.payloads import SensorReading, SensorStarted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Moment = Literal["first", "last"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One reading."""

    source: str
    at_ns: int
    #: Finite numbers by names that end in their unit.
    values: Mapping[str, float] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    #: Cumulative counts by upper bound, by the name of what is distributed.
    histograms: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    took_ms: float | None = None
    error: str | None = None
    message: str | None = None
    exposition: str | None = None  #: the text that it was read from

    def event(self, moment: Moment | None = None) -> Event:
        """The event of this reading."""
        data = SensorReading(source=self.source)
        members: dict[str, Any] = {
            "moment": moment,
            "labels": self.labels,
            "readings": self.values,
            "histograms": self.histograms,
            "took_ms": None if self.took_ms is None else round(self.took_ms, 3),
            "error": self.error,
            "message": self.message,
            "texts": None if self.exposition is None else {"exposition": self.exposition},
        }
        data.update({name: value for name, value in members.items() if value or value == 0.0})  # type: ignore[typeddict-item]
        return Event(EventType.SENSOR_READING, self.at_ns, data=data)


class Sensor(Protocol):
    """A reader of one source; used by one thread, from start to close."""

    interval_s: float

    def start(self) -> SensorStarted:
        """Set the sensor up; never fails: each reading reports its own errors."""

    def read(self, *, whole: bool) -> Sequence[Reading]:
        """Read all quantities of the source."""

    def close(self) -> None:
        """Let go of the source."""


IMPOSSIBLE: Final = "impossible_value"
"""The error of a reading with values beyond their limits."""

_LIMITS: Final[Mapping[str, float]] = {
    "power_w": 10_000,
    "utilization_pct": 100,
    "memory_busy_pct": 100,
    "memory_used_bytes": 2**43,
    "temperature_c": 200,
    "sm_clock_mhz": 10_000,
    "memory_clock_mhz": 50_000,
    "kv_cache_usage_ratio": 1,
}
_ROUNDING: Final = 1.01
"""The factor by which a rounded value may exceed its limit."""


def within_limits(readings: Iterable[Reading], memory_bytes: float | None = None) -> Iterator[Reading]:
    """Readings without impossible values; each impossible value becomes a separate error."""
    for reading in readings:
        total = reading.values.get("memory_total_bytes", memory_bytes)
        limits = _LIMITS if total is None else {**_LIMITS, "memory_used_bytes": total}
        beyond = {
            name: value
            for name, value in reading.values.items()
            if name in limits and not 0 <= value <= limits[name] * _ROUNDING
        }
        values = {name: value for name, value in reading.values.items() if name not in beyond}
        if values or not beyond:
            yield replace(reading, values=values)
        if beyond:
            excess = ", ".join(
                f"{name} is {value:.6g} (at most {limits[name]:g})" for name, value in beyond.items()
            )
            thing = f" of GPU {reading.labels['gpu']}" if "gpu" in reading.labels else ""
            yield replace(
                reading, values={}, histograms={}, error=IMPOSSIBLE, message=f"impossible{thing}: {excess}"
            )
