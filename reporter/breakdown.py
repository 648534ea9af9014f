"""The figures of parts of the requests: by phase, endpoint, turn, stage of the load, and tag of the dataset.

A tag with a single value is left out: the whole report is about it. There are at most `MOST_VALUES` rows of
values; the last one then has all the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reporter.distribution import summaries_by_group
from reporter.late_read_bounds import ENDS, bounds_by_part, column
from reporter.log.sql_files import quoted, value_of_tag
from reporter.report import PartReport
from reporter.windows.run_spans import happenings, span_macro, stage_spans, stages_of
from rulesets.request_metrics import REQUEST_METRICS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.log.database import OpenLog
    from reporter.report import MetricBounds, RequestCounts
    from rulesets.definitions import PercentileMethod

MOST_VALUES: Final = 50

TAKEN: Final = ("phase", "endpoint", "turn", "stage", "time")
"""The breakdowns without a tag. A tag of such a name is called `tag:phase`."""

METRICS: Final = tuple(metric.name for metric in REQUEST_METRICS if metric.in_parts)


@dataclass(frozen=True, slots=True)
class Done:
    """The requests and tokens that completed in a span of time."""

    completions: int = 0
    output_tokens: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class By:
    """A way to break requests down.

    Attributes:
        value: SQL over `samples` for the common text of a part.
        order: SQL for what the parts are sorted by, in ascending order.
        done: The completions of each value, in the window or in its own time.
        seconds: How long the window is; None where each value has its own time.
        where: SQL for the requests that it is about.
    """

    value: str
    order: str
    done: Mapping[str | None, Done] = field(default_factory=dict)
    seconds: float | None = None
    where: str = "measured"


def breakdown(
    log: OpenLog,
    load: Mapping[str, Any],
    counts: RequestCounts,
    method: PercentileMethod,
) -> dict[str, list[PartReport]]:
    """Break the requests down in every way that the log allows."""
    ways = {"phase": _by_phase(log)} if counts.warmup else {}
    ways |= {name: _of_window(log, *sql) for name, sql in _part_columns(log).items()}
    if by := _by_stage(log, load):
        ways["stage"] = by
    return {name: _parts(log, by, method) for name, by in ways.items()}


def _part_columns(log: OpenLog) -> dict[str, tuple[str, str]]:
    """For each way, the SQL for the value of a part, and for the order of parts."""
    endpoints, turns = log.execute(
        "SELECT count(DISTINCT endpoint_index), count(turn) FROM requests WHERE measured",
    ).fetchall()[0]
    tags = log.execute(
        "SELECT DISTINCT unnest(json_keys(tags)) AS tag FROM requests WHERE measured AND tags IS NOT NULL "
        "ORDER BY tag",
    ).fetchall()
    columns = {"endpoint": ("endpoint", _FREQUENT)} if endpoints > 1 else {}
    if turns:
        columns["turn"] = ("turn::VARCHAR", "min(turn)")
    for (tag,) in tags:
        columns[f"tag:{tag}" if tag in TAKEN else tag] = (value_of_tag(tag), _FREQUENT)
    return columns


_FREQUENT: Final = "-count(*)"


def _of_window(log: OpenLog, value: str, order: str) -> By:
    rows = log.execute(
        f"SELECT {value} AS value, count(*) FILTER (in_window), sum_of_tokens(output_tokens) "  # noqa: S608 (what a log has is quoted)
        "FROM arrived GROUP BY value",
    ).fetchall()
    seconds = log.window.duration_s or 0.0
    done = {text: Done(completed, tokens, seconds) for text, completed, tokens in rows}
    return By(value, order, done, seconds)


def _by_phase(log: OpenLog) -> By:
    """The warm-up in its own time, and the measured requests in the window."""
    measured = _of_window(log, "'performance'", _FREQUENT)
    warmup = log.execute(
        "SELECT (SELECT count(*) FROM samples WHERE phase = 'warmup' AND status = 'completed'), "
        "(SELECT sum(output_tokens) FROM samples WHERE phase = 'warmup' AND status = 'completed'), "
        "(SELECT coalesce(sum(ended_ns - started_ns), 0) / 1e9 FROM phases WHERE phase = 'warmup')",
    ).fetchall()[0]
    done = {**measured.done, "warmup": Done(*warmup)}
    return By("phase", "min(issued_ns)", done, where="phase IN ('warmup', 'performance')")


def _by_stage(log: OpenLog, load: Mapping[str, Any]) -> By | None:
    """Stages by when requests were due, with the completions during each."""
    spans = list(stage_spans(log, stages_of(load)))
    if not spans:
        return None
    rows = [row for _, row in spans]
    happened, span_of = happenings(log, rows), span_macro(log, rows)
    done: dict[str | None, Done] = {}
    for number, (label, row) in enumerate(spans):
        before, now = done.get(label, Done()), happened.get(number, {})
        done[label] = Done(
            before.completions + now.get("completed", 0),
            (before.output_tokens or 0.0) + now.get("output_tokens", 0.0),
            before.seconds + row.width_ns / 1e9,
        )
    labels = ", ".join(quoted(label) for label, _ in spans)
    return By(f"[{labels}][{span_of}(scheduled_ns) + 1]", "min(scheduled_ns)", done)


def _parts(log: OpenLog, by: By, method: PercentileMethod) -> list[PartReport]:
    log.execute(
        "CREATE OR REPLACE TEMP TABLE labels AS "  # noqa: S608 (likewise)
        "SELECT value, row_number() OVER (ORDER BY place NULLS LAST, value) - 1 AS part FROM "
        f"(SELECT {by.value} AS value, {by.order} AS place FROM samples WHERE {by.where} GROUP BY value)",
    )
    values = [value for (value,) in log.execute("SELECT value FROM labels ORDER BY part").fetchall()]
    last = MOST_VALUES - 1
    if len(values) > MOST_VALUES:
        log.execute("UPDATE labels SET part = $last WHERE part > $last", {"last": last})
    columns = dict.fromkeys(column(metric, end) for metric in METRICS for end in (None, *ENDS))
    log.execute(
        f"CREATE OR REPLACE TEMP TABLE labeled AS SELECT part, status, {', '.join(columns)} "  # noqa: S608 (likewise)
        f"FROM samples JOIN labels ON {by.value} IS NOT DISTINCT FROM labels.value WHERE {by.where}",
    )
    rows = log.execute(
        "SELECT part, count(*), count(*) FILTER (status = 'completed'), count(*) FILTER (status = 'failed'), "
        "count(*) FILTER (status = 'cancelled') FROM labeled GROUP BY part ORDER BY part",
    ).fetchall()
    completed = "FROM labeled WHERE status = 'completed'"
    summaries = {
        name: summaries_by_group(log, f"SELECT part, {name} AS value {completed}", method)
        for name in map(column, METRICS)
    }
    bounds = bounds_by_part(log, completed, METRICS, method)
    return [
        _part(
            values[part:] if part == last else values[part : part + 1],
            counted,
            by,
            {name: summary.get(part) for name, summary in summaries.items()},
            bounds.get(part, {}),
        )
        for part, *counted in rows
    ]


def _part(
    values: Sequence[str | None],
    counted: Sequence[int],
    by: By,
    summaries: Mapping[str, Any],
    bounds: dict[str, MetricBounds],
) -> PartReport:
    issued, completed, failed, cancelled = counted
    ended = completed + failed + cancelled
    done = [by.done[value] for value in values if value in by.done]
    seconds = sum(span.seconds for span in done) if by.seconds is None else by.seconds
    tokens = [span.output_tokens for span in done if span.output_tokens is not None]
    return PartReport(
        value=values[0] if len(values) == 1 else None,
        values=len(values),
        issued=issued,
        completed=completed,
        failed=failed,
        cancelled=cancelled,
        error_rate=failed / ended if ended else None,
        duration_s=seconds or None,
        qps=sum(span.completions for span in done) / seconds if seconds else None,
        output_tps=sum(tokens) / seconds if seconds and (tokens or not completed) else None,
        **summaries,
        bounds=bounds,
    )
