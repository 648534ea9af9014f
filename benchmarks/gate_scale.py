"""What a gate costs beyond the report, on a log of 10^6 requests.

`python benchmarks/gate_scale.py [REQUESTS]` writes a log of streamed requests (4 events and 16 chunks each, a
tag), reports it by the definitions of a ruleset that has every kind of rule, and judges it, in a process of
its own. The median of three rounds must stay below 1 s for 10^6 requests.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from report_scale import write
from scorecard import Row, table

from reporter.measured_run import measured
from rulesets.definitions import Definitions
from rulesets.evaluation import evaluate
from rulesets.ruleset import of_expressions

if TYPE_CHECKING:
    from rulesets.ruleset import Ruleset

REQUESTS: Final = 1_000_000
ROUNDS: Final = 3
REQUIRED_S: Final = 1.0
AIM_S: Final = 0.7

RULES: Final = (
    "ttft:p(99)<16ms",
    "ttft:p(99)<16ms@es99",
    "tpot:p(99)<12ms@es99-estimate",
    "latency:p(90)<300ms@ucl95",
    "latency:mean<300ms@ucl95",
    "ttft:p(95)<20ms@ucl95-order_stat",
    "itl:p(99)<20ms",
    "tps>1000@lcl95",
    "qps>10@lcl95",
    "error<1%@ucl99",
    "good(ttft<15ms,tpot<11ms):fraction>80%@lcl95",
    "ttft{class:long}:p(99)<16ms@es99",
    "output_tokens:mean>=10",
)
"""Of every kind."""


def main() -> None:
    """Write, judge, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("requests", nargs="?", type=int, default=REQUESTS, help="the size of the log")
    parser.add_argument("--judge", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.judge:
        print(json.dumps(judged(options.judge)))
        return
    with TemporaryDirectory() as folder:
        log = Path(folder) / "events.db"
        write(log, options.requests, tags=True)
        command = [sys.executable, __file__, "--judge", str(log)]
        rounds = [
            json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(ROUNDS)
        ]
    work = f"{len(RULES)} rules, {options.requests:,} requests"
    print(
        table(
            [
                Row(
                    f"a gate beyond its report: {work}",
                    [gate_s for _, gate_s, _ in rounds],
                    (REQUIRED_S, AIM_S),
                    "s",
                    note=f"the report takes {min(report_s for report_s, _, _ in rounds):.1f} s",
                )
            ]
        )
    )
    print(f"\nthe dearest rules: {rounds[0][2]}")


def judged(log: Path) -> tuple[float, float, str]:
    """Judge a log; what its report took in s, what all else took, and the rules that took most."""
    rules = of_expressions(RULES)
    rules = replace(rules, definitions=Definitions(failed_requests="count_as_violation"))
    started = time.perf_counter()
    with measured(log, rules.definitions) as (_, evidence):
        reported = time.perf_counter()
        rows = evaluate(rules, evidence).rows
        done = time.perf_counter()
        if len(rows) < len(RULES):
            raise SystemExit("a rule has no row")
    return reported - started, done - reported, _dearest(log, rules)


def _dearest(log: Path, rules: Ruleset) -> str:
    """Each rule by itself, as if it were the only one."""
    taken = []
    with measured(log, rules.definitions) as (report, evidence):
        for target in rules.targets:
            alone = type(evidence)(evidence.log, report)
            started = time.perf_counter()
            evaluate(replace(rules, targets=(target,)), alone)
            taken.append((time.perf_counter() - started, target.id))
    return ", ".join(f"{name} {seconds:.2f} s" for seconds, name in sorted(taken, reverse=True)[:4])


if __name__ == "__main__":
    main()
