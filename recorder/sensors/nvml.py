"""GPUs of this host, by NVIDIA's management library: power, energy, utilization, memory, clocks."""

from __future__ import annotations

import time
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from recorder.payloads import SensorStarted
from recorder.sensors.reading import Reading, within_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

SOURCE: Final = "nvml"

THROTTLED: Final[Mapping[str, int]] = {
    "power_cap": 0x04,
    "hw_slowdown": 0x08,
    "sw_thermal": 0x20,
    "hw_thermal": 0x40,
    "hw_power_brake": 0x80,
}
"""The reasons that hold clocks down against the load, by NVML's bits (nvmlClocksEventReason…, nvml.h)."""


class _Gpu:
    """One GPU."""

    def __init__(self, handle: Any, labels: Mapping[str, str]) -> None:
        self.handle = handle
        self.labels = labels
        self.memory_bytes: float | None = None
        self.gone = False


class NvmlSensor:
    """Reads the GPUs; see `recorder.sensors.reading.Sensor`."""

    def __init__(self, interval_s: float, library: Any = None) -> None:
        self.interval_s = interval_s
        self._library = library
        self._gpus: list[_Gpu] = []
        self._missing: Reading | None = None

    def start(self) -> SensorStarted:
        """Load the driver's library and look the GPUs up."""
        about: dict[str, Any] = {}
        try:
            if self._library is None:
                self._library = import_module("pynvml")
            nvml = self._library
            nvml.nvmlInit()
            about["driver"] = _text(nvml.nvmlSystemGetDriverVersion())
            self._gpus = [self._gpu(index) for index in range(nvml.nvmlDeviceGetCount())]
        except ImportError:
            self._missing = self._failed(
                "no_library", "nvidia-ml-py is not installed: pip install 'llm-loadgen[gpu]'"
            )
        except self._error as error:
            self._missing = self._failed("no_driver", str(error))
        if self._missing is None and not self._gpus:
            self._missing = self._failed("no_gpu", "the driver knows no GPU")
        about["gpus"] = [{**gpu.labels, **self._limits(gpu)} for gpu in self._gpus]
        return SensorStarted(source=SOURCE, interval_s=self.interval_s, target="NVML", about=about)

    def read(self, *, whole: bool) -> Sequence[Reading]:  # noqa: ARG002 (a GPU has no more to tell)
        """A reading for each GPU. Permanently missing quantities are reported once."""
        if self._missing is not None:
            missing, self._missing = self._missing, None
            return [missing]
        present = [gpu for gpu in self._gpus if not gpu.gone]
        return [reading for gpu in present for reading in within_limits([self._read(gpu)], gpu.memory_bytes)]

    def close(self) -> None:
        """Let go of the library."""
        if self._gpus:
            self._library.nvmlShutdown()

    @property
    def _error(self) -> type[Exception]:
        """The error class of the library."""
        return getattr(self._library, "NVMLError", OSError)

    def _gpu(self, index: int) -> _Gpu:
        nvml = self._library
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        uuid, name = nvml.nvmlDeviceGetUUID(handle), nvml.nvmlDeviceGetName(handle)
        return _Gpu(handle, {"gpu": str(index), "uuid": _text(uuid), "name": _text(name)})

    def _limits(self, gpu: _Gpu) -> dict[str, float]:
        """The power limit and the memory of the GPU, where reported."""
        nvml, handle = self._library, gpu.handle
        questions: dict[str, Callable[[], float]] = {
            "power_limit_w": lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1e3,
            "memory_bytes": lambda: nvml.nvmlDeviceGetMemoryInfo(handle).total,
        }
        limits = {}
        for name, ask in questions.items():
            try:
                limits[name] = float(ask())
            except self._error:
                continue
        gpu.memory_bytes = limits.get("memory_bytes")
        return limits

    def _read(self, gpu: _Gpu) -> Reading:
        # The counter is read first, and its time is the reading's: energy is a difference of two of them.
        at_ns = time.monotonic_ns()
        values: dict[str, float] = {}
        lost = getattr(self._library, "NVML_ERROR_GPU_IS_LOST", 15)
        for names, ask in self._questions(gpu.handle):
            try:
                values.update(zip(names, ask(), strict=True))
            except self._error as error:
                # A GPU need not have everything; an old one has no energy counter.
                if getattr(error, "value", None) == lost:
                    gpu.gone = True
                    return self._failed("gpu_lost", f"GPU {gpu.labels['gpu']}: {error}", gpu)
        if not values:
            gpu.gone = True
            return self._failed("no_reading", f"GPU {gpu.labels['gpu']} answers nothing", gpu)
        took_ms = (time.monotonic_ns() - at_ns) / 1e6
        return Reading(source=SOURCE, at_ns=at_ns, values=values, labels=gpu.labels, took_ms=took_ms)

    def _questions(self, handle: Any) -> Iterator[tuple[Sequence[str], Callable[[], Sequence[float]]]]:
        """The NVML queries, with this project's names. NVML counts in mJ and mW."""
        nvml = self._library
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

    def _failed(self, name: str, message: str, gpu: _Gpu | None = None) -> Reading:
        labels = {} if gpu is None else gpu.labels
        return Reading(source=SOURCE, at_ns=time.monotonic_ns(), labels=labels, error=name, message=message)


def _pair(rates: Any) -> tuple[float, float]:
    return float(rates.gpu), float(rates.memory)


def _flags(reasons: int) -> tuple[float, ...]:
    return tuple(float(bool(reasons & bit)) for bit in THROTTLED.values())


def _text(value: Any) -> str:
    """A text, which older versions of the library return as bytes."""
    return value.decode() if isinstance(value, bytes) else str(value)
