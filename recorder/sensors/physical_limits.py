"""Physical limits of sensor values: a value beyond its limit is a fault of the sensor, and is dropped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from recorder.sensors.reading import Reading

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
    """Readings without impossible values; each of these becomes an error of its own."""
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
