"""Other clients against servers with known answers: the reported figures and the errors of the figures.

    python benchmarks/other_clients/run.py [--tools NAME …] [--only shapes|times] [--shapes NAME …]
    python benchmarks/other_clients/run.py --readme      # write the tables from the stored results

Each client is installed with uv into a folder of `build/other_clients`. Results are stored in
`benchmarks/other_clients/results`, a file for each client; a run replaces what it measures again. Shapes are
measured on both cores at once; for times the client has one core and the server another. Clients keep their
own definitions; what is judged is the same in all: which requests are completed, how many output tokens they
have, and that TTFT does not end before the first token.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
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
from tools import TOOLS, Task, Tool  # noqa: E402

from loadgen.mock_endpoint.process import start_mock  # noqa: E402
from loadgen.mock_endpoint.scenarios.catalog import SCENARIOS  # noqa: E402
from loadgen.mock_endpoint.scenarios.timetable import FIRST_MS, TOKENS  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cores import Cores
    from native_server import Served

ENVIRONMENTS: Final = ROOT / "build" / "other_clients"
RESULTS: Final = Path(__file__).with_name("results")
PAGES: Final = (Path(__file__).with_name("README.md"), ROOT / "docs" / "other-clients.md")
SHAPES: Final = (
    *("plain", "role_early", "reasoning", "four_tokens_a_chunk", "silent_tokens", "no_usage"),
    *("usage_on_finish", "comments", "split_events", "error_frame", "json_error", "done_early", "gives_up"),
    *("http_503", "cut"),
)
REQUESTS: Final = 8
PACE: Final = Pace(ttft_ms=50, gap_ms=20, tokens=32)
LOADS: Final = {1: 20, 100: 1000, 1000: 2000}
"""Requests by streams."""
GIVE_UP_S: Final = 240
TIMED_OUT: Final = 124
TIMEOUT: Final = shutil.which("timeout") or "timeout"


class MissingToolError(Exception):
    """A client cannot be installed here; the message says why."""


def installed(tool: Tool) -> str:
    """The path of a client's program, which is installed if missing.

    Raises:
        MissingToolError: No such Python, or uv failed; the message is uv's.
    """
    if not tool.package:
        return tool.program
    folder = ENVIRONMENTS / re.split(r"[=\[ ]", tool.package)[0]
    if programs := list(folder.glob(tool.program)):
        return str(programs[0])
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
    return str(next(folder.glob(tool.program)))


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


def play(program: str, tool: Tool, task: Task, *, memory: bool = False) -> dict[str, Any]:
    """Run a client.

    Returns:
        Its figures, or `failed` in words; the CPU time of the whole command in s, and with `memory` the peak
        of PSS over all of its processes in MB.
    """
    tokenizer(task.folder / "tokenizer")
    settings = {"PYTHONWARNINGS": "ignore", "TOKIO_WORKER_THREADS": "1"}
    with (task.folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [TIMEOUT, "--kill-after", "5", str(GIVE_UP_S), program, *tool.command(task)],
            cwd=task.folder,
            stdout=output,
            stderr=output,
            env=os.environ | settings,
        )
        with Watch(process.pid, memory=memory, interval_s=1) as watch:
            _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    result: dict[str, Any]
    try:
        result = asdict(tool.figures(task))
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        last = (task.folder / "output").read_text(errors="replace").strip().splitlines()[-1:]
        print(*last, file=sys.stderr)
        result = {"failed": f"exit {process.returncode}, no figures ({type(error).__name__})"}
        if process.returncode == TIMED_OUT:
            result = {"failed": f"no end in {GIVE_UP_S} s"}
    result["cpu_s"] = round(used.ru_utime + used.ru_stime, 1)
    if memory:
        result["peak_mb"] = round(watch.peak_mb() or 0)
    return result


def shapes(programs: Mapping[str, str], names: Sequence[str]) -> None:
    """Store every client's figures by scenario; a client on each core."""
    with start_mock(scenario="plain") as mock, ThreadPoolExecutor(os.cpu_count()) as pool:
        base = mock.url.removesuffix("/v1")

        def of_client(name: str) -> None:
            for shape in names:
                with TemporaryDirectory() as folder:
                    task = Task(f"{base}/{shape}", 2, REQUESTS, TOKENS, Path(folder))
                    result = play(programs[name], TOOLS[name], task)
                stored = store(name, "shapes", {shape: result})
                print(f"{name}, {shape}: {judged(shape, stored['shapes'])}", file=sys.stderr, flush=True)

        list(pool.map(of_client, programs))


def judged(shape: str, results: Mapping[str, Mapping[str, Any]]) -> str:
    """The verdict on a client's figures of a scenario: "right", or the errors.

    genai-bench ends at a time, after more requests than those asked for, which is granted.
    """
    if (result := results.get(shape)) is None:
        return "-"
    # A client that works may end with an error where every request fails.
    failed = result.get("failed", "")
    if failed.startswith("no end") or "failed" in results.get("plain", {}):
        return failed or "plain failed"
    completed = result.get("completed", 0)
    if not SCENARIOS[shape].completes:
        return f"{completed} of {max(completed, REQUESTS)} completed" if completed else "right"
    if failed:
        return str(failed).partition(" (")[0]
    wrong = []
    if completed < REQUESTS:
        wrong.append(f"{completed} of {REQUESTS} completed")
    elif result["output_tokens"] != TOKENS * completed and shape != "no_usage":
        wrong.append(f"{(result['output_tokens'] or 0) / completed:.3g} of {TOKENS} tokens")
    ttft_ms = result["ttft_p50_ms"]
    if ttft_ms is not None and completed and ttft_ms < FIRST_MS * 3 / 4:
        wrong.append(f"TTFT {ttft_ms:.2g} of {FIRST_MS:.0f} ms")
    return "; ".join(wrong) or "right"


def times(cores: Cores, programs: Mapping[str, str], loads: Sequence[int]) -> None:
    """Store every client's figures by streams, with the native server's truth."""
    for streams in loads:
        for name, program in programs.items():
            row = timed(cores, program, TOOLS[name], streams)
            store(name, "times", {str(streams): row})
            print(name, streams, json.dumps(row), file=sys.stderr, flush=True)


def timed(cores: Cores, program: str, tool: Tool, streams: int) -> dict[str, Any]:
    """A run at a number of streams."""
    with TemporaryDirectory() as folder, NativeServer(cores.server, PACE) as server:
        task = Task(server.url, streams, LOADS[streams], PACE.tokens, Path(folder))
        with Watch(server.pid, memory=False) as watch, on_core(cores.client):
            result = play(program, tool, task, memory=True)
    # A request that a client sends first, to learn whether the server is there, is not among its figures.
    served = sorted(server.served, key=lambda request: request.received_ns)[-result.get("completed", 0) :]
    return {**result, "true": truth(served, watch)} if served and "failed" not in result else result


def truth(served: Sequence[Served], server: Watch) -> dict[str, float]:
    """The server's side of a run: true figures, how late it sent tokens, and the share of its core in use."""
    start_ns, end_ns = served[0].received_ns, max(request.end_ns for request in served)
    seconds = (end_ns - start_ns) / 1e9
    ttft_ms = [request.ttft_ms for request in served]
    late_ms = [request.ttft_ms - PACE.ttft_ms for request in served]
    gaps_ms = [(each.sent_ns[-1] - each.sent_ns[0]) / 1e6 / (len(each.sent_ns) - 1) for each in served]
    figures = {
        "requests_s": len(served) / seconds,
        "ttft_p50_ms": median(ttft_ms),
        "ttft_p99_ms": _p99(ttft_ms),
        "tpot_ms": fmean(gaps_ms),
        "server_late_p99_ms": _p99(late_ms),
        "server_share": (server.cpu_s(start_ns, end_ns) or 0.0) / seconds,
    }
    return {name: round(figure, 4) for name, figure in figures.items()}


def _p99(values: Sequence[float]) -> float:
    return quantiles(values, n=100, method="inclusive")[-1]


def store(name: str, part: str, results: Mapping[str, Any]) -> dict[str, Any]:
    """Add results to the file of a client, in place of earlier ones; return all that it has."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{re.sub('[^a-z]+', '-', name.lower()).strip('-')}.json"
    stored = json.loads(path.read_bytes()) if path.exists() else {}
    package = TOOLS[name].package
    stored |= {"client": name, "package": package, "date": f"{datetime.now(UTC):%Y-%m-%d}"}
    stored["machine"] = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}"
    stored[part] = {**stored.get(part, {}), **results}
    path.write_text(json.dumps(stored, indent=1) + "\n")
    return stored


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def shapes_table(stored: Sequence[Mapping[str, Any]]) -> str:
    """What each client reports of each scenario."""
    clients = [client for client in stored if "shapes" in client]
    rows = [
        [
            f"`{shape}`: {SCENARIOS[shape].about}",
            *(judged(shape, client["shapes"]) for client in clients),
        ]
        for shape in SHAPES
    ]
    return table(["server", *(client["client"] for client in clients)], rows)


def times_table(stored: Sequence[Mapping[str, Any]]) -> str:
    """Each client's figures minus the server's."""
    header = ["streams", "client", "TTFT p50 off (ms)", "TTFT p99 off (ms)", "TPOT off (ms)", "rate off"]
    header += [
        "rate to possible",
        "CPU of the command (s)",
        "memory (MB)",
        "server late p99 (ms)",
        "server busy",
    ]
    rows = []
    for streams in LOADS:
        for client in stored:
            if (row := client.get("times", {}).get(str(streams))) is None:
                continue
            cells = _cells(row, streams) if "true" in row else [row.get("failed", "no request"), *["-"] * 8]
            rows.append([f"{streams:,}", client["client"], *cells])
    return table(header, rows)


def _cells(row: Mapping[str, Any], streams: int) -> Iterable[str]:
    true = row["true"]
    for name, form in (("ttft_p50_ms", "+,.2f"), ("ttft_p99_ms", "+,.2f"), ("tpot_ms", "+.3f")):
        yield "-" if row[name] is None else format(row[name] - true[name], form)
    rate = row["requests_s"]
    yield "-" if rate is None else f"{100 * (rate / true['requests_s'] - 1):+.1f} %"
    yield f"{100 * true['requests_s'] / (streams / PACE.whole_ms * 1e3):.0f} %"
    yield f"{row['cpu_s']:.1f}"
    yield f"{row['peak_mb']:,}"
    yield f"{true['server_late_p99_ms']:.2f}"
    yield f"{100 * true['server_share']:.0f} %"


def summary_table(stored: Sequence[Mapping[str, Any]]) -> str:
    """A line for each client, for the documentation."""
    rows = []
    for client in stored:
        verdicts = [judged(shape, client["shapes"]) for shape in client.get("shapes", {})]
        row = client.get("times", {}).get("100", {})
        off = list(_cells(row, 100)) if "true" in row else ["-"] * 6
        package = client["package"].split("@")[-1][:7] if " @ " in client["package"] else client["package"]
        wrong = f"{len(verdicts) - verdicts.count('right')} of {len(verdicts)}" if verdicts else "-"
        rows.append([client["client"], package or "this", wrong, off[0], off[2], off[5]])
    header = ["client", "package", "shapes reported wrongly", "TTFT p50 off (ms)", "TPOT off (ms)", "CPU (s)"]
    return table(header, rows)


def write_pages() -> None:
    """Replace what is between `<!-- NAME -->` and `<!-- /NAME -->` in the pages."""
    order = list(TOOLS)
    stored = sorted(
        (json.loads(path.read_bytes()) for path in RESULTS.glob("*.json")),
        key=lambda client: order.index(client["client"]),
    )
    dates = sorted({client["date"] for client in stored})
    parts = {
        "shapes": shapes_table(stored),
        "times": times_table(stored),
        "summary": summary_table(stored),
        "measured": f"Measured {' to '.join(dict.fromkeys((dates[0], dates[-1])))}, {stored[0]['machine']}.",
    }
    for page in PAGES:
        written = re.sub(
            r"(?s)<!-- (\w+) -->\n.*?<!-- /\1 -->",
            lambda match: f"<!-- {match[1]} -->\n{parts[match[1]]}\n<!-- /{match[1]} -->",
            page.read_text(),
        )
        page.write_text(written)


def main() -> None:
    """Run, and store the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--only", choices=["shapes", "times"])
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    parser.add_argument("--loads", nargs="+", type=int, choices=LOADS, default=list(LOADS))
    parser.add_argument("--readme", action="store_true", help="write the tables from the stored results")
    options = parser.parse_args()
    if options.readme:
        return write_pages()
    programs: dict[str, str] = {}
    for name in options.tools:
        try:
            programs[name] = installed(TOOLS[name])
        except MissingToolError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    if options.only != "times":
        shapes(programs, options.shapes)
    if options.only != "shapes":
        times(choose(), programs, options.loads)
    return None


if __name__ == "__main__":
    main()
