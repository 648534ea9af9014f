"""From the readings of power to the energy of a run, and of its requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.costs import correct_answers
from reporter.log.database import figures
from reporter.telemetry.sample_energy import CorrectBy, make_sample_energy
from reporter.values.energy import Energy, MetricStats, TaskEnergy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.log.database import OpenLog
    from reporter.report import Report
    from reporter.values.task_score import TaskScore

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
        stats={name: _stats(log, name) for name in STATS},
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


def _stats(log: OpenLog, name: str) -> MetricStats | None:
    # Of ipw and ipj only correct answers, whose value is not 0.
    query = (
        f"SELECT count({name}), avg({name}), median({name}), min({name}), max({name}), stddev_samp({name}) "  # noqa: S608
        f"FROM sample_energy WHERE {name} > 0 OR '{name}' NOT IN ('ipw', 'ipj')"
    )
    row = log.execute(query).fetchall()[0]
    return MetricStats(*row) if row[0] else None
