"""SWE-bench Lite: logs of five runs with the verdicts of the harness of their time; Pro: its rule.

The data of Pro has verdicts without the outputs of tests, so its rule meets outputs that are made from the
lists of tests: all passed, and for each instance one that is missing.
"""

from __future__ import annotations

import gzip
import json
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading import swe_bench_pro
from loadgen.plugins.evals.grading.swe_bench.resolution import Resolution, resolution_of
from loadgen.plugins.evals.grading.swe_bench.test_log import statuses_in
from tests.conformance.agreement import Agreement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

NEEDS: Final = (
    "swe_bench_lite_LOCAL/eval_logs.jsonl.gz",
    "swe_bench_lite_LOCAL/lite_rows.jsonl.gz",
    "swe_bench_pro/instance_info.jsonl.gz",
)

_FIRST_TESTS: Final = 10
_PARSER_FIX: Final = "are read otherwise since a fix of the parser of Django's logs"
_FIXED: Final = frozenset({"django__django-13660"})


def agreements(data: Path) -> Iterator[Agreement]:
    """One line a run, one of a shortcut, and one of Pro's rule."""
    instances = {row["instance_id"]: row for row in rows(data / NEEDS[1])}
    logs = sorted(rows(data / NEEDS[0]), key=lambda log: log["run"])
    for run, of_run in groupby(logs, key=lambda log: log["run"]):
        yield _agreement(f"swe_bench/official, {run}", list(of_run), instances)
    yield _agreement("swe_bench, the first 10 PASS_TO_PASS", logs, instances, first=_FIRST_TESTS)
    yield _pro(rows(data / NEEDS[2]))


def rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a file; one of them was split at a line separator (U+0085) and its parts were sorted."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        lines = [line for line in file.read().split("\n") if line]
    ends = [line for line in lines if not line.startswith("{")]
    starts = [line for line in lines if line.startswith("{") and not line.endswith("}")]
    whole = [line for line in lines if line.startswith("{") and line.endswith("}")]
    joined = [f"{start}\u0085{end}" for start, end in zip(starts, ends, strict=True)]
    return [json.loads(line, strict=False) for line in (*whole, *joined)]


def _agreement(
    name: str,
    logs: Sequence[Mapping[str, Any]],
    instances: Mapping[str, Mapping[str, Any]],
    first: int | None = None,
) -> Agreement:
    wrong, fixed = [], 0
    for log in logs:
        ours = _resolves(log["log"], instances[log["instance_id"]], first)
        if ours != log["resolved"]:
            excused = first is None and log["instance_id"] in _FIXED
            fixed += excused
            if not excused:
                wrong.append(f"{log['run']} {log['instance_id']}: ours {ours}")
    agree = len(logs) - len(wrong) - fixed
    exceptions = {_PARSER_FIX: fixed} if fixed else {}
    return Agreement(name, len(logs), agree, exceptions, tuple(wrong), shortcut=first is not None)


def _resolves(log: str, instance: Mapping[str, Any], first: int | None) -> bool:
    statuses = statuses_in(instance["repo"], log)
    if statuses is None:
        return False
    tests = resolution_of(statuses, instance["FAIL_TO_PASS"], instance["PASS_TO_PASS"][:first])
    return tests.resolution is Resolution.FULL


def _pro(instances: Sequence[Mapping[str, Any]]) -> Agreement:
    wrong = []
    for instance in instances:
        fail_to_pass, pass_to_pass = (json.loads(instance[key]) for key in ("FAIL_TO_PASS", "PASS_TO_PASS"))
        names = sorted({*fail_to_pass, *pass_to_pass})
        verdicts = [
            swe_bench_pro.is_resolved(_passed(passing, names), fail_to_pass, pass_to_pass)
            for passing in map(frozenset, (names, names[1:], names[:-1]))
        ]
        if verdicts != [True, False, False]:
            wrong.append(f"{instance['Instance ID']}: {verdicts}")
    return Agreement(
        "swe_bench_pro/official, made outputs",
        len(instances),
        len(instances) - len(wrong),
        wrong=tuple(wrong),
    )


def _passed(passing: frozenset[str], names: Sequence[str]) -> frozenset[str]:
    tests = [{"name": name, "status": "PASSED" if name in passing else "FAILED"} for name in names]
    return swe_bench_pro.passed_tests(json.dumps({"tests": tests}))
