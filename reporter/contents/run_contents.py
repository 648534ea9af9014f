"""The contents of a run's page besides the report, computed from the opened log."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass, field
from reporter.breakdown import parts_sql
from reporter.compare.compared_figure import figure
from reporter.compare.compared_metric import metric
from reporter.contents import example_requests, scored, session_lanes
from reporter.contents.example_requests import FAILED, SLOWEST
from reporter.imported import has_starts
from reporter.load_stages import by_stage
from reporter.log.sql_files import sql_file
from reporter.log.subjects import has_sensors
from reporter.log.window import windows_sql
from reporter.measured.log_evidence import LogEvidence
from reporter.plots.make import PLOTS, make_plot
from reporter.plots.marks import phases_of
from reporter.plots.plot_value import NoPlot, Plot
from reporter.stored_answers import texts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reporter.contents.example_requests import RequestExcerpt
    from reporter.contents.scored import ScoredSamples
    from reporter.log.database import OpenLog
    from reporter.plots.marks import RunPhase
    from reporter.report import Report
    from rulesets.evidence import Evidence

LEVEL: Final = 0.95
"""Of the intervals."""

MEASURED: Final = (
    *("output_tps", "qps", "ttft:p(50)", "ttft:p(99)", "tpot:p(50)", "tpot:p(99)", "itl:p(50)", "itl:p(99)"),
    *("latency:p(50)", "latency:p(99)", "error"),
    *("session:p(50)", "session:p(95)", "jobs_per_hour", "hit_rate"),
)
"""The figures of a page, as `loadgen compare --metric` names them."""


@dataclass(frozen=True, slots=True)
class HeadlineValue:
    """A figure with a 95 % interval.

    Attributes:
        low: The lower end; None where the run is too short for one.
        n: The requests, or gaps, behind it.
    """

    value: float
    low: float | None
    high: float | None
    unit: str
    n: int


def headlines(evidence: Evidence) -> dict[str, HeadlineValue]:
    """Those of `MEASURED` that a run has.

    The intervals are those of `loadgen compare`: of percentiles by order statistics, of rates by the scatter
    over time, with as many requests as are independent of each other.

    Raises:
        LogError: The log is damaged.
        NoRoomError: Memory and temporary disk space are too small for what is computed.
    """
    return dict(_headlines(evidence))


def _headlines(evidence: Evidence) -> Iterator[tuple[str, HeadlineValue]]:
    for name in MEASURED:
        compared = metric(name)
        computed = figure(evidence, compared, LEVEL)
        if computed is not None:
            yield (
                name,
                HeadlineValue(computed.value, computed.low, computed.high, compared.unit, computed.n),
            )


_READ_COLUMNS: Final = (
    *("sample_uuid", "tags", "segment", "phase", "endpoint", "turn", "measured", "in_window", "status"),
    *("issued_ns", "ended_ns", "ttft_ms", "tpot_ms", "latency_ms"),
)
"""The columns of `samples` that figures with intervals are computed from."""

_SAMPLES: Final = "CREATE TEMP TABLE samples AS SELECT {columns} FROM memory.main.samples"

_CHUNK_VIEW: Final = """
    CREATE TEMP VIEW chunks AS
    SELECT
        sample_uuid,
        chunk - 1 AS chunk_index,
        CASE WHEN chunk > 1 THEN gap_us / 1e3 END AS gap_ms
    FROM (
        SELECT sample_uuid, unnest(chunk_gaps_us) AS gap_us, generate_subscripts(chunk_gaps_us, 1) AS chunk
        FROM requests
    )"""
"""Without the moments of arrival, which take a sum for each chunk."""


def narrowed(log: OpenLog) -> OpenLog:
    """The log on another connection, with only the columns of `samples` for plots and figures.

    A request takes some 200 bytes; what has no room in memory goes to a temporary file.

    Raises:
        NoRoomError: Memory and temporary disk space are too small for it.
    """
    narrow = log.with_room()
    drawn = sql_file("figures/request_lanes")
    read = " ".join(
        (*_READ_COLUMNS, SLOWEST, FAILED, drawn, *(definition.sql for definition in PLOTS.values()))
    )
    words = set(re.findall(r"\w+", read))
    columns = [name for name, *_ in narrow.execute("DESCRIBE samples").fetchall() if name in words]
    narrow.execute(_SAMPLES.format(columns=", ".join(columns)))
    narrow.execute(_CHUNK_VIEW)
    return narrow


_BUILT_IN: Final = frozenset({"phase", "endpoint", "turn", "stage"})
"""What a report is broken down by without a tag."""

MOST_TAGS: Final = 3
"""For how many tags there are plots of each value."""


MANY_REQUESTS: Final = 100_000
"""From here on, plots that read every chunk are of all requests only: each part takes seconds."""

_CHUNKS: Final = re.compile(r"\bFROM chunks\b")


@dataclass(frozen=True, slots=True)
class RunContents:
    """The contents of a page besides the report.

    Attributes:
        headlines: Figures with intervals, by names as `loadgen compare --metric` takes them.
        plots: All that the run has data for.
        absent: The others, with the reason.
        parts: By tag and by name, plots with a series per value of the tag.
        sessions: The requests of some sessions or episodes, the slowest first.
        requests: Some requests, as they were due; none of an imported run without times.
        samples: Some scored answers; None of a run without benchmarks.
        windows: SQL that puts the windows of the rates in the place of the run's own; empty for these.
        stages: The query of the stages of the load; empty without any.
        phases: Warm-up, measured window and drain, on the time axis of the plots.
    """

    headlines: Mapping[str, HeadlineValue] = field(default_factory=dict)
    plots: tuple[Plot, ...] = ()
    absent: tuple[NoPlot, ...] = ()
    parts: Mapping[str, Mapping[str, Plot]] = field(default_factory=dict)
    slowest: tuple[RequestExcerpt, ...] = ()
    failed: tuple[RequestExcerpt, ...] = ()
    sessions: tuple[tuple[session_lanes.LaneTurn, ...], ...] = ()
    requests: tuple[session_lanes.LaneRequest, ...] = ()
    samples: ScoredSamples | None = None
    windows: str = ""
    stages: str = ""
    phases: tuple[RunPhase, ...] = ()


def run_contents(report: Report, evidence: LogEvidence) -> RunContents:
    """Compute the contents of a run's page.

    Raises:
        LogError: The log is damaged.
        NoRoomError: Memory and temporary disk space are too small for what is computed.
    """
    log = evidence.log
    has_scores = any(score.pass_ is not None for score in report.accuracy)
    log.load({*example_requests.TABLES, *(scored.TABLES if has_scores else ())})
    narrow = narrowed(log)
    sensors = has_sensors(log)
    made = [_plot(narrow, name, has_scores=has_scores, has_sensors=sensors) for name in PLOTS]
    plots = tuple(plot for plot in made if isinstance(plot, Plot))
    is_big = report.counts.issued > MANY_REQUESTS
    divided = [plot for plot in plots if not (is_big and _CHUNKS.search(PLOTS[plot.name].sql))]
    by = by_stage(log, report.run.load)
    with texts_of(log.run) as read:
        return RunContents(
            headlines=headlines(LogEvidence(narrow, report)),
            plots=plots,
            absent=tuple(plot for plot in made if isinstance(plot, NoPlot)),
            parts={tag: dict(_parts(narrow, tag, divided)) for tag in _tags(report)[:MOST_TAGS]},
            slowest=example_requests.slowest(log, narrow, read),
            failed=example_requests.failed(log, narrow, read),
            sessions=_sessions(log, report),
            requests=session_lanes.requests(narrow) if has_starts(report.run.imported) else (),
            samples=scored.scored_samples(log, report.accuracy, read) if has_scores else None,
            windows="" if log.windows is None else windows_sql(log.windows, log.window),
            stages="" if by is None else parts_sql(by, report.run.percentile_method),
            phases=phases_of(log),
        )


def _sessions(log: OpenLog, report: Report) -> tuple[tuple[session_lanes.LaneTurn, ...], ...]:
    if report.sessions:
        return session_lanes.sessions(log)
    return session_lanes.episodes(log) if report.episodes else ()


def _plot(log: OpenLog, name: str, *, has_scores: bool, has_sensors: bool) -> Plot | NoPlot:
    """A plot; one of scores or of sensors is not asked of a run without, for which tables would be loaded."""
    definition = PLOTS[name]
    has_tables = has_scores if "scores" in definition.tables else has_sensors
    if definition.tables and not has_tables:
        return NoPlot(name, definition.title, definition.lacking)
    return make_plot(log, name)


def _tags(report: Report) -> list[str]:
    """The tags that distinguish requests, each under a separate name."""
    tagged = [name for name in report.breakdown if name not in _BUILT_IN and len(report.breakdown[name]) > 1]
    return [name.removeprefix("tag:") for name in tagged]


def _parts(log: OpenLog, tag: str, plots: Sequence[Plot]) -> Iterator[tuple[str, Plot]]:
    for plot in plots:
        if PLOTS[plot.name].has_parts:
            part = make_plot(log, plot.name, tag)
            if isinstance(part, Plot):
                yield plot.name, part
