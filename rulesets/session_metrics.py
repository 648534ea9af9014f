"""The metrics of sessions of several turns: a part of `rulesets.metric_table`."""

from __future__ import annotations

from typing import Final

from rulesets.quantity import ERROR_RATE, HIT_SHARE, JOB_RATE, LATENCY, MetricDefinition

SESSION_METRICS: Final = tuple(
    MetricDefinition(
        name=name,
        quantity=LATENCY,
        meaning=meaning,
        per="session",
        needs=("stream",) if "ttf" in name else (),
        compared=compared,
        compared_briefly=compared,
    )
    for name, meaning, compared in (
        ("session", "duration of a session of several turns", ("p(50)", "p(95)")),
        ("ttfat", "time to the last answer of a session", ("p(50)",)),
        ("first_ttft", "TTFT of the first turn of a session", ("mean",)),
        ("later_ttft", "mean TTFT of the later turns of a session", ("mean",)),
        ("join_wait", "how long streams of a session that were ready waited for other streams", ("mean",)),
    )
)
"""Each has a column of the view `sessions` (reporter/sql/sessions.sql); docs/sessions.md defines them."""

JOB_RATES: Final = ("jobs_per_hour", "jobs_per_hour_per_user", "jobs_per_hour_per_gpu")
SESSION_RATES: Final = (*JOB_RATES, "hit_rate")
"""The rates that only sessions have."""
SESSION_ERROR: Final = "session_error"

SESSION_RUN_METRICS: Final = tuple(
    MetricDefinition(
        name=name,
        quantity=quantity,
        meaning=meaning,
        per="run",
        compared=quantity.stats,
        compared_briefly=() if name in JOB_RATES[1:] else quantity.stats,
    )
    for name, quantity, meaning in (
        ("jobs_per_hour", JOB_RATE, "completed sessions per hour"),
        ("jobs_per_hour_per_user", JOB_RATE, "sessions per hour of one user: 3,600 s / mean duration"),
        ("jobs_per_hour_per_gpu", JOB_RATE, "completed sessions per hour and GPU (--gpus)"),
        ("hit_rate", HIT_SHARE, "share of the prompt tokens of sessions that were cached, by `usage`"),
        (SESSION_ERROR, ERROR_RATE, "share of failed sessions, of those that the client did not cut"),
    )
)

OF_SESSIONS: Final = frozenset(metric.name for metric in (*SESSION_METRICS, *SESSION_RUN_METRICS))
"""Every metric that only sessions have."""
