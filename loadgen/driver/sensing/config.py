"""The configuration of the sensor process, as a value and as a JSON line, and its commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import orjson

from lazy_dataclasses import asdict, dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recorder.sensors.reading import Sensor


READY: Final = b'"ready"\n'
"""The line that says that each sensor has been read once."""

START: Final = b"start\n"
"""The line that asks for the first readings: what came before, such as a probe, is not of the session."""

STOP: Final = b"stop\n"
"""The line that asks for the last readings."""

LAST_S: Final = 4.0
"""So long the last readings may take."""

SETTLE_S: Final = 0.2
"""How long a server has to count what it has just sent, before the last reading."""

_MASK: Final = "***"


SensorKind = Literal["host", "server", "dcgm", "amd_exporter", "intel_exporter", "nvml", "amdsmi"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SensorConfig:
    """One sensor."""

    kind: SensorKind
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


def sensor_of(config: SensorConfig) -> Sensor:
    """The sensor of a configuration."""
    if config.kind == "host":
        from recorder.sensors.host import HostSensor

        return HostSensor(config.interval_s)
    if config.kind == "nvml":
        from recorder.sensors.nvml import NvmlSensor

        return NvmlSensor(config.interval_s)
    if config.kind == "amdsmi":
        from recorder.sensors.amdsmi import AmdSmiSensor

        return AmdSmiSensor(config.interval_s)
    from loadgen.driver.client.redaction import pattern_of, secrets_of
    from recorder.sensors.prometheus import PrometheusSensor
    from recorder.sensors.scrape import ScrapeTarget

    secrets = pattern_of(secrets_of(config.headers))
    target = ScrapeTarget(config.url, config.headers, config.verify)
    return PrometheusSensor(
        config.kind, target, config.interval_s, config.labels, lambda text: secrets.sub(_MASK, text)
    )
