"""The options of telemetry: what is read of the server and of this machine while requests run."""

from __future__ import annotations

import math
import re
from typing import Final
from urllib.parse import urlsplit

from lazy_dataclasses import dataclass
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.kinds import Seconds
from loadgen.sessions.settings.option import OptionValueError, Panel

TELEMETRY: Final = Panel("Telemetry")

LIBRARIES: Final = ("nvml", "amdsmi")
"""The management libraries of GPU vendors, for GPUs of this host."""

EXPORTERS: Final = ("amd", "intel")
"""The vendors whose exporter has the name before the URL, as in `amd:http://node:5000/metrics`."""
"""In place of a URL: the GPUs of this host."""

AUTO: Final = "auto"
"""In place of a URL: the page that belongs to the endpoint."""

NONE: Final = "none"
"""In place of a URL: no page, and none is looked for."""

_VISIBLE: Final = re.compile(r"[!-~]+")

SHORTEST_INTERVAL_S: Final = 0.02


def page_url(value: str) -> str:
    """Read the URL of a metrics page, `auto` or `none`."""
    if value in (AUTO, NONE):
        return value
    if "@" in value or "?" in value:
        raise OptionValueError(
            "leave user, password and query out; --header is sent to the endpoint's own host"
        )
    try:
        parts = urlsplit(value if "://" in value else f"http://{value}")
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise OptionValueError(f"not a URL: {error}") from error
    if parts.scheme not in {"http", "https"} or not host or not _VISIBLE.fullmatch(value):
        raise OptionValueError(f"{value!r} is not a URL such as http://127.0.0.1:8000/metrics")
    return parts.geturl()


def gpu_source(value: str) -> str:
    """Read the name of a library, the URL of DCGM's exporter, or `amd:URL` or `intel:URL`."""
    if value in (AUTO, NONE):
        raise OptionValueError("give nvml, amdsmi, the URL of DCGM's exporter, amd:URL or intel:URL")
    if value in LIBRARIES:
        return value
    vendor, url = exporter_of(value)
    return f"{vendor}:{page_url(url)}" if vendor else page_url(url)


def exporter_of(source: str) -> tuple[str, str]:
    """The vendor of an exporter, empty for DCGM's, and the URL."""
    vendor, _, url = source.partition(":")
    return (vendor, url) if vendor in EXPORTERS else ("", source)


@dataclass(frozen=True, kw_only=True, slots=True)
class TelemetrySettings:
    """Options of telemetry."""

    server_metrics: list[str] = TELEMETRY.option(
        "Record the server's Prometheus metrics; without a URL those at /metrics; repeatable. Default: "
        "only those at /metrics before and after the run, where a known server has them.",
        [],
        parser=page_url,
        envvar=("LOADGEN_SERVER_METRICS",),
        metavar="[URL|none]",
    )
    server_metrics_interval: Seconds = TELEMETRY.option(
        "Time between two readings of the server's metrics.", 1.0
    )
    host_metrics: bool = TELEMETRY.switch("Record CPU, memory and network of this machine each second.")

    server_profile: bool = TELEMETRY.switch(
        "Run the server's profiler in the measured phase: POST /start_profile, /stop_profile (vLLM, SGLang)."
    )

    gpu_metrics: list[str] = TELEMETRY.option(
        "Record power, energy and use of GPUs: of this host by NVML or AMD SMI; of others by an exporter: "
        "DCGM's, AMD's or Intel's.",
        [],
        parser=gpu_source,
        metavar="nvml|amdsmi|URL|amd:URL|intel:URL",
    )
    gpu_metrics_interval: Seconds = TELEMETRY.option(
        "Time between two readings of the GPUs by a library; an exporter is read each second.", 0.1
    )
    declared_power: float | None = TELEMETRY.option(
        "Power of the system, if not measurable: energy is then tagged as declared.", metavar="WATTS"
    )
    param_count_b: float | None = TELEMETRY.option(
        "Billions of parameters of the model, for mfu_pct, mbu_pct.", metavar="N"
    )
    active_params_b: float | None = TELEMETRY.option(
        "Billions of active parameters per token. Default: all.", metavar="N"
    )
    gpu_peak_tflops: float | None = TELEMETRY.option(
        "Peak TFLOP/s of a GPU, dense, in the model's precision.", metavar="N"
    )
    gpu_peak_bandwidth_gb_s: float | None = TELEMETRY.option(
        "Peak memory bandwidth of a GPU, in GB/s.", metavar="N"
    )

    @property
    def has_sensors(self) -> bool:
        """Whether sensors are asked for: of servers, of this machine or of GPUs."""
        return self.host_metrics or bool(self.gpu_metrics) or not {NONE}.issuperset(self.server_metrics)

    def __post_init__(self) -> None:
        intervals = {
            "--server-metrics-interval": self.server_metrics_interval,
            "--gpu-metrics-interval": self.gpu_metrics_interval,
        }
        for option, interval_s in intervals.items():
            if interval_s < SHORTEST_INTERVAL_S:
                raise UsageError(f"{option} {interval_s:g}: must be at least {SHORTEST_INTERVAL_S:g} s")
        if NONE in self.server_metrics and set(self.server_metrics) != {NONE}:
            raise UsageError("--server-metrics none: excludes pages; leave out none, or the pages")
        figures = {
            "--declared-power": self.declared_power,
            "--param-count-b": self.param_count_b,
            "--active-params-b": self.active_params_b,
            "--gpu-peak-tflops": self.gpu_peak_tflops,
            "--gpu-peak-bandwidth-gb-s": self.gpu_peak_bandwidth_gb_s,
        }
        for option, figure in figures.items():
            if figure is not None and not (figure > 0 and math.isfinite(figure)):
                raise UsageError(f"{option} {figure:g}: must be more than 0")
