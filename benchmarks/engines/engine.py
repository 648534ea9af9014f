"""The server of an engine: start, measured steps, and counters to compare with."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from prometheus_client.parser import text_string_to_metric_families

from reporter.log.database import open_log
from reporter.log.tables import big_tables_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT: Final = Path(__file__).parents[2]
BUILD: Final = ROOT / "build" / "engines"
MODELS: Final = BUILD / "models"
HERE: Final = Path(__file__).parent
READY_S: Final = 600.0
STOP_S: Final = 30.0
_PORTS: Final = ("{port}", "{port2}", "{port3}")
OFFLINE: Final = {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "OMP_NUM_THREADS": "1",  # leaves a core to the load generator
}

CHECK: Final = ("check",)
COMPARE: Final = ("compare",)


@dataclass(frozen=True, slots=True)
class Pair:
    """A quantity of both sides: SQL on the run's log, and the growth of counters of the engine."""

    quantity: str
    sql: str
    counters: Sequence[str]  #: their sum
    per: str | None = None  #: a counter that the sum is divided by, for a mean
    scale: float = 1.0
    exact: bool = True  #: a count must be the same, a time is only shown


@dataclass(frozen=True, slots=True)
class Step:
    """A loadgen command; `{url}`, `{port2}`, `{metrics}` and earlier steps' names in braces are replaced."""

    name: str
    arguments: Sequence[str]
    pairs: Sequence[Pair] = ()
    allowed: Sequence[int] = (0,)  #: exit codes


@dataclass(frozen=True, slots=True)
class Server:
    """A command that starts an engine, and the steps against the engine."""

    name: str
    version: Sequence[str]  #: a command that prints it
    command: Sequence[str]  #: `{port}`, `{port2}` and `{port3}` are replaced
    model: str
    steps: Sequence[Step]
    environment: Mapping[str, str] = field(default_factory=dict)
    ready: str = "/health"
    metrics: str = "{url}/metrics"
    behind: Server | None = None  #: the server that this one forwards to, as `{backend}` in the command


@dataclass(frozen=True, slots=True)
class Row:
    """A figure of both sides."""

    server: str
    version: str
    step: str
    quantity: str
    client: float | None
    engine: float | None
    exact: bool

    @property
    def differs(self) -> bool:
        """Whether a count differs between the two sides."""
        return self.exact and self.client != self.engine


def grown(before: Mapping[str, float], after: Mapping[str, float], names: Sequence[str]) -> float | None:
    """The sum of the growth of counters; None where the page has no such counter."""
    present = [name for name in names if name in after]
    return sum(after[name] - before.get(name, 0.0) for name in present) if present else None


def counters_of(page: str) -> dict[str, float]:
    """Samples of a Prometheus page by name, with a `handler` also by name and path; no buckets."""
    sums: Counter[str] = Counter()
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            if sample.name.endswith(("_bucket", "_created")):
                continue
            sums[sample.name] += sample.value
            if "handler" in sample.labels:
                sums[f"{sample.name} {sample.labels['handler']}"] += sample.value
    return dict(sums)


def rows(
    server: Server,
    version: str,
    step: Step,
    run: Path,
    before: Mapping[str, float],
    after: Mapping[str, float],
) -> Iterator[Row]:
    """The pairs of a step, from the run's log and two readings of the engine's counters."""
    with open_log(run, big_tables_in(" ".join(pair.sql for pair in step.pairs))) as log:
        for pair in step.pairs:
            ((client,),) = log.execute(pair.sql).fetchall()
            engine = grown(before, after, pair.counters)
            if engine is not None and pair.per is not None:
                count = grown(before, after, [pair.per])
                engine = engine / count if count else None
            yield Row(
                server.name,
                version,
                step.name,
                pair.quantity,
                None if client is None else float(client),
                None if engine is None else engine * pair.scale,
                pair.exact,
            )


def environment(name: str) -> Path:
    """The interpreter of an engine's environment, which has the lines of NAME.txt."""
    folder, wanted = BUILD / name, (HERE / f"{name}.txt").read_text()
    python, stamp = folder / "bin" / "python", folder / "installed.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        subprocess.run([*pip, "--no-deps", "-r", HERE / f"{name}.txt"], check=True)
        stamp.write_text(wanted)
    return python


def make_models(python: Path, models: Sequence[Sequence[str]]) -> None:
    """Make the missing models by the arguments of tiny_models.py."""
    for kind, *names in models:
        paths = [MODELS / name for name in names]
        subprocess.run(
            [python, HERE / "tiny_models.py", kind, *paths], check=True, env={**os.environ, **OFFLINE}
        )


@contextmanager
def served(server: Server, log: Path) -> Iterator[Mapping[str, str]]:
    """Run a server and the one behind; yield URL and ports of the first, and the `{metrics}` of the last."""
    if server.behind is None:
        with _process(server, log, {}) as values:
            yield values
        return
    with (
        _process(server.behind, log.with_suffix(".backend.log"), {}) as behind,
        _process(server, log, {"{backend}": behind["{url}"]}) as values,
    ):
        yield {**values, "{metrics}": behind["{metrics}"]}


@contextmanager
def _process(server: Server, log: Path, more: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    with ExitStack() as probes:
        sockets = [probes.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in _PORTS]
        ports = [str(probe.getsockname()[1]) for probe in sockets]
    url = f"http://127.0.0.1:{ports[0]}"
    values = {**more, "{url}": url, **dict(zip(_PORTS, ports, strict=True))}
    values["{metrics}"] = filled(server.metrics, values)
    command = [filled(word, values) for word in server.command]
    environment = {
        **os.environ,
        **OFFLINE,
        **{name: filled(value, values) for name, value in server.environment.items()},
    }
    with log.open("wb") as sink:
        process = subprocess.Popen(
            command, cwd=BUILD, env=environment, stdout=sink, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        _await(url + server.ready, process, log)
        yield values
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_S)
        process.kill()
        process.wait()


def _await(url: str, process: subprocess.Popen[Any], log: Path) -> None:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(url, timeout=5):  # noqa: S310 (our own http URL)
            return
        time.sleep(0.5)
    message = f"the server does not answer {url}; the end of {log}:\n{log.read_text()[-2000:]}"
    raise RuntimeError(message)


def page(url: str) -> dict[str, float]:
    """The counters of a metrics page; none where the server has no such page."""
    try:
        with urllib.request.urlopen(url, timeout=10) as response:  # noqa: S310 (our own http URL)
            return counters_of(response.read().decode())
    except OSError:
        return {}


def filled(word: str, values: Mapping[str, str]) -> str:
    """The word with each name in braces replaced."""
    for name, value in values.items():
        word = word.replace(name, value)
    return word
