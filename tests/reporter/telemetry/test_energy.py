"""Energy: the integral of known powers, shares that add up, and what makes a figure unknown."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loadgen.plugins.exports.flat_figures import figures
from recorder import EventType
from reporter import MetricsReporter
from reporter.log.query import query
from reporter.render.console import render
from tests.conftest import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reporter import Report
    from tests.reporter.conftest import Run


def senses(
    run: Run, *readings: tuple[float, float | None, float | None], gpu: str = "0", source: str = "nvml"
) -> Run:
    """Readings of a GPU: at ms, power in W, counter in J."""
    if not any(event.type is EventType.SENSOR_STARTED for event in run.events):
        run.session(EventType.SENSOR_STARTED, 0, source=source, interval_s=0.1)
    for at_ms, power_w, counter_j in readings:
        values = {"power_w": power_w, "energy_j_total": counter_j, "utilization_pct": 50.0}
        present = {name: value for name, value in values.items() if value is not None}
        run.session(EventType.SENSOR_READING, at_ms, source=source, labels={"gpu": gpu}, readings=present)
    return run


def reported(run: Run) -> Report:
    """The report of a run."""
    with MetricsReporter(run.write()) as reporter:
        return reporter.create_report()


def test_energy_is_the_integral_of_the_power(a_run: Callable[..., Run]) -> None:
    """By the trapezoids of 100, 200, 200 W over 1 s and 2 s."""
    run = a_run().begins(0, duration_s=3).answers(500, at_ms=0, complete=3000).stops(3000)
    report = reported(senses(run.ends(3000), (0, 100, None), (1000, 200, None), (3000, 200, None)))
    energy = report.energy
    assert energy is not None
    assert (energy.source, energy.method, energy.devices) == ("nvml", "power", 1)
    assert energy.total_joules == pytest.approx(150 + 400)
    assert energy.window_joules == pytest.approx(550)
    assert energy.mean_watts == pytest.approx(550 / 3)
    assert energy.measured_joules == pytest.approx(550)
    assert energy.idle_joules == pytest.approx(0)
    assert energy.joules_per_request == pytest.approx(550)


def test_the_counter_goes_before_the_power(a_run: Callable[..., Run]) -> None:
    """Between two readings the counter has seen what the power has not; two GPUs add up."""
    run = a_run().begins(0, duration_s=1).answers(10, at_ms=0, complete=1000).stops(1000).ends(1000)
    senses(run, (0, 100, 7), (1000, 100, 127), gpu="0")
    energy = reported(senses(run, (0, 50, 1), (1000, 50, 61), gpu="1")).energy
    assert energy is not None
    assert (energy.method, energy.devices) == ("counter", 2)
    assert energy.total_joules == pytest.approx(120 + 60)
    assert energy.integral_share == pytest.approx(150 / 180)
    stats = energy.stats["power_watts"]
    assert stats is not None
    assert stats.mean == pytest.approx(180)


def test_a_counter_that_no_gpu_can_have(a_run: Callable[..., Run]) -> None:
    """A jump of 1 GJ in a second is ignored; a reading without power does not end the observation."""
    run = a_run().begins(0, duration_s=3).answers(10, at_ms=0, complete=3000).stops(3000).ends(3000)
    report = reported(senses(run, (0, 100, 5), (1000, None, None), (2000, 100, 1e9), (3000, 100, 1e9 + 100)))
    assert report.energy is not None
    assert report.energy.total_joules == pytest.approx(200 + 100)
    assert report.energy.window_joules == pytest.approx(300)
    assert "energy_counter_reset" in {finding.code for finding in report.findings}


def test_gpus_without_a_uuid_on_two_hosts(a_run: Callable[..., Run]) -> None:
    """GPU 0 of each host is its own device."""
    run = a_run().begins(0, duration_s=1).answers(10, at_ms=0, complete=1000).stops(1000).ends(1000)
    run.session(EventType.SENSOR_STARTED, 0, source="dcgm", interval_s=1.0)
    for at_ms in (0, 1000):
        for page, host, power_w in (("0", "a", 100.0), ("1", "b", 300.0)):
            labels = {"page": page, "Hostname": host, "gpu": "0"}
            run.session(
                EventType.SENSOR_READING, at_ms, source="dcgm", labels=labels, readings={"power_w": power_w}
            )
    energy = reported(run).energy
    assert energy is not None
    assert (energy.devices, energy.total_joules) == (2, pytest.approx(400))


def test_a_counter_that_wraps_around(a_run: Callable[..., Run]) -> None:
    """In that span the power counts, and a finding says so."""
    run = a_run().begins(0, duration_s=2).answers(10, at_ms=0, complete=2000).stops(2000).ends(2000)
    report = reported(senses(run, (0, 100, 4_294_900), (1000, 100, 3), (2000, 100, 113)))
    assert report.energy is not None
    assert report.energy.method == "mixed"
    assert report.energy.total_joules == pytest.approx(100 + 110)
    assert "energy_counter_reset" in {finding.code for finding in report.findings}


def test_a_gpu_that_vanishes(a_run: Callable[..., Run]) -> None:
    """The energy of the window is unknown then, and so is that of requests that ran later."""
    run = (
        a_run()
        .begins(0, duration_s=2)
        .answers(10, at_ms=0, complete=900)
        .answers(1100, at_ms=1000, complete=2000)
    )
    senses(run.stops(2000).ends(2000), (0, 100, 0), (1000, 100, 100), (2000, 100, 200), gpu="0")
    senses(run, (0, 100, 0), (1000, 100, 100), gpu="1")
    run.session(
        EventType.SENSOR_READING, 1500, source="nvml", labels={"gpu": "1"}, error="gpu_lost", message="!"
    )
    report = reported(run)
    assert report.energy is not None
    assert report.energy.window_joules is None
    stats = report.energy.stats["energy_joules"]
    assert stats is not None
    assert stats.count == 1
    codes = [finding.code for finding in report.findings]
    assert {"energy_incomplete", "sensor_unread"} <= set(codes)


def test_a_gpu_that_was_read_once(a_run: Callable[..., Run]) -> None:
    """It has no energy, and the other's is not that of the window."""
    run = a_run().begins(0, duration_s=1).answers(10, at_ms=0, complete=900).stops(1000).ends(1000)
    senses(run, (0, 100, 0), (1000, 100, 100), gpu="0")
    senses(run, (0, 100, 0), gpu="1")
    report = reported(run)
    assert report.energy is not None
    assert (report.energy.devices, report.energy.window_joules) == (2, None)
    assert "energy_incomplete" in {finding.code for finding in report.findings}


def test_a_declared_power_is_tagged(a_run: Callable[..., Run]) -> None:
    """Power times time, under its own name."""
    run = a_run().begins(0, duration_s=1).answers(10, at_ms=0, complete=500).stops(1000)
    run.session(EventType.SENSOR_STARTED, 0, source="declared", about={"power_w": 400.0}).ends(1000)
    report = reported(run)
    assert report.energy is not None
    assert (report.energy.source, report.energy.window_joules) == ("declared", pytest.approx(400))
    assert report.energy.measured_joules == pytest.approx(200)
    assert report.energy.idle_joules == pytest.approx(200)
    assert "energy_declared" in {finding.code for finding in report.findings}


def test_figures_of_requests(a_run: Callable[..., Run]) -> None:
    """Mfu and mbu by the definitions, with the model and the hardware of the settings."""
    options = {"param_count_b": 8.0, "gpu_peak_tflops": 989.0, "gpu_peak_bandwidth_gb_s": 3350.0}
    run = a_run()
    run.settings |= {"gpus": 2, "options": options}
    run.begins(0, duration_s=1).answers(100, 200, at_ms=0, complete=1000, usage=(5, 50)).stops(1000).ends(
        1000
    )
    energy = reported(senses(run, (0, 300, 0), (1000, 300, 300))).energy
    assert energy is not None
    means = {name: stats and stats.mean for name, stats in energy.stats.items()}
    assert means["throughput_tok_per_sec"] == pytest.approx(50)
    assert means["mfu_pct"] == pytest.approx(100 * 2 * 8e9 * 50 / (989e12 * 2))
    assert means["mbu_pct"] == pytest.approx(100 * 2 * 8e9 * 50 / (3350e9 * 2))
    assert means["gpu_utilization_pct"] == pytest.approx(50)
    assert means["ipj"] is None


@pytest.mark.parametrize(("bandwidth", "named"), [(3350.0, False), (0.1, True)])
def test_more_than_the_hardware_can_do(a_run: Callable[..., Run], bandwidth: float, *, named: bool) -> None:
    """A utilization above 100 % names the options that are wrong."""
    run = a_run()
    run.settings |= {
        "options": {"param_count_b": 8.0, "gpu_peak_tflops": 989.0, "gpu_peak_bandwidth_gb_s": bandwidth}
    }
    run.begins(0, duration_s=1).answers(100, 200, at_ms=0, complete=1000, usage=(5, 50)).stops(1000)
    report = reported(senses(run.ends(1000), (0, 300, 0), (1000, 300, 300)))
    impossible = [finding for finding in report.findings if finding.code == "utilization_impossible"]
    assert len(impossible) == named
    assert all("mbu_pct" in finding.message and "mfu_pct" not in finding.message for finding in impossible)
    assert all("--gpu-peak-bandwidth-gb-s" in (finding.remedy or "") for finding in impossible)


def test_the_console_has_the_energy_of_requests(a_run: Callable[..., Run]) -> None:
    """Within 80 columns, with three digits of what is far below 1."""
    run = a_run().begins(0, duration_s=1).answers(100, 200, at_ms=0, complete=1000, usage=(5, 50)).stops(1000)
    report = reported(senses(run.ends(1000), (0, 0.025, 0), (1000, 0.025, 0.025)))
    page = render(report, width=80, color=False)
    assert max(map(len, page.splitlines())) <= 80
    assert "0.0005 J per output token" in page
    assert "measured by NVML, 1 device, by counter" in page
    rows = [line.split() for line in page.partition("Per request")[2].splitlines()]
    assert rows[0] == ["mean", "median", "min", "max", "std"]
    assert rows[1][:6] == ["energy", "(J)", "0.025", "0.025", "0.025", "0.025"]
    assert rows[2][:3] == ["power", "(W)", "0.025"]


@pytest.mark.slow
def test_exported_figures_name_their_source(a_run: Callable[..., Run]) -> None:
    """A declared energy is not taken for a measured one on a dashboard; what is unknown is left out."""
    run = a_run().begins(0, duration_s=1).answers(10, at_ms=0, complete=500).stops(1000)
    run.session(EventType.SENSOR_STARTED, 0, source="declared", about={"power_w": 400.0}).ends(1000)
    energy = {item.key: item for item in figures(reported(run)) if item.key.startswith("energy_")}
    assert energy["energy_declared_window_joules"].value == pytest.approx(400)
    assert energy["energy_declared_mean_watts"].unit == "W"
    assert all("declared" in key for key in energy)
    senses(run := a_run().answers(10, at_ms=0, complete=500).stops(1000).ends(1000), (0, 3, 0), (10, 3, 1))
    keys = {item.key for item in figures(reported(run))}
    assert "energy_nvml_total_joules" in keys
    assert "energy_nvml_window_joules" not in keys


def shares(
    readings: Sequence[tuple[int, float]], requests: Sequence[tuple[int, int]]
) -> tuple[list[float], float]:
    """What each request and idling get, ms by ms, of powers that hold until the next reading."""
    got, idle = [0.0] * len(requests), 0.0
    for (start, power_w), (end, _) in pairwise(readings):
        for ms in range(start, end):
            flying = [number for number, (sent, ended) in enumerate(requests) if sent <= ms < ended]
            for number in flying:
                got[number] += power_w / 1e3 / len(flying)
            if not flying:
                idle += power_w / 1e3
    return got, idle


@pytest.mark.slow
@settings(max_examples=3 * EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    spans=st.lists(st.tuples(st.integers(1, 60), st.integers(0, 500)), min_size=1, max_size=6),
    requests=st.lists(st.tuples(st.integers(0, 99), st.integers(1, 100)), min_size=1, max_size=6),
)
def test_shares_and_idling_add_up_to_the_whole(
    tmp_path_factory: pytest.TempPathFactory,
    spans: list[tuple[int, int]],
    requests: list[tuple[int, int]],
) -> None:
    """Whatever overlaps: each gets its part of each moment, and nothing is lost or there twice."""
    from tests.reporter.conftest import Run as NewRun

    moments, counter_j = [(0, 0.0)], [0.0]
    powers = []
    for span_ms, power_w in spans:
        powers.append((moments[-1][0], float(power_w)))
        moments.append((moments[-1][0] + span_ms, 0.0))
        counter_j.append(counter_j[-1] + power_w * span_ms / 1e3)
    powers.append((moments[-1][0], 0.0))
    run = NewRun(tmp_path_factory.mktemp("run"))
    run.begins(0)
    for sent, took in requests:
        run.answers(sent + took, at_ms=sent)
    run.stops(300).ends(400)
    senses(run, *((at_ms, None, total) for (at_ms, _), total in zip(moments, counter_j, strict=True)))
    folder = run.write()
    expected, idle = shares(powers, [(sent, sent + took) for sent, took in requests])
    with MetricsReporter(folder) as reporter:
        energy = reporter.create_report().energy
    assert energy is not None
    assert energy.total_joules == pytest.approx(counter_j[-1], abs=1e-9)
    parts = energy.measured_joules + energy.other_joules + energy.idle_joules
    assert parts == pytest.approx(energy.total_joules, abs=1e-9)
    assert energy.measured_joules == pytest.approx(sum(expected), abs=1e-9)
    assert energy.idle_joules == pytest.approx(idle, abs=1e-9)
    rows: dict[str, Any] = dict(query(folder, "SELECT sample_uuid, energy_joules FROM request_energy").rows)
    for number, (sent, took) in enumerate(requests):
        if sent + took <= moments[-1][0]:
            assert rows[f"request {number + 1}"] == pytest.approx(expected[number], abs=1e-9)
        else:
            assert f"request {number + 1}" not in rows
