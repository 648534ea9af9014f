"""GPUs of this host by their vendor's management library: what the sensors of all vendors share."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from recorder.payloads import SensorStarted
from recorder.sensors.reading import Reading, within_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Question = tuple[Sequence[str], Callable[[], Sequence[float]]]


class Gpu:
    """One GPU: the library's handle, and the labels of its readings."""

    def __init__(self, handle: Any, labels: Mapping[str, str]) -> None:
        self.handle = handle
        self.labels = labels
        self.memory_bytes: float | None = None
        self.gone = False


class GpuSensor(ABC):
    """Reads the GPUs; see `recorder.sensors.reading.Sensor`.

    Attributes:
        source: The name in the log, and the value of `--gpu-metrics`.
        target: The library's name for people.
        module: The library's Python module.
        missing: What to do where the module cannot be imported.
    """

    source: ClassVar[str]
    target: ClassVar[str]
    module: ClassVar[str]
    missing: ClassVar[str]

    def __init__(self, interval_s: float, library: Any = None) -> None:
        self.interval_s = interval_s
        self.library = library
        self._gpus: list[Gpu] = []
        self._missing: Reading | None = None

    def start(self) -> SensorStarted:
        """Load the driver's library and look the GPUs up."""
        about: dict[str, Any] = {}
        try:
            if self.library is None:
                self.library = import_module(self.module)
            about["driver"] = self.open()
            self._gpus = list(self.gpus())
        except ImportError:
            self._missing = self._failed("no_library", self.missing)
        except self.error as error:
            self._missing = self._failed("no_driver", str(error))
        except (OSError, KeyError) as error:
            # The module looks for the vendor's own library when it is imported.
            if self.library is not None:
                raise
            self._missing = self._failed("no_library", f"{self.missing} ({error})")
        if self._missing is None and not self._gpus:
            self._missing = self._failed("no_gpu", "the driver knows no GPU")
        about["gpus"] = [{**gpu.labels, **self._limits(gpu)} for gpu in self._gpus]
        return SensorStarted(source=self.source, interval_s=self.interval_s, target=self.target, about=about)

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
            self.shut_down()

    @property
    @abstractmethod
    def error(self) -> type[Exception]:
        """The error class of the library, once imported."""

    @abstractmethod
    def open(self) -> str:
        """Initialize the library; return the driver's version."""

    @abstractmethod
    def gpus(self) -> Iterable[Gpu]:
        """The GPUs that the driver knows."""

    @abstractmethod
    def limits(self, handle: Any) -> Mapping[str, Callable[[], float]]:
        """The queries of `power_limit_w` and `memory_bytes`."""

    @abstractmethod
    def questions(self, handle: Any) -> Iterable[Question]:
        """The queries of a reading with this project's names, the energy counter first."""

    @abstractmethod
    def shut_down(self) -> None:
        """Let go of the driver."""

    def is_lost(self, error: Exception) -> bool:  # noqa: ARG002 (of a library that knows)
        """Whether an error says that the GPU has left the bus."""
        return False

    def _limits(self, gpu: Gpu) -> dict[str, float]:
        """The power limit and the memory of the GPU, where reported."""
        limits = {}
        for name, ask in self.limits(gpu.handle).items():
            try:
                limits[name] = float(ask())
            except (self.error, TypeError, ValueError):
                continue
        gpu.memory_bytes = limits.get("memory_bytes")
        return limits

    def _read(self, gpu: Gpu) -> Reading:
        # The counter is read first, and its time is the reading's: energy is a difference of two of them.
        at_ns = time.monotonic_ns()
        values: dict[str, float] = {}
        for names, ask in self.questions(gpu.handle):
            try:
                values.update(zip(names, map(float, ask()), strict=True))
            except (TypeError, ValueError):  # `N/A` in place of a number
                continue
            except self.error as error:
                # A GPU need not have everything; an old one has no energy counter.
                if self.is_lost(error):
                    gpu.gone = True
                    return self._failed("gpu_lost", f"GPU {gpu.labels['gpu']}: {error}", gpu)
        if not values:
            gpu.gone = True
            return self._failed("no_reading", f"GPU {gpu.labels['gpu']} answers nothing", gpu)
        took_ms = (time.monotonic_ns() - at_ns) / 1e6
        return Reading(source=self.source, at_ns=at_ns, values=values, labels=gpu.labels, took_ms=took_ms)

    def _failed(self, name: str, message: str, gpu: Gpu | None = None) -> Reading:
        labels = {} if gpu is None else gpu.labels
        return Reading(
            source=self.source, at_ns=time.monotonic_ns(), labels=labels, error=name, message=message
        )
