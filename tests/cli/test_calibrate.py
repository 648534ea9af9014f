"""`loadgen calibrate`, the whole way on a short ladder; and what a run is compared with."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.mock_endpoint.truth import Truth
from loadgen.plugins.calibration.true_times import MedianAndP99, compare_with_truth, lateness, spread
from loadgen.sessions.capacity import Calibration, Capacity, CapacityLimit, LimitedBy, this_machine
from loadgen.sessions.stored_calibration import save
from reporter.log.query import query
from tests.truths import truth_of

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

MS = 1_000_000


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_a_spread_lies_among_its_values(values: list[float]) -> None:
    """Its median halves them, and it has no values outside of theirs."""
    summary = spread(values)
    assert summary is not None
    assert min(values) <= summary.p50 <= summary.p99 <= max(values)
    assert sum(value <= summary.p50 for value in values) * 2 >= len(values)


@given(late=st.lists(st.floats(0, 50), min_size=2, max_size=30))
def test_lateness_is_counted_from_when_a_token_was_due(late: list[float]) -> None:
    """Token k of a paced answer is due at its TTFT and k gaps, from when service began."""
    begun_ns, queued_ns = 5 * MS, 3 * MS
    sent_ns = [
        begun_ns + queued_ns + round((20 + 10 * number + late_ms) * MS) for number, late_ms in enumerate(late)
    ]
    truth = Truth("a", "/", begun_ns, queued_ns, sent_ns)
    measured, expected = lateness([truth], 20.0, 10.0), spread(late)
    assert measured is not None
    assert expected is not None
    assert measured.p50 == pytest.approx(expected.p50, abs=1e-5)
    assert measured.p99 == pytest.approx(expected.p99, abs=1e-5)


def truth_of_run(run: Path, mock: MockProcess) -> list[Truth]:
    """What the server says of the requests of a run."""
    requests = {uuid for (uuid,) in query(run, "SELECT sample_uuid FROM samples").rows}
    return list(truth_of(mock, requests).values())


def test_a_run_is_compared_with_the_truth(made_run: Path, mock: MockProcess) -> None:
    """The same requests on both sides, the report's percentiles, and nothing arrives before it was sent."""
    report: dict[str, Any] = orjson.loads((made_run / "report.json").read_bytes())
    compared = compare_with_truth(made_run, truth_of_run(made_run, mock))
    assert compared.requests == 10
    for name, times in (("ttft_ms", compared.ttft), ("tpot_ms", compared.tpot), ("itl_ms", compared.itl)):
        assert times is not None
        assert times.reported == MedianAndP99(
            pytest.approx(report[name]["p50"], abs=1e-6),
            pytest.approx(report[name]["p99"], abs=1e-6),
        )
    assert compared.ttft is not None
    assert compared.ttft.error.p50 >= 0
    assert compared.ttft_each is not None
    assert compared.requests_s == pytest.approx(report["throughput"]["qps"])
    assert compared.chunks_s == pytest.approx(report["throughput"]["output_tps"])
    assert set(compared.errors()) == {
        f"{name} {p}" for name in ("TTFT", "TPOT", "ITL") for p in ("p50", "p99")
    }


def test_what_is_issued_before_it_has_settled_is_left_out(made_run: Path, mock: MockProcess) -> None:
    """On both sides."""
    truth = truth_of_run(made_run, mock)
    assert compare_with_truth(made_run, truth, settled_s=60.0).requests == 0
    after = "SELECT issued_ns - (SELECT start_ns FROM measured_window) FROM samples ORDER BY issued_ns"
    after_ns = [offset_ns for (offset_ns,) in query(made_run, after).rows]
    later = compare_with_truth(made_run, truth, settled_s=after_ns[3] / 1e9)
    assert later.requests == sum(offset_ns >= after_ns[3] for offset_ns in after_ns) < 10


@pytest.mark.slow
def test_a_machine_is_calibrated(loadgen: Loadgen, tmp_path: Path) -> None:
    """Both ladders are climbed, the result is printed, stored, and shown again."""
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    shown = loadgen("calibrate", "--show", **cache)
    assert shown.returncode == 2
    assert "run `loadgen calibrate` first" in shown.stderr

    short = ("--quick", "--step", "0.6s", "--max-rate", 40, "--max-streams", 8, "--within", "100ms")
    run = loadgen("calibrate", *short, **cache)
    assert run.returncode == 0, run.stderr
    assert "leaked" not in run.stderr
    for load, what in ((40, "req/s"), (8, "streams")):
        assert f" {load} {what}: " in run.stderr
        table = run.stdout[run.stdout.index(f"{what} ") :].split("\n\n")[0].splitlines()
        row = table[-1].split()
        assert row[0] == str(load)
        assert abs(float(row[3])) < 100
        assert len({len(line.partition("  yes")[0].partition("  no")[0]) for line in table[1:]}) == 1
    assert max(map(len, run.stdout.splitlines()[:-2])) <= 110

    stored = orjson.loads((tmp_path / "cache" / "loadgen" / "calibration.json").read_bytes())
    assert stored["within_ms"] == 100
    assert 0 <= stored["requests_s"]["most"] <= 40
    again = loadgen("calibrate", "--show", **cache)
    assert again.returncode == 0, again.stderr
    assert "within 100 ms of the truth" in again.stdout
    assert run.stdout.endswith(again.stdout)
    assert orjson.loads(loadgen("calibrate", "--show", "--json", **cache).stdout)["calibration"] == stored
    measured = orjson.loads(loadgen("calibrate", *short, "--json", **cache).stdout)
    assert [name for name, steps in measured["steps"].items() if steps] == ["requests/s", "streams"]


def test_a_plan_beyond_the_calibration_is_warned_of(
    loadgen: Loadgen, mock: MockProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On standard error and in the report; the run goes on and is valid all the same."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    capacity = Capacity(1, 4.0, 2, CapacityLimit(LimitedBy.CLIENT, "TTFT p99 was off by +3.00 ms"))
    save(Calibration(this_machine(), "0.1.0", "2026-01-02T03:04:05+00:00", None, 1.0, capacity, capacity))
    run = loadgen(
        *("perf", "--url", mock.url, "--model", "small-model", "--api-key", "sk-right-key"),
        *("-c", 2, "-n", 4, "--out", "run", "--json", "--on-invalid", "warn"),  # the machine may be busy
        XDG_CACHE_HOME=str(tmp_path / "cache"),
    )
    assert run.returncode == 0, run.stderr
    assert "warning: the plan asks for 2 requests in flight" in run.stderr
    findings = {finding["code"]: finding["severity"] for finding in orjson.loads(run.stdout)["findings"]}
    assert findings["beyond_calibration"] == "warning"


@pytest.mark.parametrize("wrong", [("--within", "0ms"), ("--within", "soon"), ("--max-streams", "0")])
def test_a_calibration_that_makes_no_sense_is_refused(loadgen: Loadgen, wrong: tuple[str, str]) -> None:
    """With the option's name, and the exit code of a usage error."""
    run = loadgen("calibrate", *wrong)
    assert run.returncode == 2
    assert wrong[0] in run.stderr


@pytest.mark.slow
def test_an_interrupt_between_two_steps(
    start_loadgen: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends with 130, and leaves neither a folder nor a mock endpoint behind."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    process = start_loadgen("calibrate", "--quick", "--step", "0.1s", "--max-streams", 1, "--within", "1s")
    assert "250 req/s" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert list(scratch.iterdir()) == []
