"""The search for the limit of a server that is known: does it land within 5 %, in under two minutes?

`loadgen search` against `loadgen mock --slots 8 --ttft 100ms --itl 5ms --tokens 20`: a request takes 100 ms
and 19 gaps of 5 ms, so that the server completes 8 / 0.195 s = 41.03 req/s, and no more. The
requirement is loose (a p99 of TTFT of 2 s), so that the limit is where the queue stops being stable, also for
requests that arrive at random.

    python benchmarks/search.py [--times N] [--arrival constant|poisson] [--json]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from loadgen.mock_endpoint.process import start_mock

SLOTS: Final = 8
TTFT_MS: Final = 100
GAP_MS: Final = 5
TOKENS: Final = 20
LIMIT: Final = SLOTS / ((TTFT_MS + GAP_MS * (TOKENS - 1)) / 1e3)
"""The rate, in req/s."""

OFF: Final = 0.05
LONGEST_S: Final = 120.0
ARRIVALS: Final = ("constant", "poisson")


@dataclass(frozen=True, slots=True)
class Search:
    """One search and what it found; None for nothing."""

    arrival: str
    seed: int
    rate: float | None
    trials: int
    seconds: float
    message: str

    @property
    def good(self) -> bool:
        """Whether it landed near enough, in time."""
        return self.rate is not None and abs(self.rate / LIMIT - 1) <= OFF and self.seconds < LONGEST_S


def search(arrival: str, seed: int, folder: Path) -> Search:
    """Search once, as a user would."""
    with start_mock(
        models=("m",), slots=SLOTS, ttft=f"{TTFT_MS}ms", itl=f"{GAP_MS}ms", tokens=str(TOKENS)
    ) as mock:
        begun = time.monotonic()
        done = subprocess.run(
            [
                *(
                    sys.executable,
                    "-m",
                    "loadgen",
                    "search",
                    "--url",
                    mock.url,
                    "--model",
                    "m",
                    "--json",
                    "-q",
                ),
                *("--require", "ttft:p(99)<2s", "--arrival", arrival, "--seed", str(seed)),
                *("--out", str(folder / f"{arrival}-{seed}")),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.monotonic() - begun
    if not done.stdout:
        sys.exit(done.stderr)
    result = json.loads(done.stdout)
    return Search(arrival, seed, result["rate"], len(result["tried"]), seconds, result["message"])


def main() -> None:
    """Search several times with each arrival; exit 1 when one of them is off."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--arrival", choices=ARRIVALS)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    searches = []
    with TemporaryDirectory(prefix="loadgen-search-") as folder:
        for arrival in [asked.arrival] if asked.arrival else ARRIVALS:
            for number in range(asked.times):
                result = search(arrival, 100 * number, Path(folder))
                searches.append(result)
                if not asked.json:
                    print(_line(result), flush=True)
    if asked.json:
        print(json.dumps({"limit": LIMIT, "searches": [asdict(result) for result in searches]}, indent=2))
    sys.exit(0 if all(result.good for result in searches) else 1)


def _line(result: Search) -> str:
    outcome = (
        "not found"
        if result.rate is None
        else f"{result.rate:6.2f} req/s, off by {100 * (result.rate / LIMIT - 1):+.1f} %"
    )
    took = f"in {result.trials} trials, {result.seconds:.0f} s"
    verdict = "PASS" if result.good else f"FAIL: {result.message}"
    return f"{result.arrival:<9} limit {LIMIT:.2f}/s  {outcome}  {took}  {verdict}"


if __name__ == "__main__":
    main()
