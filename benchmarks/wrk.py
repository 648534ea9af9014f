"""wrk against the same server: how many such requests a client in C makes that looks at no token."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from cores import on_core
from process_tree import Watch
from timed_run import MODEL, Pace, start_on

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from workloads.synthetic import synthetic_prompts

if TYPE_CHECKING:
    from cores import Cores

FOUND: Final = shutil.which("wrk")


def requests_s(cores: Cores, pace: Pace, concurrency: int, seconds: int) -> tuple[float, float | None]:
    """Run wrk with one thread on the client's core.

    Returns:
        Requests a second, and the share of its core that the server used (None where nobody looked).

    Raises:
        RuntimeError: Not every request was answered with a 200.
    """
    with TemporaryDirectory(prefix="loadgen-wrk-") as folder, start_on(cores, pace) as mock:
        script = Path(folder) / "request.lua"
        script.write_text(_script())
        with on_core(cores.client):
            process = subprocess.Popen(
                [
                    *("wrk", "-t1", f"-c{concurrency}", f"-d{seconds}s", "-s", str(script)),
                    f"{mock.url}/chat/completions",
                ],
                stdout=subprocess.PIPE,
                text=True,
            )
        with Watch(mock.pid, memory=False) as server:
            said = process.communicate()[0]
    rate = re.search(r"Requests/sec:\s+([\d.]+)", said)
    if rate is None or "Non-2xx" in said or "Socket errors" in said:
        raise RuntimeError(f"wrk could not measure: {said}")
    return float(rate[1]), server.share()


def _script() -> str:
    """The same question as `loadgen perf` asks with synthetic prompts."""
    body = json.dumps(chat_completions.request(synthetic_prompts(1, seed=0).samples[0], Generation(MODEL)))
    return (
        'wrk.method = "POST"\n'
        'wrk.headers["Content-Type"] = "application/json"\n'
        'wrk.headers["Accept-Encoding"] = "identity"\n'
        f"wrk.body = [==[{body}]==]\n"
    )
