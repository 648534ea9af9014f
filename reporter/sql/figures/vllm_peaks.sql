-- The busiest second and the most requests at a time of those that completed, as vLLM's benchmark counts them: seconds from
-- the first start, a request in flight from its start (inclusive) to its end (exclusive).
WITH answers AS (
    SELECT sample_uuid, sent_ns, complete_ns, min(sent_ns) OVER () AS first_ns
    FROM samples WHERE measured AND status = 'completed' AND sent_ns IS NOT NULL
),

changes AS (
    SELECT at_ns, sum(change) AS change
    FROM (
        SELECT sent_ns AS at_ns, 1 AS change FROM answers
        UNION ALL
        SELECT complete_ns, -1 FROM answers
    )
    GROUP BY at_ns
)

SELECT
    (
        SELECT max(chunks_in_second)
        FROM (
            SELECT count(*) AS chunks_in_second
            FROM chunks JOIN answers USING (sample_uuid)
            GROUP BY (at_ns - first_ns) // 1_000_000_000
        )
    ) AS chunks_per_s,
    (
        SELECT max(in_flight)::BIGINT
        FROM (SELECT sum(change) OVER (ORDER BY at_ns ROWS UNBOUNDED PRECEDING) AS in_flight FROM changes)
    ) AS in_flight;
