"""The contents of a run's page besides the report, computed from the opened log."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from reporter.contents import example_requests, scored, span_statements
from reporter.contents.key_figures import headlines
from reporter.contents.narrow import narrowed
from reporter.log.subjects import has_sensors
from reporter.log.window import windows_sql
from reporter.measured.log_evidence import LogEvidence
from reporter.plots.catalog import PLOTS
from reporter.plots.make import make_plot
from reporter.plots.phases import phases_of
from reporter.plots.plot_value import NoPlot, Plot
from reporter.stored_answers import texts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reporter.contents.example_requests import RequestExcerpt
    from reporter.contents.key_figures import HeadlineValue
    from reporter.contents.scored import ScoredSamples
    from reporter.log.database import OpenLog
    from reporter.plots.phases import RunPhase
    from reporter.report import Report

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
        slowest: The slowest requests.
        failed: The first failures of each kind.
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
    samples: ScoredSamples | None = None
    windows: str = ""
    stages: str = ""
    phases: tuple[RunPhase, ...] = ()


def run_contents(report: Report, evidence: LogEvidence) -> RunContents:
    """Compute the contents of a run's page.

    Args:
        report: The report.
        evidence: Over the log that it was computed from.

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
    with texts_of(log.run) as read:
        return RunContents(
            headlines=headlines(LogEvidence(narrow, report)),
            plots=plots,
            absent=tuple(plot for plot in made if isinstance(plot, NoPlot)),
            parts={tag: dict(_parts(narrow, tag, divided)) for tag in _tags(report)[:MOST_TAGS]},
            slowest=example_requests.slowest(log, narrow, read),
            failed=example_requests.failed(log, narrow, read),
            samples=scored.scored_samples(log, report.accuracy, read) if has_scores else None,
            windows="" if log.windows is None else windows_sql(log.windows, log.window),
            stages=span_statements.stages(log, report),
            phases=phases_of(log),
        )


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
