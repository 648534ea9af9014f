"""GPUs by a stand-in for NVIDIA's library, whose counters are known."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from recorder.sensors.nvml import NvmlSensor

if TYPE_CHECKING:
    from collections.abc import Callable


class LibraryError(Exception):
    """What the library raises."""

    def __init__(self, value: int) -> None:
        super().__init__(f"error {value}")
        self.value = value


@dataclass
class Library:
    """In place of `pynvml`: each GPU draws 250 W and has counted 10 J more each time that it is asked."""

    gpus: int = 2
    driver: bool = True
    refused: set[str] = field(default_factory=set)
    lost: set[int] = field(default_factory=set)
    counted: dict[int, int] = field(default_factory=dict)
    NVMLError = LibraryError
    NVML_ERROR_GPU_IS_LOST = 15
    NVML_CLOCK_SM = 1
    NVML_CLOCK_MEM = 2
    NVML_TEMPERATURE_GPU = 0

    def nvmlInit(self) -> None:  # noqa: N802 (the library's names)
        """Load the driver."""
        if not self.driver:
            raise LibraryError(9)

    def __getattr__(self, name: str) -> Any:
        answers: dict[str, Callable[..., Any]] = {
            "nvmlSystemGetDriverVersion": lambda: b"575.1",
            "nvmlDeviceGetCount": lambda: self.gpus,
            "nvmlDeviceGetHandleByIndex": lambda index: index,
            "nvmlDeviceGetUUID": lambda gpu: f"GPU-{gpu}",
            "nvmlDeviceGetName": lambda _: b"NVIDIA H200",
            "nvmlDeviceGetEnforcedPowerLimit": lambda _: 700_000,
            "nvmlDeviceGetMemoryInfo": lambda _: SimpleNamespace(total=100, used=40),
            "nvmlDeviceGetTotalEnergyConsumption": self._energy,
            "nvmlDeviceGetPowerUsage": lambda _: 250_000,
            "nvmlDeviceGetUtilizationRates": lambda _: SimpleNamespace(gpu=97, memory=30),
            "nvmlDeviceGetClockInfo": lambda _, clock: {1: 1980, 2: 3201}[clock],
            "nvmlDeviceGetTemperature": lambda *_: 61,
            "nvmlDeviceGetCurrentClocksThrottleReasons": lambda _: 0x04 | 0x40 | 0x01,
            "nvmlShutdown": lambda: None,
        }

        def ask(*arguments: Any) -> Any:
            if arguments and arguments[0] in self.lost:
                raise LibraryError(15)
            if name in self.refused:
                raise LibraryError(3)
            return answers[name](*arguments)

        return ask

    def _energy(self, gpu: int) -> int:
        self.counted[gpu] = self.counted.get(gpu, 0) + 10_000
        return self.counted[gpu]


def test_what_a_gpu_says() -> None:
    """In W, J, bytes, MHz and °C; reasons to throttle as flags, without that of idling."""
    sensor = NvmlSensor(0.1, Library())
    about = sensor.start()["about"]
    assert about is not None
    assert about["driver"] == "575.1"
    labels = {"gpu": "0", "uuid": "GPU-0", "name": "NVIDIA H200"}
    assert about["gpus"][0] == {**labels, "power_limit_w": 700, "memory_bytes": 100}
    first, second = sensor.read(whole=False)
    sensor.close()
    assert (first.labels, second.labels["uuid"]) == (labels, "GPU-1")
    assert first.values == {
        "energy_j_total": 10,
        "power_w": 250,
        "utilization_pct": 97,
        "memory_busy_pct": 30,
        "memory_used_bytes": 40,
        "sm_clock_mhz": 1980,
        "memory_clock_mhz": 3201,
        "temperature_c": 61,
        "throttled_power_cap_flag": 1,
        "throttled_hw_slowdown_flag": 0,
        "throttled_sw_thermal_flag": 0,
        "throttled_hw_thermal_flag": 1,
        "throttled_hw_power_brake_flag": 0,
    }


def test_an_old_gpu_has_no_counter() -> None:
    """What it does not have is left out."""
    sensor = NvmlSensor(0.1, Library(gpus=1, refused={"nvmlDeviceGetTotalEnergyConsumption"}))
    sensor.start()
    (reading,) = sensor.read(whole=False)
    assert "energy_j_total" not in reading.values
    assert reading.values["power_w"] == 250


def test_a_gpu_that_vanishes() -> None:
    """It is said once; the other one is read as before."""
    library = Library()
    sensor = NvmlSensor(0.1, library)
    sensor.start()
    assert [reading.error for reading in sensor.read(whole=False)] == [None, None]
    library.lost.add(0)
    assert [reading.error for reading in sensor.read(whole=False)] == ["gpu_lost", None]
    assert [reading.labels["gpu"] for reading in sensor.read(whole=False)] == ["1"]


@pytest.mark.parametrize(
    ("library", "error"), [(Library(driver=False), "no_driver"), (Library(gpus=0), "no_gpu")]
)
def test_no_gpu(library: Library, error: str) -> None:
    """One reading says why, and there is none after it."""
    sensor = NvmlSensor(0.1, library)
    assert sensor.start()["source"] == "nvml"
    assert [reading.error for reading in sensor.read(whole=True)] == [error]
    assert sensor.read(whole=True) == []
    sensor.close()


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reading says how to install it."""
    monkeypatch.setitem(__import__("sys").modules, "pynvml", None)
    sensor = NvmlSensor(0.1)
    sensor.start()
    (reading,) = sensor.read(whole=True)
    assert reading.error == "no_library"
    assert "llm-loadgen[gpu]" in str(reading.message)
