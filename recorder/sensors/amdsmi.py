"""GPUs of this host, by AMD's management library: power, energy, utilization, memory, clocks.

The Python module `amdsmi` (7.0.2) needs libamd_smi of ROCm, and no root. A value that a GPU lacks is `N/A`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from recorder.sensors.gpu_library import Gpu, GpuSensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from recorder.sensors.gpu_library import Question

_MB: Final = 1024.0**2


class AmdSmiSensor(GpuSensor):
    """AMD SMI counts in steps of its resolution, in µJ; power is W, memory MB."""

    source = "amdsmi"
    target = "AMD SMI"
    module = "amdsmi"
    missing = "amdsmi or ROCm's libamd_smi is not installed: pip install amdsmi, of ROCm's version"

    @property
    def error(self) -> type[Exception]:
        """The error class of the library."""
        return getattr(self.library, "AmdSmiException", RuntimeError)

    def open(self) -> str:
        """Initialize the library."""
        self.library.amdsmi_init()
        return "amdgpu"

    def gpus(self) -> Iterator[Gpu]:
        """The GPUs in the library's order."""
        smi = self.library
        for index, handle in enumerate(smi.amdsmi_get_processor_handles()):
            uuid, asic = smi.amdsmi_get_gpu_device_uuid(handle), smi.amdsmi_get_gpu_asic_info(handle)
            yield Gpu(handle, {"gpu": str(index), "uuid": str(uuid), "name": str(asic["market_name"])})

    def limits(self, handle: Any) -> Mapping[str, Callable[[], float]]:
        """The queries of `power_limit_w`, which is in µW since 7.0 and in W before, and `memory_bytes`."""
        smi = self.library
        return {
            "power_limit_w": lambda: _watts(smi.amdsmi_get_power_cap_info(handle)["power_cap"]),
            "memory_bytes": lambda: smi.amdsmi_get_gpu_vram_usage(handle)["vram_total"] * _MB,
        }

    def questions(self, handle: Any) -> Iterator[Question]:
        """The queries of a reading, the energy counter first."""
        smi = self.library
        yield ("energy_j_total",), lambda: (_joules(smi.amdsmi_get_energy_count(handle)),)
        yield ("power_w",), lambda: (_power(smi.amdsmi_get_power_info(handle)),)
        yield ("utilization_pct",), lambda: (smi.amdsmi_get_gpu_activity(handle)["gfx_activity"],)
        yield ("memory_busy_pct",), lambda: (smi.amdsmi_get_gpu_activity(handle)["umc_activity"],)
        yield ("memory_used_bytes",), lambda: (smi.amdsmi_get_gpu_vram_usage(handle)["vram_used"] * _MB,)
        clocks = smi.AmdSmiClkType
        yield ("sm_clock_mhz",), lambda: (smi.amdsmi_get_clock_info(handle, clocks.GFX)["clk"],)
        yield ("memory_clock_mhz",), lambda: (smi.amdsmi_get_clock_info(handle, clocks.MEM)["clk"],)
        hottest, current = smi.AmdSmiTemperatureType.HOTSPOT, smi.AmdSmiTemperatureMetric.CURRENT
        yield ("temperature_c",), lambda: (smi.amdsmi_get_temp_metric(handle, hottest, current),)

    def shut_down(self) -> None:
        """Let go of the driver."""
        self.library.amdsmi_shut_down()


def _joules(counter: Mapping[str, float]) -> float:
    return counter["energy_accumulator"] * counter["counter_resolution"] / 1e6


def _power(powers: Mapping[str, Any]) -> float:
    """The current power, or the average of GPUs that have no other."""
    current, average = powers["current_socket_power"], powers["average_socket_power"]
    return float(average if isinstance(current, str) else current)


def _watts(cap: float) -> float:
    """A power cap in W: no GPU takes 10 kW."""
    return cap / 1e6 if cap > 1e4 else cap  # noqa: PLR2004 (said above)
