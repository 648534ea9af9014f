"""`--gpu-metrics` in a real run: NVIDIA's package over a stand-in for its library, DCGM over a socket."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.mock_endpoint.process import start_mock
from recorder.event import EventType
from reporter.telemetry.energy_figures import COLUMNS
from tests.admission import Admission
from tests.conftest import clean_environment
from tests.remembered_logs import query
from tests.system.conftest import WatchedRun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.preloaded import Preloaded

pytestmark = pytest.mark.usefixtures("remembered_logs")

WATTS_0, WATTS_PER_S = 300.0, 30.0
"""What both GPUs draw together at the start, and how it grows."""


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder with the stand-in."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    folder = tmp_path_factory.mktemp("nvml")
    source = Path(__file__).with_name("nvml_stand_in.c")
    target = folder / "libnvidia-ml.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(target), str(source)], check=True)
    return str(folder)


@pytest.fixture
def gpus(library: str) -> dict[str, str]:
    """The environment with two GPUs that begin to count now."""
    return clean_environment(LD_LIBRARY_PATH=library, STAND_IN_T0_NS=str(time.monotonic_ns()))


OPTIONS: tuple[Any, ...] = (
    *("--model", "m", "-n", 40, "-c", 4, "-q", "--out", "run", "--on-invalid", "warn", "--warmup", 5),
    *("--gpu-metrics", "nvml", "--gpu-metrics-interval", "50ms"),
)


def report_of(folder: Path) -> dict[str, Any]:
    """The run's report."""
    report: dict[str, Any] = orjson.loads((folder / "report.json").read_bytes())
    return report


def codes(report: dict[str, Any]) -> dict[str, str]:
    """The findings' messages."""
    return {finding["code"]: finding["message"] for finding in report["findings"]}


def measured(preloaded: Preloaded, folder: Path, environment: dict[str, str], *more: Any) -> dict[str, Any]:
    """The report of a run on these GPUs."""
    with start_mock(ttft="20ms", itl="5ms", tokens="8") as mock:
        run = preloaded.run("perf", "--url", mock.url, *OPTIONS, *more, cwd=folder, env=environment)
    assert run.returncode == 0, run.stderr
    return report_of(folder / "run")


def known_joules(folder: Path, t0_ns: int) -> tuple[float, float]:
    """Joules between the first and last readings, and how many those of a reading may be off by."""
    joules, slack = 0.0, 0.0
    spans = query(
        folder / "run",
        "SELECT labels['gpu']::INTEGER + 1, min(at_ns), max(at_ns), max(took_ms) FROM sensor_readings "
        "WHERE source = 'nvml' AND error IS NULL GROUP BY ALL",
    ).rows
    for factor, first_ns, last_ns, took_ms in spans:
        first, last = ((at_ns - t0_ns) / 1e9 for at_ns in (first_ns, last_ns))
        joules += factor * (100 * (last - first) + 5 * (last**2 - first**2))
        slack += factor * (100 + 10 * (last + took_ms / 1e3)) * took_ms / 1e3
    return joules, slack + 0.01


def assert_parts_add_up(energy: dict[str, Any]) -> None:
    """The shares and idling are the whole."""
    parts = sum(energy[f"{part}_joules"] for part in ("measured", "other", "idle"))
    assert parts == pytest.approx(energy["total_joules"])


def test_energy_is_the_integral_of_the_known_power(
    preloaded: Preloaded, tmp_path: Path, gpus: dict[str, str]
) -> None:
    """By the counters, and by the trapezoids of a power that grows evenly; each request has its share."""
    report = measured(preloaded, tmp_path, gpus, "--sample-results", "jsonl")
    energy = report["energy"]
    joules, slack = known_joules(tmp_path, int(gpus["STAND_IN_T0_NS"]))
    assert (energy["source"], energy["method"], energy["devices"]) == ("nvml", "counter", 2)
    assert energy["total_joules"] == pytest.approx(joules, abs=slack)
    assert energy["integral_share"] == pytest.approx(1, abs=slack / joules)
    assert_parts_add_up(energy)
    assert energy["other_joules"] > 0
    rows = [orjson.loads(line) for line in (tmp_path / "run" / "samples.jsonl").read_bytes().splitlines()]
    assert len(rows) == 40
    assert sum(row["energy_joules"] for row in rows) == pytest.approx(energy["measured_joules"])
    assert [row["gpu_utilization_pct"] for row in rows] == pytest.approx([90] * 40)
    assert min(row["power_watts"] for row in rows) > WATTS_0 - slack
    assert energy["stats"]["energy_joules"]["count"] == 40
    assert energy["window_joules"] / energy["joules_per_request"] == pytest.approx(40)
    assert set(COLUMNS) <= rows[0].keys()
    assert not {"energy_counter_reset", "energy_incomplete", "sensor_unread"} & codes(report).keys()
    gauges = query(tmp_path / "run", "SELECT DISTINCT name, unit FROM sensors WHERE source = 'nvml'").rows
    assert {"power", "utilization", "sm_clock"} <= {name.rpartition("_")[0] for name, _ in gauges}


@pytest.mark.slow
def test_counters_that_wrap_around(preloaded: Preloaded, tmp_path: Path, gpus: dict[str, str]) -> None:
    """In those spans the integral of the power counts; a finding says so."""
    # The second GPU uses 200 J in less than a second: more than between two readings, less than in the run.
    report = measured(preloaded, tmp_path, gpus | {"STAND_IN_WRAP_MJ": "200000"}, "-n", 80)
    energy = report["energy"]
    joules, slack = known_joules(tmp_path, int(gpus["STAND_IN_T0_NS"]))
    assert energy["method"] == "mixed"
    resets = query(tmp_path / "run", "SELECT count(*) FROM power_spans WHERE went_back").rows[0][0]
    assert energy["total_joules"] == pytest.approx(joules, abs=slack * (1 + resets))
    assert_parts_add_up(energy)
    assert "went back" in codes(report)["energy_counter_reset"]


@pytest.mark.slow
def test_a_gpu_that_vanishes(preloaded: Preloaded, tmp_path: Path, gpus: dict[str, str]) -> None:
    """The run ends as before; what the lost GPU has used is unknown, so figures per token are."""
    report = measured(preloaded, tmp_path, gpus | {"STAND_IN_LOST_AFTER": "2"}, "-n", 80)
    findings = codes(report)
    assert "GPU 1: GPU is lost" in findings["sensor_unread"]
    assert "energy_incomplete" in findings
    assert report["energy"]["window_joules"] is report["energy"]["joules_per_output_token"] is None
    assert_parts_add_up(report["energy"])


@pytest.mark.slow
def test_a_missing_driver(preloaded: Preloaded, tmp_path: Path, gpus: dict[str, str]) -> None:
    """It is a finding, not an error; there is no energy."""
    report = measured(preloaded, tmp_path, gpus | {"STAND_IN_DRIVER": "0"})
    assert "no_driver" in codes(report)["sensor_unread"]
    assert "energy" not in report


class Exporter(ThreadingHTTPServer):
    """DCGM's exporter of a GPU with 400 W, in its format.

    Attributes:
        url: Its page.
        began_ns: When it began to count.
    """

    def __init__(self) -> None:
        self.began_ns = time.monotonic_ns()
        super().__init__(("127.0.0.1", 0), Page)
        self.url = f"http://127.0.0.1:{self.server_port}/metrics"


class Page(BaseHTTPRequestHandler):
    """Its page."""

    def do_GET(self) -> None:
        """Answer with what has been used up to now."""
        assert isinstance(self.server, Exporter)
        joules = 400 * (time.monotonic_ns() - self.server.began_ns) / 1e9
        labels = '{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H200",Hostname="node-1"}'
        values = {
            "POWER_USAGE": ("gauge", 400),
            "TOTAL_ENERGY_CONSUMPTION": ("counter", int(joules * 1e3)),
            "GPU_UTIL": ("gauge", 70),
        }
        lines = [
            f"# TYPE DCGM_FI_DEV_{name} {kind}\nDCGM_FI_DEV_{name}{labels} {value}"
            for name, (kind, value) in values.items()
        ]
        body = ("\n".join(lines) + "\n").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name of the overridden method)
        """Print nothing."""


@pytest.fixture
def exporter() -> Iterator[Exporter]:
    """A running exporter."""
    with Exporter() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.slow
def test_gpus_of_another_host(preloaded: Preloaded, tmp_path: Path, exporter: Exporter) -> None:
    """DCGM's counter is in mJ; the figures are tagged with their source."""
    with start_mock(ttft="20ms", itl="5ms", tokens="8") as mock:
        run = preloaded.run(
            *("perf", "--url", mock.url, "--model", "m", "-n", 30, "-c", 3, "-q", "--out", "run"),
            *("--on-invalid", "warn", "--gpu-metrics", exporter.url),
            cwd=tmp_path,
            env=clean_environment(),
        )
    assert run.returncode == 0, run.stderr
    energy = report_of(tmp_path / "run")["energy"]
    assert (energy["source"], energy["method"], energy["devices"]) == ("dcgm", "counter", 1)
    ((first_ns, last_ns, took_ms),) = query(
        tmp_path / "run",
        "SELECT min(at_ns), max(at_ns), max(took_ms) FROM sensor_readings WHERE source = 'dcgm'",
    ).rows
    joules = 400 * (last_ns - first_ns) / 1e9
    assert energy["total_joules"] == pytest.approx(joules, abs=400 * took_ms / 1e3 + 0.01)
    assert_parts_add_up(energy)


@pytest.mark.slow
def test_a_resumed_run_is_observed_again(
    start_run: Callable[..., WatchedRun],
    start_loadgen: Callable[..., subprocess.Popen[str]],
    tmp_path: Path,
    library: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killed, then resumed: what was used between the two is in neither, and each part has its energy."""
    monkeypatch.setenv("LD_LIBRARY_PATH", library)
    monkeypatch.setenv("STAND_IN_T0_NS", str(time.monotonic_ns()))
    log = tmp_path / "run" / "events.db"
    counted = ("--gpu-metrics", "nvml", "--gpu-metrics-interval", "50ms")
    with start_mock(ttft="10ms", itl="0", tokens="4") as mock, Admission(mock.url) as admission:
        run = start_run(admission.url, "-c", 4, "-n", 40, "--on-invalid", "warn", *counted)
        admission.admit(20)
        run.wait_for(EventType.COMPLETE, times=15)
        run.wait_for(EventType.SENSOR_READING, times=6)
        os.killpg(run.process.pid, signal.SIGKILL)
        run.process.communicate()
        admission.open()
        code, out, err = WatchedRun(start_loadgen("resume", "run", "--json"), log).end()
    assert code == 0, err
    segments = query(
        tmp_path / "run",
        "SELECT segment, sum(energy_j), count(*) FROM power_spans GROUP BY segment ORDER BY 1",
    ).rows
    assert [segment for segment, *_ in segments] == [1, 2]
    energy = orjson.loads(out)["energy"]
    assert energy["total_joules"] == pytest.approx(sum(joules for _, joules, _ in segments))
    assert_parts_add_up(energy)
    assert energy["method"] == "counter"
