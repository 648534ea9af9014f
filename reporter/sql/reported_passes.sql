-- One row a scorer of a task: the finished pass that reports show. The last one replaces an earlier one, unless it has
-- scored fewer of the answers.
CREATE VIEW reported_passes AS
SELECT DISTINCT ON (task, scorer) task, scorer, pass, answers, unscored
FROM (
    SELECT
        passes.task,
        passes.scorer,
        passes.pass,
        any_value(passes.started_ns < coalesce(issued.issued_ns, 0)) AS outdated,
        count(scores.sample_uuid) AS answers,
        count(scores.sample_uuid) FILTER (scores.value IS NULL) AS unscored
    FROM passes
    LEFT JOIN scores USING (pass, task, scorer)
    LEFT JOIN (
        SELECT task, max(issued_ns) AS issued_ns FROM questions JOIN asked USING (prompt_id) GROUP BY task
    ) AS issued ON issued.task = passes.task
    WHERE passes.ended = 'completed'
    GROUP BY passes.task, passes.scorer, passes.pass
)
ORDER BY task, scorer, outdated, unscored, pass DESC;
