"""From the views of a log to the figures of its episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reporter.episodes import EpisodeFigure, Episodes, EpisodeTool, EpisodeTurn
from reporter.log.database import all_figures

if TYPE_CHECKING:
    from reporter.log.database import OpenLog


def episodes(log: OpenLog) -> Episodes | None:
    """The figures of the episodes of an opened log; None where it has none."""
    endings: dict[str, int] = {row["ending"]: row["count"] for row in all_figures(log, "episode_endings")}
    if not endings:
        return None
    log.load(("episodes",))
    rows: list[dict[str, Any]] = all_figures(log, "episodes")
    return Episodes(
        count=sum(endings.values()),
        endings=endings,
        figures={row.pop("figure"): EpisodeFigure(**row) for row in rows},
        turns=[EpisodeTurn(**row) for row in all_figures(log, "episode_turns")],
        tools=[EpisodeTool(**row) for row in all_figures(log, "episode_tools")],
    )
