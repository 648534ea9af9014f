-- What the load generator itself found, as findings of the report; a severity that there is none of counts as a warning.
-- So does an error of a segment before the last one: the run went on after it. But failures are not asked again: a budget
-- that they have spent stays spent. What such a segment gave up was asked again, and is not reported: all that the end of
-- a drain cut, and conversations, unless failures cut some of them.
WITH last_one AS (SELECT max(segment) AS segment FROM segments)

SELECT
    coalesce(code, 'unknown') AS code,
    CASE
        WHEN severity = 'info' THEN 'info'
        WHEN severity = 'error' AND (code = 'error_budget' OR segment = (SELECT segment FROM last_one)) THEN 'error'
        ELSE 'warning'
    END AS severity,
    coalesce(message, '') AS message,
    coalesce(remedy, '') AS remedy
FROM findings
WHERE
    segment = (SELECT segment FROM last_one)
    OR code IS NULL
    OR code NOT IN ('drain_over', 'conversations_cut')
    OR (
        code = 'conversations_cut'
        AND segment IN (SELECT segment FROM requests WHERE conversation_id IS NOT NULL AND status = 'failed')
    );
