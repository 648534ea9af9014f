"""What a report costs of shards and of archives: `python benchmarks/log_scale.py [--json] [REQUESTS]`.

Writes the same requests as one log and as a hundred shards, archives both, and reports each in a process of
its own, three rounds in turn. CPU time is what to compare on a machine that does other work.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

import generated_logs
from report_scale import Measured, report_apart, table

from reporter.archive.write import archive

REQUESTS: Final = 1_000_000
NODES: Final = 100
ROUNDS: Final = 3


def main() -> None:
    """Write, report, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("requests", nargs="?", type=int, default=REQUESTS)
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--archive", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.archive:
        run, place = options.archive
        archive(run, place, "benchmark")
        return
    measured = measure(options.requests, options.nodes, options.rounds)
    print(json.dumps([asdict(line) for line in measured]) if options.json else table(measured))


def measure(requests: int, nodes: int, rounds: int) -> list[Measured]:
    """Write all sources, and report each as many times."""
    with TemporaryDirectory() as folder:
        top = Path(folder)
        generated_logs.write(top / "one log", requests)
        generated_logs.write(top / f"{nodes} shards", requests, nodes)
        for name in ("one log", f"{nodes} shards"):
            started = time.perf_counter()
            places = map(str, (top / name, top / f"archive of {name}"))
            command = [sys.executable, __file__, "--archive", *places]
            subprocess.run(command, check=True)
            print(f"archiving {name}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
        names = sorted(path.name for path in top.iterdir())
        taken = [{name: report_apart(top / name) for name in names} for _ in range(rounds)]
        return [
            Measured(name, requests, _size_mb(top / name), *map(median, of_name))
            for name in names
            for of_name in [zip(*(each[name] for each in taken), strict=True)]
        ]


def _size_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


if __name__ == "__main__":
    main()
