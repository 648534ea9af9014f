"""Terminal-Bench 1: panes of five submissions, with what the official parser read and the verdicts."""

from __future__ import annotations

import gzip
import json
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from tests.conformance.agreement import Agreement
from workloads.errors import MalformedError
from workloads.grading.terminal_pane import is_resolved, results_of_tests

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

NEEDS: Final = ("terminal_bench_LOCAL/trials.jsonl.gz",)

_TIMEOUT: Final = "ran out of time in the tests, whose pane is not read"


def agreements(data: Path) -> Iterator[Agreement]:
    """One line a submission."""
    with gzip.open(data / NEEDS[0], "rt", encoding="utf-8", newline="\n") as lines:
        trials = sorted(map(json.loads, lines), key=lambda trial: trial["submission"])
    for submission, of_submission in groupby(trials, key=lambda trial: trial["submission"]):
        yield _agreement(f"terminal_bench/official, {submission}", list(of_submission))


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
