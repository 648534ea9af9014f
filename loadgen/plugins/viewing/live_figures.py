"""The page of a run in progress: cards, targets, and plots over time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from loadgen.plugins.viewing.live_moments import QUERY, LiveMoments
from loadgen.sessions.run.report_of_log import started_with
from loadgen.sessions.settings.definition_options import chosen, definitions_of
from reporter.json_values import members, text
from reporter.live.growing_log import GrowingLog
from reporter.live.run_tail import RunTail
from reporter.live.status_lines import in_words
from reporter.live.target_tallies import targets_of
from reporter.log.settings import settings
from reporter.number_text import figure, percent, seconds, whole
from reporter.plots.marks import lines_of
from reporter.render.console_page import clean
from reporter.render.heading import load_in_words
from reporter.render.html.page import CardFigure, FigureCard, FigureCards, PlotGroup, Plots, Tables
from reporter.render.table import Column, Mark, Table, headed
from reporter.run_facts import is_open_loop
from rulesets.expression import described

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reporter.live.current_figures import LiveFigures, LiveTarget, Percentiles
    from reporter.render.table import Cell

_MOST_ERRORS: Final = 4
_SCORE_DIGITS: Final = 4


class LiveRun:
    """A reader of a run in progress, which reads an event of the log once.

    Args:
        run: The folder of the run.

    Raises:
        LogError: The log is missing, damaged, or of a version that cannot be read.
    """

    def __init__(self, run: Path) -> None:
        logged = settings(run)
        rules, _ = started_with(run)
        load = members(logged.get("load"))
        self._tail = RunTail(run)
        self._log = GrowingLog(run, definitions_of(rules, chosen(members(logged.get("options")))), ())
        self._moments = LiveMoments(is_open=is_open_loop(load))
        self._lines = lines_of((target, described(target)) for target in targets_of(logged))
        self._advanced_s = time.monotonic()

    @property
    def is_behind(self) -> bool:
        """Whether the log has more than the last reading took."""
        return self._log.is_behind

    def close(self) -> None:
        """Close the database that plots are computed in."""
        self._log.__exit__()

    def read(self) -> tuple[FigureCards, Tables | None, Plots]:
        """The cards, the targets and the plots at this moment.

        Raises:
            LogError: The log is damaged or gone.
            NoRoomError: Memory and temporary disk space are too small.
        """
        shown = self._tail.read()
        rows, now_s = self._log.rows(QUERY), time.monotonic()
        if rows:
            self._moments.add(rows)
            self._advanced_s = now_s
        plots = self._moments.plots(self._log.in_flight, now_s - self._advanced_s)
        groups = tuple(PlotGroup(plot.title, (plot,)) for plot in plots)
        section = Plots("over-time", "Over time", groups, {}, lines=self._lines)
        return FigureCards("figures", "Figures", tuple(_cards(shown))), _targets(shown), section


def heading(run: Path) -> tuple[str, ...]:
    """The model, the endpoint and the load of a run, from the head of the log.

    Raises:
        LogError: See `LiveRun`.
    """
    logged = settings(run)
    load = ", ".join(load_in_words(members(logged.get("load"))))
    lines = (text(logged.get("model")) or "unnamed model", text(logged.get("url")), load)
    return tuple(clean(line) for line in lines if line)


def _cards(shown: LiveFigures) -> Iterator[FigureCard]:
    recent = f"the last {shown.window_s:.0f} s"
    yield _progress(shown)
    if shown.rate is not None:
        rates = [CardFigure(figure(shown.output_tps), "tok/s")] if shown.output_tps else []
        wanted = shown.issued_rate if shown.wanted_rate is None else shown.wanted_rate
        of = "issued" if shown.wanted_rate is None else "wanted"
        more = (recent, *(() if wanted is None else (f"{figure(wanted)} req/s {of}",)))
        yield FigureCard("Throughput", (*rates, CardFigure(figure(shown.rate), "req/s")), more)
    for label, percentiles in (("TTFT", shown.ttft), ("TPOT", shown.tpot)):
        if percentiles is not None:
            yield FigureCard(label, tuple(_percentiles(percentiles)), (recent,))
    failed = shown.errors.total()
    common = [f"{whole(count)} {clean(name)}" for name, count in shown.errors.most_common(_MOST_ERRORS)]
    cancelled = [f"{whole(shown.cancelled)} cancelled"] if shown.cancelled else []
    share = CardFigure(percent(failed, shown.ended), tone="bad" if failed else "")
    ended = f"{whole(failed)} of {whole(shown.ended)} requests"
    yield FigureCard("Failures", (share,), (ended, *common, *cancelled))
    if shown.mean_score is not None:
        score = CardFigure(figure(shown.mean_score, _SCORE_DIGITS))
        yield FigureCard("Mean score", (score,), (f"{whole(shown.scored)} answers",))


def _progress(shown: LiveFigures) -> FigureCard:
    planned = shown.planned_requests
    of = "" if planned is None else f" of {whole(planned)}"
    left = [] if shown.left_s is None or shown.phase == "drain" else [f"{seconds(shown.left_s)} left"]
    awaited = [f"{whole(len(shown.awaited))} of {whole(shown.nodes)} nodes awaited"] if shown.awaited else []
    time_of = "" if shown.planned_s is None else f"of {seconds(shown.planned_s)}"
    return FigureCard(
        {"warmup": "Warm-up", "performance": "Measuring", "drain": "Drain"}.get(shown.phase, "Set-up"),
        (CardFigure(seconds(shown.elapsed_s), time_of), CardFigure(f"{whole(shown.ended)}{of}", "requests")),
        (f"{whole(shown.in_flight)} in flight", *left, *awaited),
    )


def _percentiles(of: Percentiles) -> Iterator[CardFigure]:
    yield CardFigure(figure(of.p50), "ms", "p50")
    yield CardFigure(figure(of.p99), "ms", "p99")


def _targets(shown: LiveFigures) -> Tables | None:
    if not shown.targets:
        return None
    columns = (*headed("target", "so far", words=1), Column("result", justify="left"))
    table = Table(columns, tuple(map(_target, shown.targets)))
    return Tables("targets", "Targets", (table,), (_NOTE,))


_NOTE: Final = "Over the measured requests that have ended, of very many a sample; percentiles within 0.5 %."


def _target(target: LiveTarget) -> tuple[Cell, ...]:
    holds = (
        Mark(target.why, "dim")
        if target.holds is None
        else Mark(in_words(holds=target.holds), "good" if target.holds else "bad")
    )
    observed = "-" if target.observed is None else f"{figure(target.observed)} {target.unit}".rstrip()
    return (clean(target.rule), observed, holds)
