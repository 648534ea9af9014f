"""The server's times of each request in a report: client minus server, request by request, by percentile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.log.database import rows_of
from reporter.number_text import counted, figure
from reporter.report import Finding
from reporter.values.report_section import ReportSection, SectionTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.log.database import OpenLog
    from reporter.report import Report

_TIMES: Final = {
    "queue_ms": ("queue", "NULL", "NULL"),
    "prefill_ms": ("prefill", "NULL", "NULL"),
    "ttft_ms": ("TTFT", "client_ttft_ms", "client_ttft_ms"),
    "decode_ms": ("decode", "client_decode_ms", "client_latency_ms - coalesce(ttft_ms, 0)"),
    "latency_ms": ("latency", "client_latency_ms", "client_latency_ms"),
    "head_ms": ("up to the head", "client_head_ms", "client_head_ms"),
}
"""The server's times, the client's figure of the same time, and the longest that a right clock can state.

A first token that reaches the client late makes the client's decode shorter than the server's, and the client
has no token for the end of the sequence.
"""

TIMES: Final = "\nUNION ALL BY NAME\n".join(
    f"""\
SELECT source, clock, '{label}' AS time, count({column}) AS requests,
    median({column}) AS p50, quantile_cont({column}, 0.99) AS p99,
    median({client}) FILTER ({column} IS NOT NULL) AS client_p50,
    quantile_cont({client}, 0.99) FILTER ({column} IS NOT NULL) AS client_p99,
    median({client} - {column}) AS apart_p50, quantile_cont({client} - {column}, 0.95) AS apart_p95,
    quantile_cont({client} - {column}, 0.99) AS apart_p99, min({client} - {column}) AS apart_min,
    max({client} - {column}) AS apart_max,
    count(*) FILTER ({column} - ({bound}) > 1) AS longer, max({column} - ({bound})) AS longer_by
FROM server_times
WHERE counts
GROUP BY ALL
HAVING requests > 0"""  # noqa: S608 (columns of this program's)
    for column, (label, client, bound) in _TIMES.items()
)

_STATISTICS: Final = {
    "p50": "server p50",
    "client_p50": "client p50",
    "apart_p50": "diff. p50",
    "p99": "server p99",
    "client_p99": "client p99",
    "apart_p99": "diff. p99",
    "apart_p95": "diff. p95",
    "apart_max": "diff. max",
    "apart_min": "diff. min",
}
_NOTABLE_MS: Final = 20.0
_NOTABLE_SHARE: Final = 0.25


def section(log: OpenLog, report: Report) -> tuple[ReportSection, list[Finding]]:
    """The section, and findings on clocks that cannot be right and on time that the server does not see."""
    times = rows_of(log.execute(TIMES))
    order = {label: place for place, (label, *_) in enumerate(_TIMES.values())}
    times.sort(key=lambda row: (row["clock"] != "server", row["source"], order[row["time"]]))
    rows = [
        [f"{row['time']}, {row['source']}", row["requests"], *(row[name] for name in _STATISTICS)]
        for row in times
    ]
    figures = {
        f"{row['source']}_{row['time'].replace(' ', '_').lower()}_{name}_ms": row[name]
        for row in times
        for name in _STATISTICS
    }
    clocks = {row["source"]: row["clock"] for row in times}
    stating = max((row["requests"] for row in times), default=0)
    stated = ", ".join(f"{source} by the {clock}'s clock" for source, clock in clocks.items())
    lines = [f"{counted(stating, 'response')} of {report.counts.completed:,} state times: {stated}"]
    table = SectionTable(["Time (ms)", "requests", *_STATISTICS.values()], rows, TIMES)
    part = ReportSection("Server's times", lines, [table], figures, TIMES)
    return part, [*_longer(times), *_unseen(times)]


def _longer(times: list[dict[str, Any]]) -> Iterator[Finding]:
    for row in times:
        if row["longer"]:
            yield Finding(
                "server_time_too_long",
                "warning",
                f"{counted(row['longer'], 'request')} have a longer {row['time']} by {row['source']} than "
                f"the client's times allow, by up to {figure(row['longer_by'])} ms.",
                "The server's clock starts before the request or stops after the response: do not compare "
                "the two.",
            )


def _unseen(times: list[dict[str, Any]]) -> Iterator[Finding]:
    """TTFT of which the server sees a part only."""
    for row in times:
        apart, client = row["apart_p50"], row["client_p50"]
        if row["time"] != "TTFT" or apart is None or apart < max(_NOTABLE_MS, _NOTABLE_SHARE * client):
            continue
        yield Finding(
            "server_ttft_apart",
            "warning",
            f"The client's TTFT is {figure(apart)} ms longer than the server's by {row['source']} (median of "
            "the requests).",
            "The server's clock misses this time: look at network, gateways and the API server's process.",
        )
