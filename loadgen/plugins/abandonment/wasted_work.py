"""Abandoned requests in a report: how many, and what the server generated after their clients had left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.log.database import rows_of
from reporter.log.subjects import has_sensors
from reporter.number_text import counted, figure, percent, whole
from reporter.report import Finding
from reporter.values.report_section import ReportSection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.log.database import OpenLog
    from reporter.report import Report

LEFT: Final = """\
SELECT count(*) FILTER (status = 'left') AS abandoned, count(*) AS issued,
    coalesce(sum(chunks) FILTER (status = 'left'), 0)::BIGINT AS received_chunks,
    median((ended_ns - sent_ns) / 1e6) FILTER (status = 'left') AS left_after_p50_ms
FROM samples
WHERE measured"""

AFTERWARDS: Final = """\
WITH server AS (
    SELECT sum(grown) AS generated, sum(running) AS running
    FROM (
        SELECT grown(arg_max(output_tokens_total, at_ns), arg_min(output_tokens_total, at_ns)) AS grown,
            arg_max(running_requests, at_ns) AS running
        FROM server_metrics
        GROUP BY segment, page
    )
), client AS (
    SELECT sum(arrived) AS received, bool_and(arrived IS NOT NULL OR status = 'failed') AS is_known
    FROM (
        SELECT status, CASE
            WHEN status = 'completed' THEN output_tokens
            WHEN status <> 'failed' THEN chunks * (
                SELECT coalesce(sum(output_tokens) / nullif(sum(chunks), 0), 1) FROM samples
                WHERE status = 'completed'
            )
        END AS arrived
        FROM samples
        WHERE sent_ns IS NOT NULL
    )
)

SELECT CASE WHEN is_known THEN greatest(generated - received, 0)::DOUBLE END AS generated_after,
    running::BIGINT AS running_at_end
FROM server, client"""


def section(log: OpenLog, report: Report) -> tuple[ReportSection, list[Finding]]:
    """The section, and findings on requests that still run."""
    del report
    left = _row(log, LEFT)
    after: dict[str, Any] = {"generated_after": None, "running_at_end": None}
    if has_sensors(log):
        log.load(("server_metrics",))
        after = _row(log, AFTERWARDS)
    abandoned, generated = left["abandoned"], after["generated_after"]
    figures = {
        **left,
        "generated_after_tokens": generated,
        "generated_after_tokens_per_abandoned": generated / abandoned
        if generated and abandoned
        else generated,
        "running_at_end": after["running_at_end"],
    }
    del figures["issued"]
    part = ReportSection("Abandonment", list(_lines(left, figures)), [], figures, f"{LEFT};\n\n{AFTERWARDS}")
    return part, list(_findings(figures))


def _row(log: OpenLog, query: str) -> dict[str, Any]:
    return rows_of(log.execute(query))[0]


def _lines(left: dict[str, Any], figures: dict[str, Any]) -> Iterator[str]:
    share, when = percent(left["abandoned"], left["issued"]), figure(left["left_after_p50_ms"])
    yield (
        f"{counted(left['abandoned'], 'request')} abandoned ({share}), {when} ms after sending (p50), with "
        f"{counted(left['received_chunks'], 'chunk')} received"
    )
    generated = figures["generated_after_tokens"]
    if generated is None:
        yield "tokens generated after that: unknown without the server's counters (--server-metrics)"
    else:
        each = figures["generated_after_tokens_per_abandoned"]
        yield (
            f"{counted(round(generated), 'token')} generated and not received by the server's counter, "
            f"{figure(each)} per abandoned request"
        )
    if (running := figures["running_at_end"]) is not None:
        yield f"{whole(running)} requests running at the last reading of the server"


def _findings(figures: dict[str, Any]) -> Iterator[Finding]:
    if figures["running_at_end"]:
        yield Finding(
            "abandoned_still_running",
            "warning",
            f"{counted(figures['running_at_end'], 'request')} ran on the server after the last answer.",
            "The server or a gateway does not notice that a client leaves: requests go on to their limit.",
        )
