"""One run of `loadgen perf` against its own mock endpoint, and all that is known of it afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from cores import on_core
from process_tree import Watch

from loadgen.driver.client.compiled import COMPILED
from loadgen.mock_endpoint.process import start_mock
from loadgen.plugins.calibration.true_times import ComparedTimes, MedianAndP99, compare_with_truth, lateness

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cores import Cores

MODEL: Final = "bench"
PROGRAM: Final = [str(Path(sys.executable).with_name("loadgen"))]
IO_LOOP: Final = (
    "client with its compiled I/O loop"
    if COMPILED
    else "client with its I/O loop in Python: the compiled one is not built (`pip install -e .` builds it)"
)
"""Which client is measured: a checkout that was not installed again lacks the compiled loop."""

_INVALID: Final = 4


@dataclass(frozen=True, slots=True)
class Pace:
    """How a mock endpoint answers: in ms, and tokens a reply, one a chunk."""

    ttft_ms: float
    gap_ms: float
    tokens: int

    @property
    def whole_ms(self) -> float:
        """From a request to the last token of its reply."""
        return self.ttft_ms + (self.tokens - 1) * self.gap_ms

    def options(self) -> Mapping[str, Any]:
        """The mock endpoint's options."""
        return {
            "models": (MODEL,),
            "ttft": f"{self.ttft_ms}ms",
            "itl": f"{self.gap_ms}ms",
            "tokens": str(self.tokens),
        }


@dataclass(frozen=True, slots=True)
class TimedRun:
    """The result of a run.

    Attributes:
        report: Its `report.json`.
        times: Its times compared with the truth; None where they were not requested.
        late: How late the mock endpoint was with its tokens.
        client: What the load generator used: parent and workers.
        server: What the mock endpoint used.
    """

    report: Mapping[str, Any]
    times: ComparedTimes | None
    late: MedianAndP99 | None
    client: Watch
    server: Watch

    @property
    def window(self) -> tuple[int, int]:
        """Where the window starts and ends, in ns of CLOCK_MONOTONIC."""
        return self.report["window"]["start_ns"], self.report["window"]["end_ns"]

    @property
    def chunks(self) -> float:
        """Chunks that arrived in the window."""
        return self.report["throughput"]["output_tps"] * self.report["window"]["duration_s"]

    @property
    def server_share(self) -> float | None:
        """The share of its core that the mock endpoint used in the window."""
        cpu_s = self.server.cpu_s(*self.window)
        return None if cpu_s is None else cpu_s / self.report["window"]["duration_s"]


def timed_run(
    cores: Cores,
    pace: Pace,
    *arguments: object,
    memory: bool = False,
    compare: bool = True,
    certificate: Path | None = None,
) -> TimedRun:
    """Run `loadgen perf` with one worker on the client's core, the mock endpoint on the server's.

    Args:
        cores: Which they are.
        pace: How the mock endpoint answers.
        *arguments: Further arguments of `loadgen perf`.
        memory: Whether to look at the memory while it runs.
        compare: Whether to compare it with the truth, which takes memory in proportion to the run.
        certificate: With it, both speak TLS: a file with a chain and its key (PEM).

    Raises:
        RuntimeError: The program failed; the message is its own.
    """
    with TemporaryDirectory(prefix="loadgen-bench-") as folder:
        out = Path(folder) / "run"
        with start_on(cores, pace, certificate) as mock:
            arguments = arguments if certificate is None else (*arguments, "--insecure")
            command = [*PROGRAM, "perf", "--url", mock.url, "--model", MODEL, "--workers", "1", "--quiet"]
            with on_core(cores.client):
                process = subprocess.Popen(
                    [*command, "--out", str(out), *map(str, arguments)],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                )
            with Watch(process.pid, memory=memory) as client, Watch(mock.pid, memory=False) as server:
                errors = process.communicate()[1]
        # A client at its limit makes a run invalid: that is what some of these runs are for.
        if process.returncode not in (0, _INVALID):
            raise RuntimeError(f"loadgen perf ended with {process.returncode}: {errors.decode()}")
        report = json.loads((out / "report.json").read_bytes())
        if not compare:
            return TimedRun(report, None, None, client, server)
        truth = mock.truth()
        late = lateness(truth, pace.ttft_ms, pace.gap_ms)
        return TimedRun(report, compare_with_truth(out, truth), late, client, server)


def start_on(cores: Cores, pace: Pace, certificate: Path | None = None) -> Any:
    """Start a mock endpoint on the server's core."""
    with on_core(cores.server):
        return start_mock(**pace.options(), tls_cert=certificate)
