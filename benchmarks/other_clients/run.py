"""Other clients against servers with known answers: the reported figures and the errors of the figures.

    python benchmarks/other_clients/run.py [--tools NAME …] [--only shapes|times] [--shapes NAME …] [--out F]

Each client is installed with uv into `build/other_clients/NAME`. The client runs on one core, the server on
another. Clients keep their own definitions; what is judged is the same in all: which requests are completed,
how many output tokens they have, and that TTFT does not end before the first token.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from statistics import fmean, median, quantiles
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from cores import choose, on_core  # noqa: E402 (its folder is added above)
from native_server import NativeServer  # noqa: E402
from process_tree import Watch  # noqa: E402
from timed_run import Pace  # noqa: E402
from tools import MODEL, TOOLS, Figures, Task, Tool  # noqa: E402

from loadgen.mock_endpoint.process import start_mock  # noqa: E402
from loadgen.mock_endpoint.scenarios.catalog import SCENARIOS  # noqa: E402
from loadgen.mock_endpoint.scenarios.timetable import FIRST_MS, TOKENS  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cores import Cores
    from native_server import Served

ENVIRONMENTS: Final = ROOT / "build" / "other_clients"
SHAPES: Final = (
    *("plain", "role_early", "reasoning", "four_tokens_a_chunk", "silent_tokens", "no_usage"),
    *("usage_on_finish", "comments", "split_events", "error_frame", "json_error", "done_early", "gives_up"),
    *("http_503", "cut"),
)
REQUESTS: Final = 8
PACE: Final = Pace(ttft_ms=50, gap_ms=10, tokens=64)
LOADS: Final = {1: 20, 100: 600, 1000: 4000}
"""Requests by streams."""
GIVE_UP_S: Final = 300.0


class MissingToolError(Exception):
    """A client cannot be installed here; the message says why."""


def installed(name: str, tool: Tool) -> str:
    """The path of a client's program, which is installed if missing.

    Raises:
        MissingToolError: No such Python, or uv failed; the message is uv's.
    """
    if not tool.package:
        return tool.program
    folder = ENVIRONMENTS / name
    program = folder / "bin" / tool.program
    if name == "vllm-rs" and (binary := os.environ.get("VLLM_RS")):
        return binary
    if program.exists():
        return str(program)
    python = shutil.which(f"python{tool.python[0]}.{tool.python[1]}") or sys.executable
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv is None:
        raise MissingToolError("uv installs it: pip install uv")
    steps = (
        [uv, "venv", "--python", python, folder],
        [uv, "pip", "install", "--python", folder, tool.package],
    )
    for step in steps:
        done = subprocess.run([*map(str, step)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise MissingToolError(done.stderr.strip().splitlines()[-1])
    return str(program)


def tokenizer(folder: Path) -> None:
    """A tokenizer of words, for which each word of the servers is a token."""
    words = [f"w{number}" for number in range(2000)]
    vocabulary = {word: number for number, word in enumerate(["[UNK]", "</s>", *words])}
    model = {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}
    form = {"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"}, "model": model}
    template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]", "eos_token": "</s>"}
    folder.mkdir()
    (folder / "tokenizer.json").write_text(json.dumps(form))
    (folder / "tokenizer_config.json").write_text(json.dumps({**config, "chat_template": template}))


def play(program: str, tool: Tool, task: Task) -> Figures | str:
    """Run a client; return the figures, or the failure in words."""
    tokenizer(task.folder / "tokenizer")
    try:
        done = subprocess.run(
            [program, *tool.command(task)],
            cwd=task.folder,
            capture_output=True,
            text=True,
            timeout=GIVE_UP_S,
            check=False,
            env=os.environ | {"PYTHONWARNINGS": "ignore", "TOKIO_WORKER_THREADS": "1"},
        )
    except subprocess.TimeoutExpired:
        return f"no end in {GIVE_UP_S:.0f} s"
    try:
        return tool.figures(task)
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        return f"exit {done.returncode}, no figures ({type(error).__name__})"


def shapes(cores: Cores, programs: Mapping[str, str], names: Sequence[str]) -> dict[str, Any]:
    """The verdict on every client's figures by scenario: "right", or the errors."""
    verdicts: dict[str, Any] = {}
    with on_core(cores.server), start_mock(scenario="plain") as mock:
        base = mock.url.removesuffix("/v1")
        for name, program in programs.items():
            for shape in names:
                with TemporaryDirectory() as folder, on_core(cores.client):
                    task = Task(f"{base}/{shape}", 2, REQUESTS, TOKENS, Path(folder))
                    figures = play(program, TOOLS[name], task)
                verdicts.setdefault(shape, {})[name] = judged(shape, figures)
                if shape == "plain" and verdicts[shape][name] != "right":
                    print(figures, file=sys.stderr)
                print(f"{name}, {shape}: {verdicts[shape][name]}", file=sys.stderr, flush=True)
    return verdicts


def judged(shape: str, figures: Figures | str) -> str:
    """The verdict on the figures of a scenario: "right", or the errors.

    genai-bench ends at a time, after more requests than those asked for, which is granted.
    """
    if not SCENARIOS[shape].completes:
        # A client may also end with an error where no request is completed.
        completed = 0 if isinstance(figures, str) else figures.completed
        return f"{completed} reported as completed" if completed else "right"
    if isinstance(figures, str):
        return figures
    wrong = []
    if figures.completed < REQUESTS:
        wrong.append(f"{figures.completed} of {REQUESTS} completed")
    elif figures.output_tokens != TOKENS * figures.completed and SCENARIOS[shape].name != "no_usage":
        wrong.append(f"{(figures.output_tokens or 0) / figures.completed:.3g} of {TOKENS} tokens")
    late_ms = (figures.ttft_p50_ms or 0.0) - FIRST_MS
    if figures.ttft_p50_ms is not None and figures.completed and late_ms < -FIRST_MS / 4:
        wrong.append(f"TTFT {figures.ttft_p50_ms:.2g} of {FIRST_MS:.0f} ms")
    return "; ".join(wrong) or "right"


def times(cores: Cores, programs: Mapping[str, str], rounds: int) -> list[dict[str, Any]]:
    """The differences of every client's figures from the native server's, with CPU time and memory."""
    rows = []
    for streams, requests in LOADS.items():
        for _ in range(rounds):
            for name, program in programs.items():
                row = {
                    "tool": name,
                    "streams": streams,
                    **timed(cores, program, TOOLS[name], streams, requests),
                }
                print(json.dumps(row), file=sys.stderr, flush=True)
                rows.append(row)
    return rows


def timed(cores: Cores, program: str, tool: Tool, streams: int, requests: int) -> dict[str, Any]:
    """A run at a number of streams."""
    with TemporaryDirectory() as folder, NativeServer(cores.server, PACE) as server:
        task = Task(server.url, streams, requests, PACE.tokens, Path(folder))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with on_core(cores.client), Watch(os.getpid(), memory=True, interval_s=1) as watch:
            figures = play(program, tool, task)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    served = server.served
    if isinstance(figures, str) or not served:
        return {"failed": figures if isinstance(figures, str) else "no request"}
    cpu_s = sum(getattr(after, part) - getattr(before, part) for part in ("ru_utime", "ru_stime"))
    return {
        "requests": len(served),
        "completed": figures.completed,
        **off(figures, served),
        "rate_share": rate_share(served, streams),
        "command_cpu_s": cpu_s,
        "peak_mb": max((sample.memory_mb for sample in watch.samples), default=None),
    }


def off(figures: Figures, served: Sequence[Served]) -> dict[str, float | None]:
    """Reported minus true."""
    ttft_ms = [request.ttft_ms for request in served]
    gaps_ms = [(each.sent_ns[-1] - each.sent_ns[0]) / 1e6 / (len(each.sent_ns) - 1) for each in served]
    true = {
        "ttft_p50_ms": median(ttft_ms),
        "ttft_p99_ms": quantiles(ttft_ms, n=100, method="inclusive")[-1],
        "tpot_ms": fmean(gaps_ms),
    }
    reported = asdict(figures)
    return {
        f"{name}_off": None if reported[name] is None else reported[name] - value
        for name, value in true.items()
    }


def rate_share(served: Sequence[Served], streams: int) -> float:
    """Requests per second relative to a client that loses no time."""
    start_ns = min(request.received_ns for request in served)
    seconds = (max(request.end_ns for request in served) - start_ns) / 1e9
    return len(served) / seconds / (streams / PACE.whole_ms * 1e3)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def shown(result: Mapping[str, Any]) -> str:
    """The tables of a result."""
    tools = result["tools"]
    parts = []
    if verdicts := result.get("shapes"):
        rows = [
            [f"`{shape}`: {SCENARIOS[shape].about}", *map(verdicts[shape].get, tools)] for shape in verdicts
        ]
        parts.append(table(["server", *tools], rows))
    rows = []
    for streams in LOADS:
        for name in tools:
            of = [row for row in result.get("times", ()) if (row["tool"], row["streams"]) == (name, streams)]
            if of:
                rows.append([f"{streams:,}", name, *_middle(of)])
    if rows:
        header = ["streams", "client", "TTFT p50 off (ms)", "TTFT p99 off (ms)", "TPOT off (ms)"]
        parts.append(table([*header, "rate to possible", "CPU of the command (s)", "memory (MB)"], rows))
    return "\n\n".join(parts)


def _middle(rows: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    for name, form in (
        *(("ttft_p50_ms_off", "{:+.2f}"), ("ttft_p99_ms_off", "{:+.2f}"), ("tpot_ms_off", "{:+.3f}")),
        *(("rate_share", "{:.1%}"), ("command_cpu_s", "{:.1f}"), ("peak_mb", "{:,.0f}")),
    ):
        values = [row[name] for row in rows if row.get(name) is not None]
        yield form.format(median(values)) if values else rows[0].get("failed", "-")


def main() -> None:
    """Run, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--only", choices=["shapes", "times"])
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    parser.add_argument("--rounds", type=int, default=3, help="of the times; 3 by default")
    parser.add_argument("--out", type=Path, help="where the raw results go, as JSON")
    options = parser.parse_args()
    cores = choose()
    print(f"{cores}; model {MODEL}", file=sys.stderr)
    programs: dict[str, str] = {}
    for name in options.tools:
        try:
            programs[name] = installed(name, TOOLS[name])
        except MissingToolError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    packages = {name: TOOLS[name].package for name in programs}
    result: dict[str, Any] = {"tools": list(programs), "packages": packages, "cores": str(cores)}
    if options.only != "times":
        result["shapes"] = shapes(cores, programs, options.shapes)
    if options.only != "shapes":
        result["times"] = times(cores, programs, options.rounds)
    if options.out:
        options.out.write_text(json.dumps(result, indent=1))
    print(shown(result))


if __name__ == "__main__":
    main()
