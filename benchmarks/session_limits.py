"""How often lower confidence limits of jobs per hour are above the true rate: docs/statistics.md.

Four users take sessions of lognormal durations one after the other, without failures.
"""

from __future__ import annotations

import random
from statistics import fmean

from reporter.measured.session_rates import of_sessions
from rulesets.demands import Confidence
from rulesets.evaluators.limit import of_blocks

RUNS = 2000
USERS = 4
MEAN_MS = 60_000.0
HOUR_MS = 3_600_000.0
LIMIT = Confidence(method="batch_means", level=0.95, side="lower")


def misses(draws: random.Random, sessions: int, sigma: float) -> tuple[float, float]:
    """The shares of limits above the truth, in percent: per user, and in all."""
    missed = [0, 0]
    for _ in range(RUNS):
        free_ms, pairs = [0.0] * USERS, []
        for _ in range(sessions):
            user = free_ms.index(min(free_ms))
            duration_ms = MEAN_MS * draws.lognormvariate(-sigma * sigma / 2, sigma)
            free_ms[user] += duration_ms
            pairs.append((1.0, duration_ms))
        per_user = HOUR_MS / fmean(duration_ms for _, duration_ms in pairs)
        in_all = HOUR_MS * sessions / max(free_ms)
        for place, (rate, users) in enumerate(((per_user, 1), (in_all, USERS))):
            blocks, _ = of_sessions(pairs, rate)
            limit = of_blocks(rate, sessions, blocks, LIMIT, upper=False).value
            missed[place] += limit is not None and limit > users * HOUR_MS / MEAN_MS
    return 100 * missed[0] / RUNS, 100 * missed[1] / RUNS


def main() -> None:
    """Print a row a number of sessions."""
    draws = random.Random(1)  # noqa: S311 (a simulation)
    for sessions in (12, 24, 48, 100, 400):
        per_user, in_all = zip(*(misses(draws, sessions, sigma) for sigma in (0.3, 0.7, 1.0)), strict=True)
        print(f"| {sessions} | " + " | ".join(f"{share:.1f}" for share in (*per_user, *in_all)) + " |")


if __name__ == "__main__":
    main()
