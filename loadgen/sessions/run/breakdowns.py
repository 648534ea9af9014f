"""The breakdowns that a run has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.report import Report


def score_groups(made: Report) -> Sequence[str]:
    """The categories by which the benchmarks of a run break scores down."""
    tags = [tag for score in made.accuracy for tag in score.groups]
    if not tags:
        raise UsageError(
            "--stats: no benchmark of this run has categories to break scores down by; leave it out"
        )
    return tags


def require_breakdowns(made: Report, by: Sequence[str]) -> None:
    """Refuse a breakdown that a report does not have."""
    from reporter.render.breakdown_tables import names

    if missing := [name for name in by if name not in names(made)]:
        raise UsageError(
            f"--by {missing[0]}: no such breakdown in the run; choose {', '.join(names(made)) or 'none'}"
        )
