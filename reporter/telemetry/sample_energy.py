"""The energy of each measured request, and the figures that follow from it: the table `sample_energy`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reporter.json_values import members
from reporter.log.run_head import logged_settings
from reporter.log.sql_files import sql_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reporter.log.database import OpenLog

TABLES: Final = ("sensor_readings", "power_spans", "energy_flow", "request_energy")
"""What of the log is needed."""

COLUMNS: Final = (
    *("energy_joules", "power_watts", "gpu_utilization_pct"),
    *("mfu_pct", "mbu_pct", "ipw", "ipj"),
)
"""The columns that results per request have; docs/telemetry.md defines them."""

_BYTES_PER_PARAMETER: Final = 2
_FLOPS_PER_PARAMETER: Final = 2

_SOURCES_OF_POWER: Final = """
    SELECT 1 FROM session_events
    WHERE type = 'SENSOR_STARTED' AND data ->> '$.source' IN ('nvml', 'dcgm', 'declared')"""

_CORRECTNESS: Final = """
    INSERT INTO correctness
    SELECT sample_uuid, value >= ? FROM scores WHERE pass = ? AND task = ? AND scorer = ?"""


class CorrectBy(NamedTuple):
    """Which answers to a task are correct: those whose value in a scoring pass is at least the threshold."""

    threshold: float
    scoring_pass: int
    task: str
    scorer: str


def knows_power(log: OpenLog) -> bool:
    """Whether a log has readings of power, or a declared one."""
    return log.execute(_SOURCES_OF_POWER).fetchone() is not None


def make_sample_energy(log: OpenLog, correct: Iterable[CorrectBy]) -> None:
    """Make the table `sample_energy` on a log's own connection: a row per measured request that completed.

    It is empty where no sensor was asked for power.

    Args:
        log: A log `with_room`.
        correct: Which answers are correct; of several of a task, the first counts. Needs the table `scores`.
    """
    power = knows_power(log)
    log.load(TABLES if power else ())
    if not power:
        columns = ", ".join(f"{name} DOUBLE" for name in COLUMNS)
        log.execute(f"CREATE TEMP TABLE sample_energy (sample_uuid VARCHAR, {columns})")
        return
    for name, value in _variables(log).items():
        log.execute(f"SET VARIABLE {name} = ?", [value])
    log.execute("CREATE TEMP TABLE correctness (sample_uuid VARCHAR, correct BOOLEAN)")
    tasks = set()
    for definition in correct:
        if definition.task not in tasks:
            tasks.add(definition.task)
            log.execute(_CORRECTNESS, definition)
    log.execute(f"CREATE TEMP TABLE sample_energy AS {sql_file('figures/sample_energy')}")


def _variables(log: OpenLog) -> Mapping[str, float | None]:
    """What mfu and mbu divide by; None where the settings do not say it."""
    ((devices,),) = log.execute("SELECT count(DISTINCT device) FROM power_spans").fetchall()
    settings = logged_settings(log)
    options = members(settings.get("options"))
    figures_of = {name: _positive(options.get(name)) for name in _HARDWARE}
    gpus = _positive(settings.get("gpus")) or float(devices)
    parameters = figures_of["param_count_b"]
    active = figures_of["active_params_b"] or parameters
    flops, bandwidth = figures_of["gpu_peak_tflops"], figures_of["gpu_peak_bandwidth_gb_s"]
    return {
        "flops_per_token": active and _FLOPS_PER_PARAMETER * active * 1e9,
        "bytes_per_token": parameters and _BYTES_PER_PARAMETER * parameters * 1e9,
        "peak_flops": flops and _positive(flops * 1e12 * gpus),
        "peak_bytes": bandwidth and _positive(bandwidth * 1e9 * gpus),
    }


_HARDWARE: Final = ("param_count_b", "active_params_b", "gpu_peak_tflops", "gpu_peak_bandwidth_gb_s")


def _positive(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and value > 0 else None
