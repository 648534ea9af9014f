"""The time and the size of a page of a run of many requests.

Writes a log as `report_scale.py` does, makes `report.html` of it in a separate process, and prints a table:
`python benchmarks/page_scale.py [--json] [--rounds N] [REQUESTS ...]`. The aims: less than 10 s and 1 MB for
1,000,000, and a first paint within 0.5 s for 10,000, which `chromium` measures; 0 rounds need none.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
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
        paint_ms: From the navigation to the first paint of text, the median of the rounds; None without any.
        plot_ms: To the first plot, as above.
    """

    requests: int
    page_kb: float
    seconds: float
    cpu_s: float
    paint_ms: float | None
    plot_ms: float | None


def main() -> None:
    """Write logs, make pages, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("requests", nargs="*", type=int, default=SIZES, help="sizes of the logs")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--rounds", type=int, default=5, help="how often a browser opens a page")
    options = parser.parse_args()
    measured = [measure(requests, options.rounds) for requests in options.requests]
    print(json.dumps([asdict(page) for page in measured]) if options.json else table(measured))


def measure(requests: int, rounds: int) -> MeasuredPage:
    """Write a log, make its page, and open the page.

    Raises:
        subprocess.CalledProcessError: The page could not be made.
    """
    with TemporaryDirectory() as folder:
        write(Path(folder) / "events.db", requests)
        before, started = _cpu_s(), time.perf_counter()
        command = [sys.executable, "-m", "loadgen", "report", folder, "--format", "html"]
        page = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        seconds = time.perf_counter() - started
        cpu_s = _cpu_s() - before
        file = Path(folder) / "page.html"
        file.write_bytes(page)
        return MeasuredPage(requests, len(page) / 1e3, seconds, cpu_s, *paints(file, rounds))


_FIRST_PLOT: Final = """() => new Promise((resolve) => {
  const has = () => document.querySelector(".canvas svg");
  const look = () => (has() ? resolve(performance.now()) : requestAnimationFrame(look));
  look();
})"""
_FIRST_PAINT: Final = """() => new Promise((resolve) => {
  const look = (paints) =>
    paints.getEntriesByName("first-contentful-paint").forEach((paint) => resolve(paint.startTime));
  new PerformanceObserver(look).observe({ type: "paint", buffered: true });
})"""


def paints(page: Path, rounds: int) -> tuple[float | None, float | None]:
    """The medians of the times to the first paint and to the first plot, in ms."""
    if not rounds:
        return None, None
    from playwright.sync_api import sync_playwright

    times = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for _ in range(rounds):
            tab = chromium.new_context(viewport={"width": 1400, "height": 900}).new_page()
            tab.goto(page.as_uri(), wait_until="commit")
            plot_ms = tab.evaluate(_FIRST_PLOT)
            times.append((tab.evaluate(_FIRST_PAINT), plot_ms))
            tab.context.close()
        chromium.close()
    paint_ms, plot_ms = (median(of) for of in zip(*times, strict=True))
    return paint_ms, plot_ms


def _cpu_s() -> float:
    """What all processes that this one started and that have ended took."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def table(measured: list[MeasuredPage]) -> str:
    """The measurements, a line each."""
    lines = [f"{'requests':>10} {'page kB':>8} {'seconds':>8} {'CPU s':>6} {'paint ms':>9} {'plot ms':>8}"]
    lines += [
        f"{page.requests:>10,} {page.page_kb:>8.0f} {page.seconds:>8.2f} {page.cpu_s:>6.2f} "
        f"{page.paint_ms or 0:>9.0f} {page.plot_ms or 0:>8.0f}"
        for page in measured
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
