-- How many requests were scheduled, issued, and ended how (reporter.report.Counts, by_error apart).
WITH each_segment AS (
    SELECT greatest(issued, scheduled) AS scheduled
    FROM (SELECT segment, count(*) FILTER (measured) AS issued FROM requests GROUP BY segment)
    FULL JOIN (
        SELECT
            segment,
            coalesce(
                max((data ->> '$.scheduled')::BIGINT) FILTER (node IS NULL),
                -- of a run of several machines, the coordinator need not know what each node was to do
                sum((data ->> '$.scheduled')::BIGINT)
            ) AS scheduled
        FROM session_events
        WHERE type = 'STOP_PERFORMANCE_TRACKING'
        GROUP BY segment
    ) USING (segment)
)

SELECT
    (SELECT coalesce(sum(scheduled), 0)::BIGINT FROM each_segment) AS scheduled,
    count(*) FILTER (measured) AS issued,
    count(*) FILTER (measured AND status = 'completed') AS completed,
    count(*) FILTER (measured AND status = 'failed') AS failed,
    count(*) FILTER (measured AND status = 'cancelled') AS cancelled,
    count(*) FILTER (measured AND status = 'in_flight') AS in_flight,
    count(*) FILTER (measured AND status = 'abandoned') AS abandoned,
    count(*) FILTER (measured AND status = 'left') AS left_early,
    count(*) FILTER (phase = 'warmup') AS warmup,
    count(*) FILTER (measured AND reused) AS reused,
    count(*) FILTER (measured AND retried) AS retried,
    coalesce(sum(attempts - 1) FILTER (measured), 0)::BIGINT AS retries
FROM requests;
