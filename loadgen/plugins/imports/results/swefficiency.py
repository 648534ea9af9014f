"""SWE-fficiency: the CSV report that measuring ends with.

swefficiency/swefficiency at fa356b74, `scripts/eval/get_report.py`, `scripts/eval/get_lite_report.py`. The
score is computed again from the measured speed-ups and compared with the report's.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.swefficiency import speedup_of
from loadgen.plugins.imports.results.fields import file_of, read_rows
from loadgen.plugins.imports.results.harness_results import Attempt, HarnessResults, ResultFormat
from workloads.scorer import Headline

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.plugins.imports.results.fields import TableRow

_ID: Final = "instance_id"
_GOLD: Final = "gold_speedup_ratio"
_RATIO: Final = "human_speedup_ratio"
_CORRECT: Final = "correctness"
_COLUMNS: Final = (_ID, _GOLD, _RATIO, _CORRECT)
_FIGURES: Final = {
    "speedup": "pred_speedup_ratio",
    "expert_speedup": _GOLD,
    "correct": _CORRECT,
    "tests_passed_share": "correctness_pct",
    "runtime_before_s": "pre_edit_runtime",
}
_CLOSE: Final = 1e-9


def read(path: Path) -> HarnessResults:
    """Read a report: `eval_reports/eval_report_RUN.csv`."""
    report = file_of(path, "a report, eval_report_RUN.csv")
    attempts, others = [], 0
    for row in read_rows(report, _COLUMNS, "a report of SWE-fficiency"):
        attempt = _attempt(row)
        attempts.append(attempt)
        others += not math.isclose(attempt.value, row.number(_RATIO), rel_tol=_CLOSE)
    note = f"{others:,} of {len(attempts):,} ratios are not what the rule makes of the measured speed-ups"
    return HarnessResults(attempts=attempts, notes=[note] * bool(others))


def _attempt(row: TableRow) -> Attempt:
    passes = row.number(_CORRECT) == 1
    try:
        speedup = speedup_of(row.optional_number("raw_pred_speedup_ratio"), row.number(_GOLD), passes=passes)
    except ValueError as error:
        raise row.error(str(error)) from error
    figures = {name: row.optional_number(column) for name, column in _FIGURES.items()}
    return Attempt(
        task_id=row.text(_ID),
        value=speedup.ratio,
        ending=None,
        reason=None if passes else "the patch does not pass its tests, or was not run",
        metrics={name: figure for name, figure in figures.items() if figure is not None},
    )


FORMAT: Final = ResultFormat(
    "swefficiency",
    "SWE-fficiency: a report of measured patches, eval_report_RUN.csv (get_report.py)",
    "swefficiency/swefficiency at fa356b74, scripts/eval/get_report.py",
    read,
    (
        Headline("speedup_ratio", "count(*) / sum(1 / value)", "number"),
        Headline("correct", "avg(metrics['correct'])"),
    ),
)
