"""One run of a client against the native server: this program, or vllm-rs where VLLM_RS names its binary."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass
from operator import sub
from pathlib import Path
from statistics import fmean, quantiles
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from cores import on_core
from native_server import NativeServer, executable
from process_tree import Usage, Watch
from timed_run import MODEL, PROGRAM

from workloads.synthetic import synthetic_prompts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cores import Cores
    from native_server import Served
    from timed_run import Pace

VLLM_RS: Final = os.environ.get("VLLM_RS")
"""The binary of vllm-rs, in the wheel of vLLM as `vllm/vllm-rs`."""

_INVALID: Final = 4
"""The exit code of a run whose client reached its limit: what some of these runs are for."""

_TOKENIZER: Final = {
    "version": "1.0",
    "added_tokens": [],
    "pre_tokenizer": {"type": "Whitespace"},
    "model": {"type": "WordLevel", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]"},
}
"""The least that vllm-rs accepts: it starts only with a tokenizer."""


@dataclass(frozen=True, slots=True)
class Work:
    """A closed loop.

    Attributes:
        pace: The server's.
        streams: Requests in flight at once.
        requests: How many in total.
    """

    pace: Pace
    streams: int
    requests: int

    @property
    def possible(self) -> float:
        """Requests per second of a client that loses no time, once all streams are open."""
        return self.streams / self.pace.whole_ms * 1e3


@dataclass(frozen=True, slots=True)
class Lost:
    """Where a closed loop loses time, by the server's clock, in ms.

    Attributes:
        ramp: From the first request to the first one of the last stream.
        late: How much longer than its pace the server took for a response: the mean.
        gap: From the end of a response to the request that takes its place: the mean.
    """

    ramp: float
    late: float
    gap: float

    def __str__(self) -> str:
        return f"ramp {self.ramp:.0f} ms, server late {self.late:.1f} ms, gaps {self.gap:.1f} ms"


@dataclass(frozen=True, slots=True)
class ClientRun:
    """What one run took.

    Attributes:
        requests_s: Requests per second, from the first request that the server received to its last token.
        cpu_s: CPU time of the whole client in that time, its start and its report left out.
        command_cpu_s: CPU time of the whole command.
        chunks: Chunks with a token that were sent.
        ttft_p99_off_ms: TTFT p99 as the client reports it - as the server knows it.
        peak_mb: The peak of PSS over all processes in that time; None where memory was not sampled.
        server_share: The share of its core that the server used in that time.
        at_limit: Whether the client reports that it did not keep up, which makes its times invalid.
        lost: Where its time went.
    """

    requests_s: float
    cpu_s: float
    command_cpu_s: float
    chunks: int
    ttft_p99_off_ms: float
    peak_mb: float | None
    server_share: float
    at_limit: bool
    lost: Lost


def loadgen(cores: Cores, work: Work, *, workers: int | None = 1, memory: bool = False) -> ClientRun:
    """Run `loadgen perf`, with its full log and its report.

    Args:
        cores: Where client and server run.
        work: What to do.
        workers: None for as many as the program chooses.
        memory: Whether to sample memory, which delays the client.
    """
    with (
        TemporaryDirectory(prefix="loadgen-bench-") as folder,
        NativeServer(cores.server, work.pace) as server,
    ):
        command = [
            *PROGRAM,
            "perf",
            "--url",
            server.url,
            "--model",
            MODEL,
            "--quiet",
            "--out",
            f"{folder}/run",
        ]
        command += ["--concurrency", str(work.streams), "--requests", str(work.requests)]
        command += [] if workers is None else ["--workers", str(workers)]
        usage = _run(command, cores, server, memory=memory)
        report = json.loads(Path(folder, "run", "report.json").read_bytes())
    return _result(work, usage, server, report["ttft_ms"]["p99"])


def receiving(cores: Cores, work: Work) -> float:
    """The CPU time in s of a client in C that only receives: the least that the work takes on this core."""
    program = executable(Path(__file__).with_name("receiving_client.c"))
    with NativeServer(cores.server, work.pace) as server:
        port = server.url.rpartition(":")[2]
        with on_core(cores.client):
            process = subprocess.Popen([program, port, str(work.streams), str(work.requests)])
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{program} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


def vllm_rs(cores: Cores, work: Work, *, memory: bool = False) -> ClientRun | None:
    """Run `vllm-rs bench serve` with one thread for its tasks; None where VLLM_RS names no binary."""
    if not VLLM_RS:
        return None
    with TemporaryDirectory(prefix="vllm-bench-") as folder, NativeServer(cores.server, work.pace) as server:
        Path(folder, "tokenizer.json").write_text(json.dumps(_TOKENIZER))
        prompt = synthetic_prompts(1, seed=0).samples[0].prompt
        Path(folder, "prompts.jsonl").write_text(json.dumps({"prompt": prompt}))
        command = [VLLM_RS, "bench", "serve", "--backend", "openai-chat", "--base-url", server.url]
        command += ["--endpoint", "/v1/chat/completions", "--model", MODEL, "--tokenizer", folder]
        command += ["--dataset-name", "custom", "--dataset-path", f"{folder}/prompts.jsonl"]
        command += ["--custom-output-len", str(work.pace.tokens), "--num-prompts", str(work.requests)]
        command += ["--max-concurrency", str(work.streams), "--disable-tqdm"]
        command += ["--save-result", "--result-dir", folder, "--result-filename", "result.json"]
        usage = _run(command, cores, server, memory=memory, environment={"TOKIO_WORKER_THREADS": "1"})
        result = json.loads(Path(folder, "result.json").read_bytes())
    return _result(work, usage, server, result["p99_ttft_ms"])


@dataclass(frozen=True, slots=True)
class _Usage:
    client: Watch
    server: Watch
    command_cpu_s: float
    at_limit: bool


def _run(
    command: Sequence[str],
    cores: Cores,
    server: NativeServer,
    *,
    memory: bool,
    environment: Mapping[str, str] | None = None,
) -> _Usage:
    """Run a client to its end.

    Raises:
        RuntimeError: It failed; the message is its own.
    """
    with TemporaryDirectory() as folder, Path(folder, "errors").open("w+b") as errors:
        with on_core(cores.client):
            process = subprocess.Popen(
                command,
                env=os.environ | (environment or {}),
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
        with Watch(process.pid, memory=memory) as client, Watch(server.pid, memory=False) as served:
            _, status, used = os.wait4(process.pid, 0)
        # A client that ends right after its last request leaves no later sample.
        client.samples.append(Usage(time.monotonic_ns(), used.ru_utime + used.ru_stime, 0.0))
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, _INVALID):
            errors.seek(0)
            raise RuntimeError(f"{command[0]} ended with {process.returncode}: {errors.read().decode()}")
    at_limit = process.returncode == _INVALID
    return _Usage(client, served, used.ru_utime + used.ru_stime, at_limit)


def _result(work: Work, usage: _Usage, server: NativeServer, ttft_p99_ms: float) -> ClientRun:
    """Compare a run with the server's truth.

    Raises:
        RuntimeError: The server has finished other requests than those of the work.
    """
    served = server.served
    if len(served) != work.requests:
        raise RuntimeError(f"the server finished {len(served)} of {work.requests} requests")
    start_ns, end_ns = (
        min(request.received_ns for request in served),
        max(request.end_ns for request in served),
    )
    true_p99_ms = quantiles((request.ttft_ms for request in served), n=100, method="inclusive")[-1]
    seconds = (end_ns - start_ns) / 1e9
    return ClientRun(
        requests_s=work.requests / seconds,
        cpu_s=_between(usage.client, start_ns, end_ns),
        command_cpu_s=usage.command_cpu_s,
        chunks=work.requests * work.pace.tokens,
        ttft_p99_off_ms=ttft_p99_ms - true_p99_ms,
        peak_mb=usage.client.peak_mb(start_ns, end_ns),
        server_share=_between(usage.server, start_ns, end_ns) / seconds,
        at_limit=usage.at_limit,
        lost=_lost(work, served),
    )


def _lost(work: Work, served: Sequence[Served]) -> Lost:
    """Where the time of a closed loop went.

    The request of number `streams` + k takes the place of the one that ends as number k. Whichever stream
    that is, it holds for the means.
    """
    starts_ns = sorted(request.received_ns for request in served)
    ends_ns = sorted(request.end_ns for request in served)
    first_ns, late_starts_ns = starts_ns[0], starts_ns[work.streams :]
    whole_ns = fmean(request.end_ns - request.received_ns for request in served)
    gaps_ns = map(sub, late_starts_ns, ends_ns)
    return Lost(
        ramp=(starts_ns[work.streams - 1] - first_ns) / 1e6,
        late=whole_ns / 1e6 - work.pace.whole_ms,
        gap=fmean(gaps_ns) / 1e6,
    )


def _between(watch: Watch, start_ns: int, end_ns: int) -> float:
    """CPU time between two moments.

    Raises:
        RuntimeError: The process was not sampled on both sides of them.
    """
    cpu_s: Any = watch.cpu_s(start_ns, end_ns)
    if cpu_s is None:
        raise RuntimeError("the run was too short to sample its CPU time")
    return float(cpu_s)
