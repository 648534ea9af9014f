"""The calibration error of a model's confidence, as in Humanity's Last Exam.

The samples are sorted by confidence and cut into bins of 100, the last of which takes what is left over. The
error is the root of the mean over bins, by their sizes, of the squared difference between the mean confidence
and the share of right answers. The published code (centerforaisafety/hle, `hle_eval/run_judge_results.py`:
`calib_err`) leaves the last bin out, and fails where there are fewer than 100 samples.
"""

from __future__ import annotations

from typing import Final

from workloads.scorer import Headline

_BIN: Final = 100

_SORTED: Final = """
    list({confidence: metrics['confidence'], value: value}
        ORDER BY metrics['confidence'], prompt_id, attempt) FILTER (metrics['confidence'] IS NOT NULL)"""


def _error(bins: str, end: str) -> str:
    """The error over some bins, as a DuckDB aggregate.

    Args:
        bins: How many, as an expression of `s`, the sorted samples.
        end: Where bin `i` ends.
    """
    of_bin = f"s[i * {_BIN} + 1 : {end}]"
    difference = (
        f"list_avg(list_transform({of_bin}, lambda r: r.confidence)) "
        f"- list_avg(list_transform({of_bin}, lambda r: r.value))"
    )
    each = f"len({of_bin}) / len(s) * pow({difference}, 2)"
    total = f"sqrt(coalesce(list_sum(list_transform(range({bins}), lambda i: {each})), 0))"
    # A list of one, so that the samples are sorted once and have a name.
    return f"list_transform([{_SORTED}], lambda s: CASE WHEN len(s) >= {_BIN} THEN {total} END)[1]"


_WHOLE_BINS: Final = f"len(s) // {_BIN}"

CALIBRATION_ERROR: Final = Headline(
    "calibration_error", _error(f"{_WHOLE_BINS} - 1", f"i * {_BIN} + {_BIN}"), better="lower"
)
"""As published: without the last bin; NULL below 100 samples."""

CALIBRATION_ERROR_OF_ALL: Final = Headline(
    "calibration_error_of_all",
    _error(
        _WHOLE_BINS,
        f"CASE WHEN i + 1 = {_WHOLE_BINS} THEN len(s) ELSE i * {_BIN} + {_BIN} END",
    ),
    better="lower",
)
"""By the definition, over all bins."""
