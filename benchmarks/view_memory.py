"""The memory of `loadgen view` as pages of many runs are read.

Writes a log, copies it, starts the server, and reads pages at random: reports, the list, comparisons, SQL.
Prints resident memory by the number of requests:
`python benchmarks/view_memory.py [--runs 200] [--size 40] [--requests 3000]`. The aim: less than 10 % more
after the first 100 requests.
"""

from __future__ import annotations

import argparse
import http.client
import random
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import urlencode, urlsplit

from report_scale import write

PROGRAM: Final = str(Path(sys.executable).with_name("loadgen"))
STEP: Final = 100


def main() -> None:
    """Read pages and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--size", type=int, default=40, help="requests of a run")
    parser.add_argument("--requests", type=int, default=3000, help="requests for pages")
    options = parser.parse_args()
    with TemporaryDirectory() as place:
        folder = Path(place)
        first = folder / "0"
        first.mkdir()
        write(first / "events.db", options.size)
        subprocess.run([PROGRAM, "report", str(first)], check=True, stdout=subprocess.DEVNULL)
        for number in range(1, options.runs):
            shutil.copytree(first, folder / str(number))
        measure(folder, options.runs, options.requests)


def measure(folder: Path, runs: int, requests: int) -> None:
    """Ask a server for pages, and print the server's memory after every `STEP` pages.

    Raises:
        RuntimeError: The server refuses a page.
    """
    chosen = random.Random(0)  # noqa: S311 (no secret)
    command = [PROGRAM, "view", str(folder), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = urlsplit(next(iter(server.stdout or ())).split()[-1])
            connection = http.client.HTTPConnection(str(url.hostname), url.port, timeout=300)
            connection.request("GET", f"/?{url.query}")
            response = connection.getresponse()
            response.read()
            headers = {"Cookie": str(response.headers["Set-Cookie"]).partition(";")[0]}
            print("requests   RSS, MB")
            for number in range(requests + 1):
                if number % STEP == 0:
                    print(f"{number:8,}  {_rss_mb(server.pid):8.1f}", flush=True)
                path = _page(chosen, runs)
                connection.request("GET", path, headers=headers)
                response = connection.getresponse()
                response.read()
                if response.status != http.client.OK:
                    raise RuntimeError(f"{path}: status {response.status}")
        finally:
            server.terminate()


def _page(chosen: random.Random, runs: int) -> str:
    run, other = chosen.sample(range(runs), 2)
    query = urlencode({"run": run, "query": "SELECT status, count(*) FROM samples GROUP BY ALL"})
    pages = ["/", f"/run/{run}", f"/compare?run={run}&run={other}", f"/sql?{query}"]
    return chosen.choices(pages, [10, 80, 5, 5])[0]


def _rss_mb(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


if __name__ == "__main__":
    main()
