"""The options of telemetry: what is read of the server and of this machine while requests run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Final
from urllib.parse import urlsplit

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.endpoint import seconds
from loadgen.sessions.settings.option import Option, OptionValueError

TELEMETRY: Final = "Telemetry"

AUTO: Final = "auto"
"""In place of a URL: the page that belongs to the endpoint."""

_VISIBLE: Final = re.compile(r"[!-~]+")

SHORTEST_INTERVAL_S: Final = 0.1


def page_url(value: str) -> str:
    """Read the URL of a metrics page, or `auto`.

    Raises:
        OptionValueError: It is neither; the message does not repeat a password.
    """
    if value == AUTO:
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


@dataclass(frozen=True, kw_only=True, slots=True)
class TelemetrySettings:
    """Options of telemetry."""

    server_metrics: Annotated[
        list[str],
        Option(
            parser=page_url,
            metavar="[URL]",
            help="Record the server's Prometheus metrics; without a URL those at /metrics; repeatable.",
            panel=TELEMETRY,
        ),
    ] = field(default_factory=list)
    server_metrics_interval: Annotated[
        float,
        Option(
            parser=seconds,
            metavar="TIME",
            help="Time between two readings of the server's metrics.",
            show_default="1s",
            panel=TELEMETRY,
        ),
    ] = 1.0
    host_metrics: Annotated[
        bool,
        Option(
            "--host-metrics",
            help="Record CPU, memory and network of this machine each second.",
            panel=TELEMETRY,
        ),
    ] = False

    def __post_init__(self) -> None:
        if self.server_metrics_interval < SHORTEST_INTERVAL_S:
            raise UsageError(
                f"--server-metrics-interval {self.server_metrics_interval:g}: "
                f"must be at least {SHORTEST_INTERVAL_S:g} s"
            )
