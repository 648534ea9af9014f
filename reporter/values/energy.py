"""The energy of a run: `energy` in report.json. docs/telemetry.md has the definitions."""

from __future__ import annotations

from lazy_dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class MetricStats:
    """A figure of requests over those that have it; `std` is the sample standard deviation."""

    count: int
    mean: float
    median: float
    min: float
    max: float
    std: float | None


@dataclass(frozen=True, slots=True)
class TaskEnergy:
    """The energy of the answers to a benchmark, by one scorer.

    Attributes:
        joules: The shares of its measured requests; None where one of them is unknown.
        correct: How many of its answers are correct, as in `TaskCost`.
        ipw: Accuracy by the mean power while its requests ran, in 1/W.
        ipj: Accuracy by `joules`, in 1/J.
    """

    task: str
    scorer: str | None
    joules: float | None
    correct: int | None
    joules_per_correct: float | None
    ipw: float | None
    ipj: float | None


@dataclass(frozen=True, slots=True)
class Energy:
    """Joules of a run, from one kind of source.

    Attributes:
        source: `nvml` or `amdsmi` (GPUs of the client's host), `dcgm`, `amd_exporter` or `intel_exporter`
            (by an exporter), or `declared`. Figures of different sources are not of the same thing.
        method: `counter` (the devices' energy counters), `power` (the integral of their power), `mixed`, or
            `declared`.
        total_joules: All that was observed: the sum of `measured_joules`, `other_joules` and `idle_joules`.
        measured_joules: The shares of the measured requests.
        other_joules: Those of other requests, such as the warm-up's.
        idle_joules: While no request was in flight.
        window_joules: In the window that rates are counted over; None where it was not observed whole.
        mean_watts: In that window.
        joules_per_output_token: `window_joules` by the output tokens that arrived in the window.
        joules_per_request: As above, by the requests that completed in it.
        integral_share: The integral of the power by what the counters say; None without both.
        stats: Of the measured requests that completed, by the names of columns in `--samples`.
    """

    source: str
    method: str
    devices: int
    total_joules: float
    measured_joules: float
    other_joules: float
    idle_joules: float
    window_joules: float | None
    mean_watts: float | None
    joules_per_output_token: float | None
    joules_per_request: float | None
    integral_share: float | None = None
    tasks: list[TaskEnergy] = field(default_factory=list)
    stats: dict[str, MetricStats | None] = field(default_factory=dict)
