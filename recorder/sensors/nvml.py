"""GPUs of this host, by NVIDIA's management library: power, energy, utilization, memory, clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from recorder.sensors.gpu_library import Gpu, GpuSensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from recorder.sensors.gpu_library import Question

THROTTLED: Final[Mapping[str, int]] = {
    "power_cap": 0x04,
    "hw_slowdown": 0x08,
    "sw_thermal": 0x20,
    "hw_thermal": 0x40,
    "hw_power_brake": 0x80,
}
"""The reasons that hold clocks down against the load, by NVML's bits (nvmlClocksEventReason…, nvml.h)."""


class NvmlSensor(GpuSensor):
    """NVML counts in mJ and mW."""

    source = "nvml"
    target = "NVML"
    module = "pynvml"
    missing = "nvidia-ml-py is not installed: pip install 'llm-loadgen[gpu]'"

    @property
    def error(self) -> type[Exception]:
        """The error class of the library."""
        return getattr(self.library, "NVMLError", RuntimeError)

    def open(self) -> str:
        """Initialize the library; return the driver's version."""
        self.library.nvmlInit()
        return _text(self.library.nvmlSystemGetDriverVersion())

    def gpus(self) -> Iterator[Gpu]:
        """The GPUs by their index."""
        nvml = self.library
        for index in range(nvml.nvmlDeviceGetCount()):
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            uuid, name = nvml.nvmlDeviceGetUUID(handle), nvml.nvmlDeviceGetName(handle)
            yield Gpu(handle, {"gpu": str(index), "uuid": _text(uuid), "name": _text(name)})

    def limits(self, handle: Any) -> Mapping[str, Callable[[], float]]:
        """The queries of `power_limit_w` and `memory_bytes`."""
        nvml = self.library
        return {
            "power_limit_w": lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1e3,
            "memory_bytes": lambda: nvml.nvmlDeviceGetMemoryInfo(handle).total,
        }

    def questions(self, handle: Any) -> Iterator[Question]:
        """The queries of a reading, the energy counter first."""
        nvml = self.library
        yield ("energy_j_total",), lambda: (nvml.nvmlDeviceGetTotalEnergyConsumption(handle) / 1e3,)
        yield ("power_w",), lambda: (nvml.nvmlDeviceGetPowerUsage(handle) / 1e3,)
        yield (
            ("utilization_pct", "memory_busy_pct"),
            lambda: _pair(nvml.nvmlDeviceGetUtilizationRates(handle)),
        )
        yield ("memory_used_bytes",), lambda: (nvml.nvmlDeviceGetMemoryInfo(handle).used,)
        yield ("sm_clock_mhz",), lambda: (nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),)
        yield ("memory_clock_mhz",), lambda: (nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM),)
        yield ("temperature_c",), lambda: (nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),)
        yield (
            tuple(f"throttled_{name}_flag" for name in THROTTLED),
            lambda: _flags(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)),
        )

    def shut_down(self) -> None:
        """Let go of the driver."""
        self.library.nvmlShutdown()

    def is_lost(self, error: Exception) -> bool:
        """Whether the GPU has left the bus."""
        return getattr(error, "value", None) == getattr(self.library, "NVML_ERROR_GPU_IS_LOST", 15)


def _pair(rates: Any) -> tuple[float, float]:
    return float(rates.gpu), float(rates.memory)


def _flags(reasons: int) -> tuple[float, ...]:
    return tuple(float(bool(reasons & bit)) for bit in THROTTLED.values())


def _text(value: Any) -> str:
    """A text, which older versions of the library return as bytes."""
    return value.decode() if isinstance(value, bytes) else str(value)
