"""What the figures of a run can be broken down by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.report import Report


def score_groups(made: Report) -> Sequence[str]:
    """What the benchmarks of a run tell scores apart by.

    Raises:
        UsageError: Nothing.
    """
    tags = [tag for score in made.accuracy for tag in score.groups]
    if not tags:
        raise UsageError("--stats: no benchmark of this run tells scores apart by anything; leave it out")
    return tags


def require_breakdowns(made: Report, by: Sequence[str]) -> None:
    """Refuse what a report is not broken down by."""
    from reporter.render.breakdown import names

    if missing := [name for name in by if name not in names(made)]:
        raise UsageError(
            f"--by {missing[0]}: this run has nothing of that kind to tell apart; there is "
            f"{', '.join(names(made)) or 'nothing at all'}"
        )
