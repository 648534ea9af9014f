"""How far a scoring pass is, and the calls of a judge: the texts of the status line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.number_text import bar
from workloads.score import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

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
