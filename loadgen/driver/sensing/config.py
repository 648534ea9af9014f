"""The configuration of the sensor process, as a value and as a JSON line."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import orjson

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class SensorConfig:
    """One sensor.

    Attributes:
        kind: Which.
        interval_s: The time between two of its readings.
        url: Of a metrics page: its URL.
        headers: Of a metrics page: further headers, which may be secrets.
        verify: Of a metrics page: whether its TLS certificate is verified.
        labels: Added to those of each reading.
    """

    kind: Literal["host", "server", "dcgm", "nvml"]
    interval_s: float
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    verify: bool = True
    labels: Mapping[str, str] = field(default_factory=dict)


def line_of(configs: tuple[SensorConfig, ...]) -> bytes:
    """The first input line of the process. A pipe carries the line, since a command line is public."""
    return orjson.dumps([asdict(config) for config in configs]) + b"\n"


def configs_of(line: bytes) -> list[SensorConfig]:
    """The configuration in such a line."""
    rows: list[dict[str, Any]] = orjson.loads(line)
    return [SensorConfig(**row) for row in rows]
