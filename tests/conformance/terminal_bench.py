"""Terminal-Bench 1: panes of five submissions, with what the official parser read and the verdicts."""

from __future__ import annotations

import gzip
import json
import math
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import duckdb

from loadgen.plugins.evals.grading.harbor_reward import leaderboard_accuracy
from loadgen.plugins.evals.grading.terminal_pane import is_resolved, results_of_tests
from tests.conformance.agreement import Agreement
from workloads.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

NEEDS: Final = ("terminal_bench_LOCAL/trials.jsonl.gz",)

_ACCURACY: Final = """
    SELECT avg(p), CASE WHEN min(n) > 1 THEN sqrt(sum(p * (1 - p) / (n - 1))) / count(*) END
    FROM (SELECT task, avg(coalesce(reward, 0)) AS p, count(*) AS n FROM trials GROUP BY task)"""
"""What laude-institute/terminal-bench-experiments at 1dc41312 computes, `sql/compute_accuracy.sql`."""

_TIMEOUT: Final = "ran out of time in the tests, whose pane is not read"


def agreements(data: Path) -> Iterator[Agreement]:
    """One line a submission, and one for the leaderboard's statistics of all."""
    with gzip.open(data / NEEDS[0], "rt", encoding="utf-8", newline="\n") as lines:
        trials = sorted(map(json.loads, lines), key=lambda trial: trial["submission"])
    submissions = {
        name: list(of_submission)
        for name, of_submission in groupby(trials, key=lambda trial: trial["submission"])
    }
    for submission, of_submission in submissions.items():
        yield _agreement(f"terminal_bench/official, {submission}", of_submission)
    wrong = tuple(difference for name, of in submissions.items() if (difference := _statistics(name, of)))
    right = len(submissions) - len(wrong)
    yield Agreement("terminal_bench/statistics of the leaderboard", len(submissions), right, wrong=wrong)


def _statistics(name: str, trials: Sequence[Mapping[str, Any]]) -> str:
    """How our statistics of a submission differ from those of SQL; empty where they do not."""
    rewards: dict[str, list[float | None]] = {}
    for trial in trials:
        resolved = trial["result"]["is_resolved"]
        rewards.setdefault(trial["result"]["task_id"], []).append(
            None if resolved is None else float(resolved)
        )
    ours = leaderboard_accuracy(rewards)
    rows = [(task, reward) for task, attempts in rewards.items() for reward in attempts]
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE trials (task VARCHAR, reward DOUBLE)")
        connection.executemany("INSERT INTO trials VALUES (?, ?)", rows)
        mean, error = connection.execute(_ACCURACY).fetchall()[0]
    same = math.isclose(ours.mean, mean) and (
        error is None if ours.standard_error is None else math.isclose(ours.standard_error, error or 0.0)
    )
    return "" if same else f"{name}: ours {ours}, theirs {mean}, {error}"


def _agreement(name: str, trials: Sequence[Mapping[str, Any]]) -> Agreement:
    wrong, timeouts = [], 0
    for trial in trials:
        ours, theirs = _read(trial["post_test"]), _recorded(trial["result"])
        if ours == theirs:
            continue
        if trial["result"]["failure_mode"] == "test_timeout":
            timeouts += 1
        else:
            wrong.append(f"{trial['result']['trial_name']}: ours {ours}, theirs {theirs}")
    exceptions = {_TIMEOUT: timeouts} if timeouts else {}
    return Agreement(name, len(trials), len(trials) - len(wrong) - timeouts, exceptions, tuple(wrong))


def _read(pane: str) -> tuple[dict[str, bool], bool] | None:
    try:
        results = results_of_tests(pane)
    except MalformedError:
        return None
    return results, is_resolved(results)


def _recorded(result: Mapping[str, Any]) -> tuple[dict[str, bool], bool] | None:
    if result["parser_results"] is None:
        return None
    passed = {test: status == "passed" for test, status in result["parser_results"].items()}
    return passed, result["is_resolved"]
