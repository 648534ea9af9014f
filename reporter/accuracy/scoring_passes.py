"""The scoring passes of a run, and the answers to score in a further pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from lazy_dataclasses import dataclass
from reporter.json_values import members
from reporter.stored_answers import NEEDED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.log.database import OpenLog


@dataclass(frozen=True, slots=True)
class ScoringPass:
    """A scoring pass.

    Attributes:
        number: From 1.
        ended: `completed`, `interrupted`, or `cut_off` where the log does not say.
        scorers: What the log says of each: `task`, `scorer`, `version`, `definition`, `judge`.
        outdated: Whether a judge has answered since it began, or went on.
    """

    number: int
    ended: str
    scorers: Sequence[Mapping[str, Any]]
    options: Mapping[str, Any]
    graded: int
    outdated: bool


@dataclass(frozen=True, slots=True)
class Scorable:
    """The answers to score in a run.

    Attributes:
        tasks: For each task, as the user named it, how many answers can be judged; in the questions' order.
        accuracy: The member `accuracy` of the run's settings; empty where it has none.
        last_seq: The last event that this is based on.
    """

    tasks: Mapping[str, int]
    passes: Sequence[ScoringPass]
    accuracy: Mapping[str, Any]
    last_seq: int


_TASKS = """
    SELECT task, count(sample_uuid) FILTER (unscored IS NULL)
    FROM questions LEFT JOIN asked USING (prompt_id)
    GROUP BY task ORDER BY min(prompt_id)"""

_PASSES = """
    SELECT pass, any_value(ended), any_value(options), any_value(coalesce(graded, 0)),
        any_value(coalesce(judged_ns > started_ns, false)),
        list({'task': task, 'scorer': scorer, 'version': version, 'definition': definition, 'judge': judge})
    FROM passes LEFT JOIN (SELECT pass, count(*) AS graded FROM scored GROUP BY pass) USING (pass),
        (SELECT max(ended_ns) AS judged_ns FROM judge_calls WHERE status = 'completed')
    GROUP BY pass ORDER BY pass"""


def scorable(log: OpenLog) -> Scorable:
    """Find the answers to score in an opened run.

    Raises:
        LogError: The log is damaged.
    """
    log.load(NEEDED)
    passes = [
        ScoringPass(number, ended, scorers, members(orjson.loads(options or "{}")), graded, outdated)
        for number, ended, options, graded, outdated, scorers in log.execute(_PASSES).fetchall()
    ]
    (accuracy_json,) = log.execute("SELECT settings -> '$.accuracy' FROM session").fetchone() or (None,)
    (last_seq,) = log.execute("SELECT last_seq FROM extent").fetchone() or (0,)
    tasks = dict(log.execute(_TASKS).fetchall())
    return Scorable(tasks, passes, members(orjson.loads(accuracy_json or "{}")), last_seq)
