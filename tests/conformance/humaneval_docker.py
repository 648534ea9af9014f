"""HumanEval in containers: the same verdicts as recorded, by the image that LOADGEN_TEST_IMAGE names."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.tasks.humaneval import TIMEOUT_S, program_of
from loadgen.plugins.sandbox.container_programs import ContainerPrograms
from loadgen.plugins.sandbox.job import Job, ProgramLimits
from tests.conformance.agreement import Agreement
from tests.conformance.humaneval import RESULTS, rows_of
from workloads.errors import WorkloadError
from workloads.sandbox_contract import SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NEEDS: Final = ("humaneval",)

_AT_ONCE: Final = 2


def agreements(data: Path) -> Iterator[Agreement]:
    """One line a set of completions."""
    image = os.environ.get("LOADGEN_TEST_IMAGE", "llm-loadgen-test")
    folder = data / NEEDS[0]
    problems = {row["task_id"]: row for row in rows_of(folder / "HumanEval.jsonl.gz")}
    idle: SimpleQueue[ContainerPrograms] = SimpleQueue()
    containers = [ContainerPrograms(SandboxSpec("docker", image=image)) for _ in range(_AT_ONCE)]
    for pool in containers:
        idle.put(pool)

    def passes(row: dict[str, Any]) -> bool:
        source = program_of(problems[row["task_id"]], row["completion"] or "")
        pool = idle.get()
        try:
            outcome = pool.run(Job("program", source, TIMEOUT_S), ProgramLimits(wall_s=TIMEOUT_S + 10))
        finally:
            idle.put(pool)
        return outcome.ending == "passed"

    try:
        # Without a daemon there is nothing to compare.
        containers[0].run(Job("program", "", TIMEOUT_S), ProgramLimits(wall_s=60))
    except WorkloadError as error:
        print(f"humaneval_docker: SKIP: {error}")
        return
    try:
        for path in sorted(folder.glob(f"*{RESULTS}")):
            rows = rows_of(path)
            with ThreadPoolExecutor(_AT_ONCE) as threads:
                ours = list(threads.map(passes, rows))
            wrong = [
                f"{row['task_id']}: ours {passed}"
                for row, passed in zip(rows, ours, strict=True)
                if passed != row["passed"]
            ]
            name = f"humaneval/completion in containers, {path.name.removesuffix(RESULTS)}"
            yield Agreement(name, len(rows), len(rows) - len(wrong), wrong=tuple(wrong))
    finally:
        for pool in containers:
            pool.close()
