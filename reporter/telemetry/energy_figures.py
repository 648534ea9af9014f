"""From the readings of power to the energy of a run, and of its requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reporter import statements
from reporter.costs import correct_answers
from reporter.json_values import members
from reporter.log.database import figures, rows_of
from reporter.log.run_head import logged_settings
from reporter.log.sql_files import sql_file
from reporter.values.energy import Energy, MetricStats, TaskEnergy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reporter.log.database import OpenLog
    from reporter.report import Report
    from reporter.values.task_score import TaskScore

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
    WHERE type = 'SENSOR_STARTED'
        AND data ->> '$.source' IN ('nvml', 'amdsmi', 'dcgm', 'amd_exporter', 'intel_exporter', 'declared')"""

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


STATS: Final = (
    *("energy_joules", "power_watts", "gpu_utilization_pct", "throughput_tok_per_sec"),
    *("mfu_pct", "mbu_pct", "ipw", "ipj"),
)
"""The figures of a request; docs/telemetry.md defines them."""

_OBSERVED: Final = 0.99
"""The least share of the window that must have been observed."""

_TASK: Final = """
    SELECT
        sum(energy_joules),
        count(*) FILTER (energy_joules IS NULL),
        avg(power_watts) FILTER (power_watts > 0)
    FROM sample_energy JOIN questions USING (prompt_id)
    WHERE task = ?"""


def energy(log: OpenLog, report: Report) -> tuple[Energy | None, int]:
    """The energy of a run, and how often a counter went back; None without a reading of power."""
    if not log.execute("SELECT 1 FROM power_spans LIMIT 1").fetchone():
        return None, 0
    row = figures(log, "energy")
    log = log.with_room()
    make_sample_energy(log, _correct_by(report.accuracy))
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
        stats=_all_stats(log),
    ), int(row["went_back"])


def _correct_by(accuracy: Sequence[TaskScore]) -> Iterator[CorrectBy]:
    for score in accuracy:
        headline = next(iter(score.headlines.values()), None)
        if score.pass_ is not None and score.scorer is not None and headline and headline.unit == "share":
            yield CorrectBy(score.pass_threshold, score.pass_, score.task, score.scorer)


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


def _all_stats(log: OpenLog) -> dict[str, MetricStats | None]:
    observed = {row.pop("figure"): row for row in rows_of(log.execute(statements.request_energy()))}
    return {
        name: (MetricStats(**row) if row["count"] else None)
        if (row := observed.get(name))
        else _stats(log, name)
        for name in STATS
    }


def _stats(log: OpenLog, name: str) -> MetricStats | None:
    # Of ipw and ipj only correct answers, whose value is not 0.
    query = (
        f"SELECT count({name}), avg({name}), median({name}), min({name}), max({name}), stddev_samp({name}) "  # noqa: S608
        f"FROM sample_energy WHERE {name} > 0 OR '{name}' NOT IN ('ipw', 'ipj')"
    )
    row = log.execute(query).fetchall()[0]
    return MetricStats(*row) if row[0] else None
