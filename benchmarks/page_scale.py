"""The time and the size of a page of a run of many requests.

Writes a log as `report_scale.py` does, makes `report.html` of it in a process of its own, and prints a table:
`python benchmarks/page_scale.py [--json] [REQUESTS ...]`. The aim: less than 10 s and 1 MB for 1,000,000.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from report_scale import write

SIZES: Final = (10_000, 1_000_000)


@dataclass(frozen=True, slots=True)
class MeasuredPage:
    """What one page took.

    Attributes:
        requests: Requests in the log.
        page_kb: The size of the page.
        seconds: From the start of the process to its end.
        cpu_s: CPU seconds of the process; more than `seconds` where several threads count.
    """

    requests: int
    page_kb: float
    seconds: float
    cpu_s: float


def main() -> None:
    """Write logs, make pages, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("requests", nargs="*", type=int, default=SIZES, help="sizes of the logs")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    measured = [measure(requests) for requests in options.requests]
    print(json.dumps([asdict(page) for page in measured]) if options.json else table(measured))


def measure(requests: int) -> MeasuredPage:
    """Write a log and make its page.

    Raises:
        subprocess.CalledProcessError: The page could not be made.
    """
    with TemporaryDirectory() as folder:
        write(Path(folder) / "events.db", requests)
        before, started = _cpu_s(), time.perf_counter()
        command = [sys.executable, "-m", "loadgen", "report", folder, "--format", "html"]
        page = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        seconds = time.perf_counter() - started
        return MeasuredPage(requests, len(page) / 1e3, seconds, _cpu_s() - before)


def _cpu_s() -> float:
    """What all processes that this one started and that have ended took."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def table(measured: list[MeasuredPage]) -> str:
    """The measurements, a line each."""
    lines = [f"{'requests':>10} {'page kB':>8} {'seconds':>8} {'CPU s':>6}"]
    lines += [
        f"{page.requests:>10,} {page.page_kb:>8.0f} {page.seconds:>8.2f} {page.cpu_s:>6.2f}"
        for page in measured
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
