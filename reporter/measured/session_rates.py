"""Rates of sessions, with the values that say how sure they are.

A session is one observation, with numerator y and denominator d; the rate is proportional to R = Σ y / Σ d,
and its error is that of the mean of y - R d, as of any ratio of two means (W. G. Cochran, Sampling
Techniques, 3rd ed., 1977, 6.3).

- Jobs per hour in a closed loop, where a user takes one session after the other: y is 1 for a session that
  completed and 0 for one that failed, and d its duration. Completions are the rewards of a renewal process
  whose cycles are the sessions: the regenerative method of M. A. Crane and D. L. Iglehart, "Simulating stable
  stochastic systems, III", Operations Research 23, 1975.
- Jobs per hour in an open loop, where the arrivals set the rate: completions in equal spans of time.
- The hit rate: y are the cached tokens of a session, and d its prompt tokens.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final

from reporter.measured.timeline import FINEST, group_size, grouped, merged_size
from reporter.run_facts import is_open_loop
from rulesets.evidence import Rate
from rulesets.session_evidence import session_rate as as_reported
from rulesets.statistics.long_run import FEWEST_VALUES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.log.database import OpenLog
    from reporter.report import Report

_JOBS: Final = "if(ending = 'completed', 1, 0), duration_ms"
_PAIRS: Final = {
    "jobs_per_hour": (_JOBS, "true"),
    "jobs_per_hour_per_gpu": (_JOBS, "true"),
    "jobs_per_hour_per_user": (_JOBS, "ending = 'completed'"),
    "hit_rate": ("cached_tokens, cached_of_tokens", "cached_of_tokens > 0"),
}
"""The numerator and denominator of each rate, and of which sessions they are."""

_ENDED: Final = """
    SELECT {pair}
    FROM sessions
    WHERE measured AND ended_ns > started_ns AND ending NOT IN ('duration', 'stopped', 'cut') AND {which}
    ORDER BY started_ns, conversation_id"""

_COMPLETED: Final = """
    SELECT least((ended_ns - start_ns) * $spans // (end_ns - start_ns), $spans - 1)::BIGINT AS span, count(*)
    FROM sessions, (SELECT min(started_ns) AS start_ns, max(ended_ns) AS end_ns FROM sessions WHERE measured)
    WHERE measured AND ending = 'completed' AND end_ns > start_ns
    GROUP BY span"""


def session_rate(log: OpenLog, report: Report, metric: str) -> Rate:
    """A rate of jobs in 1/h, or the hit rate, with its blocks and series."""
    rate = as_reported(report.to_dict(), metric)
    if rate.value is None:
        return rate
    if metric in {"jobs_per_hour", "jobs_per_hour_per_gpu"} and is_open_loop(report.run.load):
        return Rate(rate.value, rate.n, *_of_spans(log, rate.value))
    pair, which = _PAIRS[metric]
    pairs = log.execute(_ENDED.format(pair=pair, which=which)).fetchall()
    return Rate(rate.value, rate.n, *of_sessions(pairs, rate.value))


def of_sessions(
    pairs: Sequence[tuple[float, float]], value: float
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Blocks of sessions by their starts, and a value for each session, with the mean `value`."""
    jobs, weight = (float(sum(part)) for part in zip(*pairs, strict=True)) if pairs else (0.0, 0.0)
    if len(pairs) < FEWEST_VALUES or not jobs:
        return (), ()
    ratio, mean = jobs / weight, jobs / len(pairs)
    series = tuple(value * (1 + (float(done) - ratio * float(of)) / mean) for done, of in pairs)
    return tuple(map(fmean, grouped(series, -(-len(series) // FINEST)))), series


def _of_spans(log: OpenLog, value: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The rates of equal spans of time, each with a few sessions, and of shorter ones."""
    done = dict(log.execute(_COMPLETED, {"spans": FINEST}).fetchall())
    counts = [done.get(span, 0) for span in range(FINEST)]
    mean = sum(counts) / FINEST

    def rates(size: int | None) -> tuple[float, ...]:
        return () if size is None else tuple(value * fmean(span) / mean for span in grouped(counts, size))

    return rates(group_size(counts)), rates(merged_size(counts))
