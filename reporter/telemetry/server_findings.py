"""Findings about the server's account of a run, and about sensors that could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from reporter.findings.check_inputs import listed
from reporter.number_text import counted, figure, percent, whole
from reporter.report import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reporter.values.server_side import ServerSide, SideBySide

_EXCERPT: Final = 160
_NAMES: Final = {
    "server": "the server's metrics",
    "host": "this machine",
    "nvml": "the GPUs (NVML)",
    "amdsmi": "the GPUs (AMD SMI)",
    "dcgm": "the GPUs (DCGM)",
    "amd_exporter": "the GPUs (AMD's exporter)",
    "intel_exporter": "the GPUs (Intel's exporter)",
}


def unread(errors: Sequence[Mapping[str, object]], side: ServerSide | None) -> Iterator[Finding]:
    """Sensors that could not be read, each once."""
    for source in dict.fromkeys(str(row["source"]) for row in errors):
        rows = [row for row in errors if row["source"] == source]
        by_error = {str(row["error"]): int(str(row["readings"])) for row in rows}
        example = " ".join(str(rows[0]["example"] or "").split())[:_EXCERPT]
        stopped = ""
        if source == "server" and side is not None and side.stopped_s is not None:
            end = f"stopped {figure(side.stopped_s)} s" if side.stopped_s > 0 else "failed"
            stopped = f"Readings {end} after the first request, so nothing is compared. "
        yield Finding(
            "sensor_unread",
            "warning",
            f"{sum(by_error.values())} of {rows[0]['tried']} readings of {_NAMES.get(source, source)} "
            f"failed: {listed(by_error)}. {stopped}For example: {example}",
            "See docs/telemetry.md for the needs of sensors. Figures of requests are not affected.",
        )


def about_server(side: ServerSide, choices: int = 1) -> Iterator[Finding]:
    """Where client and server disagree, and what the server went through."""
    rows = {row.quantity: row for row in side.compared}
    if (requests := rows.get("completed requests")) is not None and requests.agrees is False:
        yield _of_requests(requests)
    else:
        # Where others use the server, nothing else can agree.
        yield from (
            _of_tokens(row) for name, row in rows.items() if name.endswith("tokens") and row.agrees is False
        )
        yield from _of_times(rows, on_loopback=all(map(_is_loopback, side.pages)))
        yield from _of_load(side, choices)
    if side.preemptions:
        yield Finding(
            "server_preempted",
            "warning",
            f"The server preempted {counted(side.preemptions, 'request')} because the KV cache was full, "
            "and lost the computed part.",
            "Lower the load, or give the server more KV cache or fewer requests at once.",
        )


def _of_requests(row: SideBySide) -> Finding:
    client, server = whole(round(row.client or 0)), whole(round(row.server or 0))
    more = (row.difference or 0) < 0
    return Finding(
        "server_requests_differ",
        "warning",
        f"The server completed {server} requests while the client's {client} completed: "
        + (
            "other clients use the server, which changes the figures."
            if more
            else "a cache or another server answered the rest."
        ),
        "Measure a server without other clients."
        if more
        else "Give --server-metrics the page of each server behind the endpoint.",
    )


def _of_tokens(row: SideBySide) -> Finding:
    return Finding(
        "server_tokens_differ",
        "warning",
        f"Client and server disagree on the {row.quantity}: {whole(round(row.client or 0))} by the client, "
        f"{whole(round(row.server or 0))} by the server ({_signed_share(row)}).",
        "The responses (usage) and the server's metrics count different tokens; see docs/metrics.md.",
    )


def _of_load(side: ServerSide, choices: int) -> Iterator[Finding]:
    """Requests in the server that the client has not sent."""
    client, mean = side.client_in_flight_max, side.in_server_mean
    if client is not None and mean is not None and mean > choices * _CROWDED * client + 1:
        yield Finding(
            "server_load_differs",
            "warning",
            f"The server reports {figure(mean)} concurrent requests on average, the client "
            f"{whole(round(client))} at most. Other clients use the server, or the metrics page counts "
            "requests more than once.",
            "Measure a server without other clients. loadgen sql RUN 'select * from sensors' has the values.",
        )


_CROWDED: Final = 1.5
"""Requests in the server per request of the client from which the two contradict each other."""

_MATERIAL_MS: Final = 20.0
_MATERIAL_SHARE: Final = 0.25
"""How much longer a TTFT must be for the client to be a finding."""


def _of_times(rows: Mapping[str, SideBySide], *, on_loopback: bool) -> Iterator[Finding]:
    ttft = rows.get("TTFT mean (ms)")
    if ttft is not None and ttft.agrees is False:
        difference = ttft.difference or 0.0
        longer = difference > 0
        if not longer or difference > max(_MATERIAL_MS, _MATERIAL_SHARE * (ttft.server or 0.0)):
            where = (
                "the server's HTTP front end"
                if on_loopback
                else "network, proxies, the server's HTTP front end"
            )
            low = ttft.client_low if longer else None
            client = figure(ttft.client) if low is None else f"at least {figure(low)}"
            apart = f"{figure(abs(difference))} ms ({_signed_share(ttft)})"
            nearer = "Compare with a client on the server's machine."
            yield Finding(
                "server_ttft_differs",
                "warning",
                f"Mean TTFT is {client} ms by the client and {figure(ttft.server)} ms by the server: {apart} "
                + (
                    f"are spent where the server does not measure: {where}."
                    if longer
                    else "less, although a client cannot see a token before the server does."
                ),
                ("Profile the server's HTTP front end." if on_loopback else nearer)
                if longer
                else "The server's clock starts before the request has ended, or other requests are counted.",
            )
    queue = rows.get("time in queue mean (ms)")
    if queue is not None and queue.agrees is False:
        yield Finding(
            "server_queue_differs",
            "warning",
            f"The server reports a mean wait of {figure(queue.server)} ms in queue, longer than the "
            "client's TTFT.",
            "The server's metrics count other requests as well.",
        )


def _signed_share(row: SideBySide) -> str:
    if row.share is None:
        return "nothing by the server"
    return f"{'+' if row.share > 0 else '-'}{percent(abs(row.share), 1)}"


def _is_loopback(url: str) -> bool:
    """Whether the URL of a page names this machine."""
    host = urlsplit(url).hostname or ""
    return host in {"localhost", "::1"} or host.startswith("127.")
