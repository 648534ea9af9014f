"""HumanEval's canonical solutions in containers, on two of them at once: less than 60 s.

    python benchmarks/containers.py [--image IMAGE] [--json]

The problems are those of CONFORMANCE_DATA; without them as many programs of the same kind are made up.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Final

from loadgen.plugins.evals.tasks.humaneval import TIMEOUT_S, program_of
from loadgen.plugins.sandbox.container_programs import ContainerPrograms
from loadgen.plugins.sandbox.job import Job, ProgramLimits
from workloads.errors import WorkloadError
from workloads.sandbox_contract import SandboxSpec

PROGRAMS: Final = 164
AT_ONCE: Final = 2
MOST_S: Final = 60.0


def programs() -> list[str]:
    """The source of each program."""
    path = Path(os.environ.get("CONFORMANCE_DATA", "../shared/data")) / "humaneval" / "HumanEval.jsonl.gz"
    if path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        return [program_of(row, row["canonical_solution"]) for row in rows]
    return [
        f"def add(a, b):\n    return a + b\n\ndef check(f):\n    assert f({n}, 1) == {n + 1}\n\ncheck(add)"
        for n in range(PROGRAMS)
    ]


def run(image: str) -> dict[str, float]:
    """Run all; return the time, how many passed, and the slowest program."""
    sources = programs()
    since = time.perf_counter()
    shares = [sources[number::AT_ONCE] for number in range(AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        results = list(chain.from_iterable(threads.map(lambda share: run_share(image, share), shares)))
    return {
        "programs": len(results),
        "passed": sum(passed for passed, _ in results),
        "seconds": time.perf_counter() - since,
        "slowest_s": max(seconds for _, seconds in results),
    }


def run_share(image: str, sources: list[str]) -> list[tuple[bool, float]]:
    """Run programs one after the other in a container."""
    containers, results = ContainerPrograms(SandboxSpec("docker", image=image)), []
    try:
        for source in sources:
            since = time.perf_counter()
            outcome = containers.run(Job("program", source, TIMEOUT_S), ProgramLimits(wall_s=TIMEOUT_S + 10))
            results.append((outcome.ending == "passed", time.perf_counter() - since))
    finally:
        containers.close()
    return results


def main() -> int:
    """Print the figures; 1 where they are not as they should be."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--image", default="llm-loadgen-test")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        figures = run(options.image)
    except WorkloadError as error:
        print(f"SKIP: {error}")
        return 0
    if options.json:
        print(json.dumps(figures))
    else:
        print(
            f"{figures['passed']} of {figures['programs']} programs pass in containers, "
            f"{AT_ONCE} at once: {figures['seconds']:.1f} s (limit {MOST_S:g} s), "
            f"slowest {figures['slowest_s']:.1f} s"
        )
    return int(figures["seconds"] > MOST_S or figures["passed"] < figures["programs"])


if __name__ == "__main__":
    sys.exit(main())
