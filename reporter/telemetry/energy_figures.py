"""From the readings of power to the energy of a run, and of its requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.costs.costs import correct_answers
from reporter.kinds import document, members
from reporter.log.database import figures
from reporter.log.sql_files import sql_file
from reporter.telemetry.energy import Energy, MetricStats, TaskEnergy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reporter.accuracy.task_score import TaskScore
    from reporter.log.database import OpenLog
    from reporter.report import Report

TABLES: Final = ("sensor_readings", "power_spans", "energy_flow", "request_energy")
"""What of the log is needed."""

STATS: Final = (
    *("energy_joules", "power_watts", "gpu_utilization_pct", "throughput_tok_per_sec"),
    *("mfu_pct", "mbu_pct", "ipw", "ipj"),
)
"""The figures of a request; docs/telemetry.md defines them."""

_BYTES_PER_PARAMETER: Final = 2
_FLOPS_PER_PARAMETER: Final = 2
_OBSERVED: Final = 0.99
"""The least share of the window that must have been observed."""

_TASK: Final = """
    SELECT
        sum(energy_joules),
        count(*) FILTER (energy_joules IS NULL),
        avg(power_watts) FILTER (power_watts > 0)
    FROM sample_energy JOIN questions USING (prompt_id)
    WHERE task = ?"""

_SOURCES_OF_POWER: Final = """
    SELECT 1 FROM session_events
    WHERE type = 'SENSOR_STARTED' AND data ->> '$.source' IN ('nvml', 'dcgm', 'declared')"""

_CORRECTNESS: Final = """
    INSERT INTO correctness
    SELECT sample_uuid, value >= ? FROM scores WHERE pass = ? AND task = ? AND scorer = ?"""


def knows_power(log: OpenLog) -> bool:
    """Whether a log has readings of power, or a declared one."""
    return log.execute(_SOURCES_OF_POWER).fetchone() is not None


def energy(log: OpenLog, report: Report) -> tuple[Energy | None, int]:
    """The energy of a run, and how often a counter went back; None without a reading of power.

    Args:
        log: A log with `TABLES`, by the definitions and over the window of the report.
        report: Its report, with the accuracy.
    """
    if not log.execute("SELECT 1 FROM power_spans LIMIT 1").fetchone():
        return None, 0
    row = figures(log, "energy")
    log = with_sample_energy(log, int(row["devices"]), report.accuracy)
    window_j = row["window_joules"]
    observed = (row["observed_ns"] or 0) >= _OBSERVED * (row["window_ns"] or 0) > 0
    window_j = window_j if observed else None
    duration_s = report.window.duration_s or 0.0
    output = (report.throughput.output_tps or 0.0) * duration_s
    completed = (report.throughput.qps or 0.0) * duration_s
    return Energy(
        source=row["source"],
        method=row["method"],
        devices=row["devices"],
        total_joules=row["total_joules"],
        measured_joules=row["measured_joules"],
        other_joules=row["other_joules"],
        idle_joules=row["idle_joules"],
        window_joules=window_j,
        mean_watts=_by(window_j, row["window_ns"] / 1e9 if row["window_ns"] else None),
        joules_per_output_token=_by(window_j, output),
        joules_per_request=_by(window_j, completed),
        integral_share=row["integral_share"],
        tasks=list(_tasks(log, report.accuracy)),
        stats={name: _stats(log, name) for name in STATS},
    ), int(row["went_back"])


def with_sample_energy(log: OpenLog, devices: int, accuracy: Sequence[TaskScore]) -> OpenLog:
    """The same log with the table `sample_energy`: a row per measured request that completed.

    Args:
        log: A log with `TABLES`.
        devices: How many devices were observed, where the settings do not say how many there are.
        accuracy: The scores that say which answers are correct.
    """
    shown = log.with_room()
    for name, value in _variables(log, devices).items():
        shown.execute(f"SET VARIABLE {name} = ?", [value])
    shown.execute("CREATE TEMP TABLE correctness (sample_uuid VARCHAR, correct BOOLEAN)")
    for score in {score.task: score for score in reversed(accuracy)}.values():
        if score.pass_ is not None and score.pass_threshold is not None:
            shown.execute(_CORRECTNESS, [score.pass_threshold, score.pass_, score.task, score.scorer])
    shown.execute(f"CREATE TEMP TABLE sample_energy AS {sql_file('figures/sample_energy')}")
    return shown


def _variables(log: OpenLog, devices: int) -> Mapping[str, float | None]:
    """What mfu and mbu divide by; None where the settings do not say it."""
    ((stored,),) = log.execute("SELECT any_value(settings) FROM session").fetchall()
    settings = members(document(stored)) if stored else {}
    options = members(settings.get("options"))
    figures_of = {name: _positive(options.get(name)) for name in _HARDWARE}
    gpus = _positive(settings.get("gpus")) or float(devices)
    parameters = figures_of["param_count_b"]
    active = figures_of["active_params_b"] or parameters
    flops, bandwidth = figures_of["gpu_peak_tflops"], figures_of["gpu_peak_bandwidth_gb_s"]
    return {
        "flops_per_token": active and _FLOPS_PER_PARAMETER * active * 1e9,
        "bytes_per_token": parameters and _BYTES_PER_PARAMETER * parameters * 1e9,
        "peak_flops": flops and flops * 1e12 * gpus,
        "peak_bytes": bandwidth and bandwidth * 1e9 * gpus,
    }


_HARDWARE: Final = ("param_count_b", "active_params_b", "gpu_peak_tflops", "gpu_peak_bandwidth_gb_s")


def _positive(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and value > 0 else None


def _by(joules: float | None, number: float | None) -> float | None:
    return joules / number if joules is not None and number else None


def _tasks(log: OpenLog, accuracy: Sequence[TaskScore]) -> Iterator[TaskEnergy]:
    for score in accuracy:
        joules, unknown, watts = log.execute(_TASK, [score.task]).fetchall()[0]
        joules = None if unknown else joules
        correct = correct_answers(log, score)
        asked = [score.pass_, score.task, score.scorer]
        count = "SELECT count(*) FROM scores WHERE pass = ? AND task = ? AND scorer = ?"
        ((answers,),) = log.execute(count, asked).fetchall()
        share = correct / answers if correct is not None and answers else None
        yield TaskEnergy(
            task=score.task,
            scorer=score.scorer,
            joules=joules,
            correct=correct,
            joules_per_correct=_by(joules, correct),
            ipw=_by(share, watts),
            ipj=_by(share, joules),
        )


def _stats(log: OpenLog, name: str) -> MetricStats | None:
    # Of ipw and ipj only correct answers, whose value is not 0.
    query = (
        f"SELECT count({name}), avg({name}), median({name}), min({name}), max({name}), stddev_samp({name}) "  # noqa: S608
        f"FROM sample_energy WHERE {name} > 0 OR '{name}' NOT IN ('ipw', 'ipj')"
    )
    row = log.execute(query).fetchall()[0]
    return MetricStats(*row) if row[0] else None
