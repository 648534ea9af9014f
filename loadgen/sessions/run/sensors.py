"""The sensors of a run, by settings."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from secrets import token_hex
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from httptools import HttpParserError, HttpResponseParser

from loadgen.driver.client.endpoint import Request
from loadgen.driver.sensing.config import SensorConfig
from loadgen.sessions.settings.telemetry_options import AUTO, NONE, exporter_of
from recorder.event import Event, EventType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.driver.sensing.config import SensorKind
    from loadgen.sessions.run.preparation import Prepared
    from recorder.payloads import SensorStarted

HOST_INTERVAL_S: Final = 1.0

_LIBRARIES: Final[Mapping[str, SensorKind]] = {"nvml": "nvml", "amdsmi": "amdsmi"}

_OF_VENDORS: Final[Mapping[str, SensorKind]] = {
    "": "dcgm",
    "amd": "amd_exporter",
    "intel": "intel_exporter",
}

_OK: Final = 200

EXPORTER_INTERVAL_S: Final = 1.0
"""The exporter itself collects less often."""


def sensors_of(prepared: Prepared) -> tuple[SensorConfig, ...]:
    """The sensors of a run; none unless options ask for one."""
    return tuple(_sensors(prepared))


def found_sensors(prepared: Prepared) -> tuple[SensorConfig, ...]:
    """The pages that were found; they are read before and after the requests."""
    return tuple(_of_pages(prepared, prepared.metrics_pages))


def declared_power(watts: float, at_ns: int) -> Event:
    """The logged event of a declared power: a sensor without readings."""
    started: SensorStarted = {"source": "declared", "about": {"power_w": watts}}
    return Event(EventType.SENSOR_STARTED, at_ns, data=started)


def _sensors(prepared: Prepared) -> Iterator[SensorConfig]:
    chosen = prepared.perf.telemetry
    pages = [page for page in chosen.server_metrics if page != NONE]
    urls = [url for page in pages for url in (map(own_page, prepared.targets) if page == AUTO else [page])]
    yield from _of_pages(prepared, urls)
    for source in dict.fromkeys(chosen.gpu_metrics):
        if library := _LIBRARIES.get(source):
            yield SensorConfig(kind=library, interval_s=chosen.gpu_metrics_interval)
        else:
            interval_s = max(chosen.gpu_metrics_interval, EXPORTER_INTERVAL_S)
            vendor, url = exporter_of(source)
            yield SensorConfig(
                kind=_OF_VENDORS[vendor],
                interval_s=interval_s,
                url=url,
                verify=prepared.targets[0].verify,
            )
    if chosen.host_metrics or urls or chosen.gpu_metrics:
        yield SensorConfig(kind="host", interval_s=HOST_INTERVAL_S)


def _of_pages(prepared: Prepared, urls: Iterable[str]) -> Iterator[SensorConfig]:
    for number, url in enumerate(dict.fromkeys(urls)):
        endpoint = _endpoint_at(prepared, url)
        yield SensorConfig(
            kind="server",
            interval_s=prepared.perf.telemetry.server_metrics_interval,
            url=url,
            headers={} if endpoint is None else endpoint.headers,
            verify=prepared.targets[0].verify,
            labels={"page": str(number)},
        )


def own_page(target: Endpoint) -> str:
    """The URL of the page that belongs to an endpoint."""
    return f"{target.origin}/metrics"


def _endpoint_at(prepared: Prepared, url: str) -> Endpoint | None:
    """The endpoint with a page's origin: only there the endpoint's key is sent."""
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    return next((target for target in prepared.targets if target.origin == origin), None)


PATIENCE_S: Final = 0.5
"""How long a run waits for a page that it does not need."""


async def with_found_metrics(prepared: Prepared) -> Prepared:
    """Look for the metrics of the endpoints, by one request each, unless options decide about them.

    No failure is an error, and a page without metrics of a known server is not one. A resumed run has the
    pages of its beginning, so that its parts are comparable.
    """
    is_resumed, decided = prepared.left is not None, bool(prepared.perf.telemetry.server_metrics)
    if is_resumed or decided or not prepared.perf.endpoint.probe:
        return prepared
    pages = {own_page(target): target for target in prepared.targets}
    answers = await asyncio.gather(*map(has_metrics, pages.values()))
    urls = tuple(url for url, has in zip(pages, answers, strict=True) if has)
    return replace(prepared, metrics_pages=urls)


async def has_metrics(target: Endpoint, timeout_s: float = PATIENCE_S) -> bool:
    """Whether the page of an endpoint has metrics of a known server."""
    from recorder.sensors.exposition import is_known

    try:
        return is_known(await asyncio.wait_for(_page(target), timeout_s))
    except (OSError, TimeoutError, HttpParserError):
        return False


class _Page:
    """The body of a response, as `httptools` finds it."""

    def __init__(self) -> None:
        self.body = bytearray()
        self.is_complete = False

    def on_body(self, part: bytes) -> None:
        self.body += part

    def on_message_complete(self) -> None:
        self.is_complete = True


async def _page(target: Endpoint) -> str:
    """The page of an endpoint; empty if too large, or if the status is not 200.

    `recorder.sensors.scrape` would delay the first request by 10 ms: the import of http.client.
    """
    from recorder.sensors.names import MOST_BYTES

    headers = {**target.headers, "Accept": "text/plain;version=0.0.4, */*;q=0.1"}
    request = replace(target, prefix="", query="", keep_alive=False, headers=headers)
    tls = None
    if target.scheme == "https":
        from loadgen.driver.client.tls import tls_context

        tls = tls_context(target)
    reader, writer = await asyncio.open_connection(target.host, target.port, ssl=tls)
    page = _Page()
    parser = HttpResponseParser(page)
    try:
        writer.write(request.http1(Request("GET", "/metrics", token_hex(16))))
        while not page.is_complete and len(page.body) <= MOST_BYTES and (part := await reader.read(65_536)):
            parser.feed_data(part)
    finally:
        writer.close()
    is_page = parser.get_status_code() == _OK and len(page.body) <= MOST_BYTES
    return page.body.decode(errors="replace") if is_page else ""
