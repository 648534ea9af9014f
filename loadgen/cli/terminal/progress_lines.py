"""Lines of progress: a scoring pass, the calls of a judge, and the runs of a series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.sessions.series.run_rows import result, scores_of
from reporter.number_text import bar, figure, percent
from reporter.render.score_tables import value_in_words
from reporter.run_row import figures
from workloads.score import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.files.series_file import SeriesPoint
    from loadgen.sessions.series_outcome import PointOutcome

_WITHOUT_VALUE: Final = {Status.INFRA_ERROR: "infra errors", Status.JUDGE_PENDING: "waiting for a judge"}


def scoring_line(
    total: int, done: int, now: int, graded: Mapping[str, int], mean: float | None, elapsed_s: float
) -> str:
    """The share of a pass that is done, the mean score so far, the rate, and the gradings without a value."""
    parts = [
        f"scoring     {bar(done / total if total else 1.0)}",
        f"{done:,} of {total:,}",
        *([] if mean is None else [f"mean score {mean:.3f}"]),
        f"{now / max(elapsed_s, 1e-9):,.0f}/s",
        *(f"{graded[status]:,} {words}" for status, words in _WITHOUT_VALUE.items() if graded.get(status)),
        f"{elapsed_s:.0f} s",
    ]
    return "  ".join(parts)


def judging_line(total: int, answered: int, failed: int, elapsed_s: float) -> str:
    """The share of inquiries that are answered, the rate, and the failures."""
    parts = [
        f"judging     {bar((answered + failed) / total)}",
        f"{answered:,} of {total:,}",
        f"{(answered + failed) / max(elapsed_s, 1e-9):,.1f}/s",
        *([f"{failed:,} failed"] if failed else []),
        f"{elapsed_s:.0f} s",
    ]
    return "  ".join(parts)


def begins(point: SeriesPoint, number: int, total: int, pause_s: float) -> str:
    """The next run, with the pause before the run."""
    place = f"{number + 1} of {total}" if number < total else str(number + 1)
    rest = f" after a pause of {pause_s:g} s" if pause_s else ""
    return f"run {place}: {point.name}{rest}"


def ended(outcome: PointOutcome, remark: str | None) -> str:
    """The result of a run."""
    of = figures(outcome.report)
    shown = (
        ("{} req/s", of.qps),
        ("{} tok/s", of.output_tps),
        ("TTFT p50 {} ms", of.ttft_p50_ms),
    )
    parts = [form.format(figure(value)) for form, value in shown if value is not None]
    parts += [f"{percent(of.error_rate, 1)} errors"] if of.error_rate else []
    parts += [
        f"{score.name} {value_in_words(score.value, score.unit)}" for score in scores_of(outcome.report)
    ]
    return "  " + ", ".join(filter(None, [*parts, result(outcome) if remark is None else remark]))
