"""SQL over spans of time that no view has, and that follow from a log and a report's definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.log.condition import quoted
from reporter.log.sql_files import sql_file
from reporter.statements import STAGE, part
from reporter.windows.spans import span_number
from reporter.windows.stages import stage_spans, stages_of

if TYPE_CHECKING:
    from reporter.log.database import OpenLog
    from reporter.report import Report, Window

_WINDOWS: Final = """\
windows AS (
    SELECT * FROM (VALUES
    {rows}
    ) AS windows(sitting, kind, duration_s, start_ns, end_ns)
)"""

_WHOLE: Final = """\
measured_window AS (
    SELECT * FROM (VALUES ({row})) AS whole(kind, duration_s, start_ns, end_ns)
)"""

_STAGE_RATES: Final = """\
    SELECT stage AS part, coalesce(sum(completed), 0) / sum(seconds) AS requests_per_s,
        sum(output_tokens) / sum(seconds) AS output_tokens_per_s
    FROM (VALUES {spans}) AS spans(span, stage, seconds)
    LEFT JOIN (
{happenings}
    ) USING (span)
    GROUP BY part"""


def windows(log: OpenLog) -> str:
    """The views of the rates over the windows of a log, as the tables of a `WITH` clause.

    Empty where they are the run's own, which the views have.
    """
    if log.windows is None:
        return ""
    rows = ",\n    ".join(f"({number}, {_values(part)})" for number, part in enumerate(log.windows, start=1))
    return ",\n\n".join(
        (
            _WINDOWS.format(rows=rows),
            _WHOLE.format(row=_values(log.window)),
            *map(_view, ("counted", "arriving", "arrived")),
        )
    )


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


def _values(window: Window) -> str:
    times = (window.duration_s, window.start_ns, window.end_ns)
    return ", ".join((quoted(window.kind), *("NULL" if time is None else repr(time) for time in times)))


def _view(name: str) -> str:
    """A view as a table of a `WITH` clause over the tables above."""
    _, _, query = sql_file(name).partition(f"CREATE VIEW {name} AS\n")
    return f"{name} AS (\n{query.strip().rstrip(';')}\n)"
