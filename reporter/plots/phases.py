"""The phases of a run on the time axis of its plots: warm-up, measured window, drain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reporter.number_text import seconds
from reporter.plots.over_time import SEGMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reporter.log.database import OpenLog


@dataclass(frozen=True, slots=True)
class RunPhase:
    """A span of a run, in seconds since the start of the measured window."""

    name: str
    start_s: float
    end_s: float


PHASES: Final = f"""\
{SEGMENTS}

SELECT phase, (greatest(started_ns, first_ns) - origin_ns) / 1e9 AS start_s,
    (least(ended_ns, last_ns) - origin_ns) / 1e9 AS end_s
FROM (
    SELECT sitting, 'warm-up' AS phase, started_ns, ended_ns FROM phases WHERE phase = 'warmup'
    UNION ALL
    SELECT sitting, 'window', start_ns, end_ns FROM windows
    UNION ALL
    SELECT sitting, 'drain', greatest(phases.started_ns, end_ns), ended_ns
    FROM phases JOIN windows USING (sitting)
    WHERE phase = 'drain'
) JOIN clock USING (sitting)
WHERE start_s < end_s
ORDER BY start_s
"""  # noqa: S608 (texts of this program's)


def phases_of(log: OpenLog) -> tuple[RunPhase, ...]:
    """The phases of each segment, in order."""
    return tuple(RunPhase(*row) for row in log.execute(PHASES).fetchall())


def in_words(phases: Iterable[RunPhase]) -> str:
    """The lengths of the phases: `warm-up 5.0 s, window 60.0 s, drain 942 ms`."""
    return ", ".join(f"{phase.name} {seconds(phase.end_s - phase.start_s)}" for phase in phases)
