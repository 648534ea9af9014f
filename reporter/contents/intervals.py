"""How the intervals of a page are computed, and the SQL of the values that go in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.distribution import COMPLETED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.report import Report

_LATENCIES: Final = (
    "Percentiles of latencies: order statistics (Woodruff 1952), with the number of independent "
    "requests. Nothing is resampled."
)
_RATES: Final = (
    "Rates: Student intervals, from the long-run variance over time of what arrived in the window."
)
_SCORES: Final = (
    "Scores, by method ({methods}). `wilson`: one value of 0 or 1 per question, or an unknown spread. "
    "`normal`: by the standard error. `clustered`: by the standard error over questions that were sent "
    "several times."
)

_OF_LATENCIES: Final = f"""\
SELECT issued_ns, ttft_ms, tpot_ms, latency_ms
{COMPLETED}
ORDER BY issued_ns"""

_OF_RATES: Final = """\
SELECT scheduled_ns, in_window, input_tokens, output_tokens
FROM arrived
ORDER BY scheduled_ns"""

_OF_SCORES: Final = """\
SELECT task, scorer, pass, question_id, attempt, coalesce(value, 0) AS value
FROM scores
ORDER BY ALL"""


def intervals(report: Report) -> Iterator[tuple[str, str, str]]:
    """The subject, the method, and the query of the values, for every interval of a run."""
    if report.ttft_ms is not None or report.latency_ms is not None:
        yield "Values of latencies", _LATENCIES, _OF_LATENCIES
        yield "What arrived", _RATES, _OF_RATES
    named = (score.interval.method for score in report.accuracy if score.interval is not None)
    if methods := ", ".join(dict.fromkeys(named)):
        yield "Values of questions", _SCORES.format(methods=methods), _OF_SCORES
