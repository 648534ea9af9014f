"""The progress of a series: a line at the start of a run, and one with the result at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadgen.sessions.files.series_file import SeriesPoint
    from loadgen.sessions.series_outcome import PointOutcome


def begins(point: SeriesPoint, number: int, total: int, pause_s: float) -> str:
    """The next run, with the pause before the run."""
    place = f"{number + 1} of {total}" if number < total else str(number + 1)
    rest = f" after a pause of {pause_s:g} s" if pause_s else ""
    return f"run {place}: {point.name}{rest}"


def ended(outcome: PointOutcome, remark: str | None) -> str:
    """The result of a run."""
    from loadgen.sessions.series.headline_scores import scores_of
    from loadgen.sessions.series.run_rows import result
    from reporter.render.score_tables import value_in_words
    from reporter.run_row import figures

    of = figures(outcome.report)
    shown = (
        ("{:,.4g} req/s", of.qps),
        ("{:,.5g} tok/s", of.output_tps),
        ("TTFT p50 {:,.4g} ms", of.ttft_p50_ms),
        ("{:.1%} errors", of.error_rate or None),
    )
    parts = [form.format(value) for form, value in shown if value is not None]
    parts += [
        f"{score.name} {value_in_words(score.value, score.unit)}" for score in scores_of(outcome.report)
    ]
    return "  " + ", ".join(filter(None, [*parts, result(outcome) if remark is None else remark]))
