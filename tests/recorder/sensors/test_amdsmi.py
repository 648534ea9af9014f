"""GPUs by a stand-in for AMD's library and a page of AMD's exporter, whose counters are known."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from loadgen.sessions.settings.option import OptionValueError
from loadgen.sessions.settings.telemetry_options import gpu_source
from recorder.sensors.amdsmi import AmdSmiSensor
from recorder.sensors.exposition import Naming, observed
from recorder.sensors.names import AMD, INTEL


class LibraryError(Exception):
    """What the library raises."""


def library(**changes: Any) -> Any:
    """In place of `amdsmi`: one GPU; its counter has 2,000,000 steps of 15.3 µJ."""

    def refused(*_: Any) -> Any:
        raise LibraryError("AMDSMI_STATUS_NOT_SUPPORTED - Feature not supported")

    answers = {
        "amdsmi_init": lambda: None,
        "amdsmi_shut_down": lambda: None,
        "amdsmi_get_processor_handles": lambda: ["gpu"],
        "amdsmi_get_gpu_device_uuid": lambda _: "abff-0001",
        "amdsmi_get_gpu_asic_info": lambda _: {"market_name": "AMD Instinct MI300X"},
        "amdsmi_get_power_cap_info": lambda _: {"power_cap": 750_000_000},
        "amdsmi_get_gpu_vram_usage": lambda _: {"vram_total": 196_592, "vram_used": 1_000},
        "amdsmi_get_energy_count": lambda _: {"energy_accumulator": 2_000_000, "counter_resolution": 15.3},
        "amdsmi_get_power_info": lambda _: {"current_socket_power": 612, "average_socket_power": "N/A"},
        "amdsmi_get_gpu_activity": lambda _: {"gfx_activity": 97, "umc_activity": "N/A"},
        "amdsmi_get_clock_info": lambda _, clock: {"clk": {"gfx": 2100, "mem": 1300}[clock]},
        "amdsmi_get_temp_metric": refused,
        "AmdSmiClkType": SimpleNamespace(GFX="gfx", MEM="mem"),
        "AmdSmiTemperatureType": SimpleNamespace(HOTSPOT=1),
        "AmdSmiTemperatureMetric": SimpleNamespace(CURRENT=0),
        "AmdSmiException": LibraryError,
    }
    return SimpleNamespace(**{**answers, **changes})


def test_a_reading() -> None:
    """In this project's units; what a GPU lacks, by `N/A` or an error, is left out."""
    sensor = AmdSmiSensor(0.1, library())
    started = sensor.start()
    (gpu,) = started["about"]["gpus"]
    assert (gpu["name"], gpu["power_limit_w"]) == ("AMD Instinct MI300X", 750)
    (reading,) = sensor.read(whole=False)
    sensor.close()
    assert reading.values == pytest.approx(
        {
            "energy_j_total": 30.6,
            "power_w": 612,
            "utilization_pct": 97,
            "memory_used_bytes": 1_000 * 1024**2,
            "sm_clock_mhz": 2100,
            "memory_clock_mhz": 1300,
        }
    )
    average = {"current_socket_power": "N/A", "average_socket_power": 300}
    older = AmdSmiSensor(0.1, library(amdsmi_get_power_info=lambda _: average))
    older.start()
    assert older.read(whole=False)[0].values["power_w"] == 300


def test_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """One reading says why: no module, no driver, no GPU."""

    def no_driver() -> None:
        raise LibraryError("AMDSMI_STATUS_DRIVER_NOT_LOADED")

    monkeypatch.setitem(sys.modules, "amdsmi", None)
    for sensor, error in (
        (AmdSmiSensor(0.1), "no_library"),
        (AmdSmiSensor(0.1, library(amdsmi_init=no_driver)), "no_driver"),
        (AmdSmiSensor(0.1, library(amdsmi_get_processor_handles=list)), "no_gpu"),
    ):
        assert sensor.start()["source"] == "amdsmi"
        assert [reading.error for reading in sensor.read(whole=True)] == [error]
        assert sensor.read(whole=True) == []


PAGE = """\
# TYPE gpu_package_power gauge
gpu_package_power{gpu_id="0",gpu_uuid="u0",hostname="node",gpu_partition_id="0"} 612
gpu_package_power{gpu_id="1",gpu_uuid="u1",hostname="node",gpu_partition_id="0"} 598
# TYPE gpu_energy_consumed gauge
gpu_energy_consumed{gpu_id="0",gpu_uuid="u0",hostname="node",gpu_partition_id="0"} 3.06e+07
# TYPE gpu_used_vram gauge
gpu_used_vram{gpu_id="0",gpu_uuid="u0",hostname="node",gpu_partition_id="0"} 1000
"""


def test_the_page_of_the_exporter() -> None:
    """Each GPU has its readings, in joules and bytes."""
    first, second = observed(PAGE, Naming("amd_exporter", ""), AMD, whole=False)
    assert first.labels["gpu_uuid"] == "u0"
    expected = {"power_w": 612, "energy_j_total": 30.6, "memory_used_bytes": 1000 * 1024**2}
    assert first.values == pytest.approx(expected)
    assert second.values == {"power_w": 598}


INTEL_PAGE = """\
# TYPE xpum_power_watts gauge
xpum_power_watts{uuid="u0",dev_name="Max 1550"} 410
xpum_power_watts{uuid="u0",dev_name="Max 1550",sub_dev="0"} 200
xpum_power_watts{uuid="u0",dev_name="Max 1550",sub_dev="1"} 190
xpum_power_watts{uuid="u1",dev_name="Max 1550"} 390
xpum_power_watts{card="2147483648"} 800
# TYPE xpum_energy_joules counter
xpum_energy_joules_total{uuid="u0",dev_name="Max 1550"} 5000
xpum_energy_joules_created{uuid="u0",dev_name="Max 1550"} 1.7e+09
# TYPE xpum_engine_ratio gauge
xpum_engine_ratio{uuid="u0",dev_name="Max 1550",sub_dev="0"} 0.75
xpum_engine_ratio{uuid="u0",dev_name="Max 1550",sub_dev="1"} 0.25
# TYPE xpum_memory_used_bytes gauge
xpum_memory_used_bytes{uuid="u0",dev_name="Max 1550",sub_dev="0"} 1000
xpum_memory_used_bytes{uuid="u0",dev_name="Max 1550",sub_dev="1"} 3000
# TYPE xpum_temperature_celsius gauge
xpum_temperature_celsius{uuid="u0",dev_name="Max 1550",sub_dev="0",location="gpu"} 50
xpum_temperature_celsius{uuid="u0",dev_name="Max 1550",sub_dev="0",location="mem"} 61
"""


def test_tiles_of_intel_are_parts_of_a_gpu() -> None:
    """Bytes of tiles add up; the power of a GPU counts once, though a card repeats the power."""
    first, second = observed(INTEL_PAGE, Naming("intel_exporter", ""), INTEL, whole=False)
    assert first.labels == {"uuid": "u0"}
    assert first.values == {
        "power_w": 410,
        "energy_j_total": 5000,
        "utilization_pct": 75,
        "memory_used_bytes": 4000,
        "temperature_c": 61,
    }
    assert second.values == {"power_w": 390}


def test_sources() -> None:
    """A library, or the page of an exporter with its vendor."""
    sources = ("nvml", "amdsmi", "amd:http://node:5000/metrics", "intel:http://node:29999/metrics")
    assert tuple(map(gpu_source, sources)) == sources
    with pytest.raises(OptionValueError, match="give nvml, amdsmi"):
        gpu_source("auto")
