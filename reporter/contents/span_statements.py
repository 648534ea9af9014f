"""The SQL of the stages of a load, whose spans of time no view has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.log.sql_files import quoted, sql_file
from reporter.statements import STAGE, part
from reporter.windows.run_spans import span_number, stage_spans, stages_of

if TYPE_CHECKING:
    from reporter.log.database import OpenLog
    from reporter.report import Report

_STAGE_RATES: Final = """\
    SELECT stage AS part, coalesce(sum(completed), 0) / sum(seconds) AS requests_per_s,
        sum(output_tokens) / sum(seconds) AS output_tokens_per_s
    FROM (VALUES {spans}) AS spans(span, stage, seconds)
    LEFT JOIN (
{happenings}
    ) USING (span)
    GROUP BY part"""


def stages(log: OpenLog, report: Report) -> str:
    """The query of the stages of the load, with rates over each stage; empty without stages."""
    spans = list(stage_spans(log, stages_of(report.run.load)))
    if STAGE not in report.breakdown or not spans:
        return ""
    rows = (
        f"({number}, {quoted(label)}, {span.width_ns / 1e9!r})" for number, (label, span) in enumerate(spans)
    )
    labels = ", ".join(quoted(label) for label, _ in spans)
    rates = _STAGE_RATES.format(
        spans=", ".join(rows), happenings=sql_file("figures/happenings").strip().rstrip(";")
    )
    value = f"[{labels}][span_of(scheduled_ns) + 1]"
    number = span_number([span for _, span in spans])
    return f"CREATE TEMP MACRO span_of(at_ns) AS {number};\n\n{part(report, value, rates)}"
