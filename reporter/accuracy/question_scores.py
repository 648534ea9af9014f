"""A score question by question, for comparing two runs with equal questions."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Final

from reporter.values.task_score import plain
from rulesets.scores import score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.log.database import OpenLog
    from reporter.values.task_score import TaskScore


_BY_QUESTION: Final = """
    SELECT question_id, avg(value) FROM scores
    WHERE pass = $pass AND task = $task AND scorer = $scorer
    GROUP BY question_id
    ORDER BY question_id"""

_CLOSE: Final = 1e-9


def by_question(log: OpenLog, scores: Sequence[TaskScore], name: str) -> Mapping[str, float] | None:
    """The mean value of each question.

    Returns:
        The means by the benchmark's names of the questions. None where no such score exists, or it is not
        the mean of these values, as for a part of the questions, or where some were sent more often.

    Raises:
        Unanswerable: The name may mean several.
    """
    meant = score(plain(scores), name)
    if meant is None or meant.value is None or meant.unscored:
        return None
    meant_score = next(meant_score for meant_score in scores if score([meant_score.to_dict()], name) == meant)
    asked = {"pass": meant_score.pass_, "task": meant_score.task, "scorer": meant_score.scorer}
    means = dict(log.execute(_BY_QUESTION, asked).fetchall())
    return means if math.isclose(fmean(means.values()), meant.value, abs_tol=_CLOSE) else None
