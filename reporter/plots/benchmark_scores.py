"""The accuracy of benchmarks, whole and per subject, with intervals."""

from __future__ import annotations

from typing import Final

from reporter.accuracy.spread import FEW, LEVEL, MOST_VALUES, ROUNDING
from reporter.plots.definition import PlotDefinition
from reporter.plots.plot_value import Axis
from rulesets.statistics import normal

_Z: Final = normal.quantile((1 + LEVEL) / 2)

_MOST_ROWS: Final = 100
"""The most values of a tag that has two questions a value: MMLU has 57 subjects."""

_SQL: Final = f"""\
-- An answer without a score counts as wrong.
WITH answers AS (
    SELECT task || if(scorer = 'official', '', ', ' || scorer) AS series, prompt_id, tags,
        coalesce(value, 0) AS score, value IS NULL AS unscored
    FROM scores JOIN reported_passes USING (pass, task, scorer)
),

subjects AS (
    SELECT series, prompt_id, score, unscored, unnest(map_entries(tags)) AS tag FROM answers
),

tags AS (
    SELECT series, tag.key AS key
    FROM subjects
    WHERE tag.key <> 'task'
    GROUP BY series, tag.key
    HAVING count(DISTINCT tag.value) BETWEEN 2 AND {MOST_VALUES}
        OR count(DISTINCT tag.value) BETWEEN 2 AND least({_MOST_ROWS}, count(DISTINCT prompt_id) // 2)
),

parts AS (
    SELECT series, '' AS key, 'all' AS part, prompt_id, score, unscored FROM answers
    UNION ALL
    SELECT subjects.series, tag.key, tag.value, prompt_id, score, unscored
    FROM subjects JOIN tags ON tags.series = subjects.series AND tags.key = tag.key
),

questions_of AS (
    SELECT series, key, part, prompt_id, sum(score) AS total, count(*) AS n,
        bool_and(score IN (0, 1)) AS is_binary, bool_and(score BETWEEN 0 AND 1) AS is_share,
        bool_or(unscored) AS unscored
    FROM parts
    GROUP BY ALL
),

sums AS (
    SELECT series, key, part, sum(total) / sum(n) AS mean, sum(n) AS samples, count(*) AS questions,
        sum(total * total) - 2 * mean * sum(total * n) + mean ** 2 * sum(n * n) AS apart,
        questions > 1 AND apart <= {ROUNDING!r} * sum(total * total) AS is_constant,
        bool_and(is_binary) AND least(sum(total), sum(n) - sum(total)) < {FEW} AND questions > 1 AS is_rare,
        is_constant OR is_rare OR bool_and(is_binary) AND max(n) = 1 AS is_counted,
        bool_or(unscored) AS unscored
    FROM questions_of
    GROUP BY series, key, part
    HAVING bool_and(is_share)
),

-- Wilson's interval where each question is right or wrong once, or where the spread between questions is
-- unknown, else by the standard error over questions.
intervals AS (
    SELECT *, {_Z!r} AS z,
        CASE WHEN is_counted THEN (mean + z * z / (2 * questions)) / (1 + z * z / questions) ELSE mean END
            AS middle,
        CASE
            WHEN unscored THEN NULL
            WHEN is_counted THEN z * sqrt(mean * (1 - mean) / questions + z * z / (4 * questions * questions))
                / (1 + z * z / questions)
            WHEN questions > 1 THEN z * sqrt(greatest(apart, 0) * questions / (questions - 1)) / samples
        END AS far
    FROM sums
)

SELECT series, if(key = '', part, key || ': ' || part) AS x, 100 * mean AS y,
    100 * greatest(middle - far, 0) AS low, 100 * least(middle + far, 1) AS high
FROM intervals
ORDER BY series, key, part
"""  # noqa: S608 (names of this program's)

ACCURACY: Final = (
    PlotDefinition(
        name="accuracy",
        title="Accuracy per subject",
        shows="the accuracy of each benchmark and of its subjects, with 95 % intervals",
        x=Axis("subject", "", "category"),
        y=Axis("accuracy", "%"),
        kinds="points",
        sql=_SQL,
        lacking="the run has no scores between 0 and 1; `loadgen accuracy` and `loadgen score` make them",
        note="Where an answer could not be scored, it counts as wrong, and the accuracy has no interval.",
        tables=("questions", "scores", "reported_passes"),
        has_parts=False,
    ),
)
