"""Measure real engines on the CPU with tiny models, and compare the figures with the engines' own counters.

    python -m benchmarks.engines [--only NAME ...] [--out FOLDER]

Each engine is installed into build/engines on its first use. OUT (build/engines/results) gets NAME.json with
commands, exit codes, counters and the rows of the printed table, and a folder a server with its log and runs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, Final

from benchmarks.engines import infinity, litellm_proxy, llama_cpp, transformers_serve, triton, vllm_cpu
from benchmarks.engines.engine import BUILD, ROOT, Row, Server, Step, filled, page, rows, served

if TYPE_CHECKING:
    from collections.abc import Mapping

ENGINES: Final = {
    "vllm": vllm_cpu,
    "llama.cpp": llama_cpp,
    "infinity": infinity,
    "transformers": transformers_serve,
    "litellm": litellm_proxy,
    "triton": triton,
}
LOADGEN: Final = Path(sys.executable).with_name("loadgen")


def main() -> None:
    """Install, measure and compare; exit code 1 where a count differs or a command failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=ENGINES, help="repeatable; default: all")
    parser.add_argument("--out", type=Path, default=BUILD / "results")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    records = []
    for name in chosen.only or ENGINES:
        own: list[dict[str, Any]] = []
        try:
            ENGINES[name].install()
            own.extend(
                measured(server, chosen.out.resolve() / slug(server.name)) for server in ENGINES[name].SERVERS
            )
        except (OSError, subprocess.CalledProcessError) as error:
            own.append({"server": name, "failure": f"not installed: {error}", "rows": [], "steps": []})
        finally:  # also the servers before an interrupt
            (chosen.out / f"{name}.json").write_text(json.dumps(own, indent=1, default=asdict))
        records += own
    print(table(records))
    sys.exit(any(has_failed(record) for record in records))


def slug(name: str) -> str:
    """A folder's name for a server."""
    return "-".join("".join(letter if letter.isalnum() else " " for letter in name.lower()).split())


def measured(server: Server, folder: Path) -> dict[str, Any]:
    """Start a server, take the steps, and stop the server."""
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    version = subprocess.run(server.version, capture_output=True, text=True, check=True)
    record: dict[str, Any] = {
        "server": server.name,
        "version": version.stdout.strip(),
        "steps": [],
        "rows": [],
    }
    try:
        with served(server, folder / "server.log") as values:
            for step in server.steps:
                taken(server, step, folder, record, values)
    except RuntimeError as error:
        record["failure"] = str(error)
    return record


def taken(
    server: Server, step: Step, folder: Path, record: dict[str, Any], values: Mapping[str, str]
) -> None:
    """Run a command, and add the result to the record."""
    runs = {f"{{{earlier.name}}}": str(folder / slug(earlier.name)) for earlier in server.steps}
    own, metrics = folder / slug(step.name), values["{metrics}"]
    command = [
        str(LOADGEN),
        *(filled(word, {"{model}": server.model, **values, **runs}) for word in step.arguments),
    ]
    if step.arguments[0] != "compare":
        command += [] if "--url" in step.arguments else ["--url", values["{url}"]]
        command += [] if {"--model", "--models"} & {*step.arguments} else ["--model", server.model]
    if step.arguments[0] not in {"check", "compare"}:
        command += ["--quiet", "--out", str(own)]
    if step.arguments[0] in {"perf", "accuracy"}:  # counts are equal on a busy machine, too
        command += ["--on-invalid", "warn"]
    before, began = page(metrics), time.monotonic()
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    wall_s, after = time.monotonic() - began, settled(metrics)
    (folder / f"{slug(step.name)}.txt").write_text(ended.stdout + ended.stderr)
    failed = ended.returncode not in step.allowed
    print(f"{server.name}: {step.name}: exit {ended.returncode}, {wall_s:.0f} s", flush=True)
    if failed:
        print(ended.stdout[-1500:] + ended.stderr[-1500:], flush=True)
    record["steps"].append(
        {
            "name": step.name,
            "command": command[1:],
            "exit": ended.returncode,
            "failed": failed,
            "wall_s": wall_s,
        }
        | {"before": before, "after": after}
    )
    if step.pairs and not failed:
        record["rows"] += rows(server, record["version"], step, own, before, after)


def settled(metrics: str) -> dict[str, float]:
    """The counters once two readings are equal: engines count a request some time after the last byte."""
    earlier = page(metrics)
    for _ in range(20):
        time.sleep(0.5)
        later = page(metrics)
        if without_process(later) == without_process(earlier):
            break
        earlier = later
    return earlier


def without_process(counters: dict[str, float]) -> dict[str, float]:
    """The counters of requests, without those of the process and of HTTP, which each reading changes."""
    return {
        name: value
        for name, value in counters.items()
        if not name.startswith(("process_", "python_", "http_"))
    }


def has_failed(record: dict[str, Any]) -> bool:
    """Whether a server did not start, a command failed, or a count differs."""
    return (
        "failure" in record
        or any(step["failed"] for step in record["steps"])
        or any(row.differs for row in record["rows"])
    )


def table(records: list[dict[str, Any]]) -> str:
    """The rows of all servers as Markdown, and the failures below."""
    lines = ["| engine | run | figure | client | engine's own | |", "|---|---|---|---:|---:|---|"]
    for record in records:
        lines += [line(row) for row in record["rows"]]
    for record in records:
        if "failure" in record:
            lines.append(f"\n{record['server']}: {record['failure']}")
        lines += [
            f"\n{record['server']}: {step['name']}: exit {step['exit']}"
            for step in record["steps"]
            if step["failed"]
        ]
    return "\n".join(lines)


def line(row: Row) -> str:
    """A row of the table: a count is equal or differs, a time has a difference."""
    if row.client is None or row.engine is None:
        verdict = "not stated"
    elif row.exact:
        verdict = "DIFFERS" if row.differs else "equal"
    else:
        verdict = f"{row.client - row.engine:+,.1f}"
    shown = [
        "-" if value is None else f"{value:,.0f}" if row.exact else f"{value:,.1f}"
        for value in (row.client, row.engine)
    ]
    return f"| {row.server} {row.version} | {row.step} | {row.quantity} | {' | '.join(shown)} | {verdict} |"


if __name__ == "__main__":
    main()
