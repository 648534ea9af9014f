-- How many requests were scheduled, issued, and ended how (reporter.report.Counts, by_error apart).
SELECT
    greatest(
        count(*) FILTER (measured),
        (SELECT max((data ->> '$.scheduled')::BIGINT) FROM session_events WHERE type = 'STOP_PERFORMANCE_TRACKING')
    ) AS scheduled,
    count(*) FILTER (measured) AS issued,
    count(*) FILTER (measured AND status = 'completed') AS completed,
    count(*) FILTER (measured AND status = 'failed') AS failed,
    count(*) FILTER (measured AND status = 'cancelled') AS cancelled,
    count(*) FILTER (measured AND status = 'in_flight') AS in_flight,
    count(*) FILTER (phase = 'warmup') AS warmup,
    count(*) FILTER (measured AND reused) AS reused,
    count(*) FILTER (measured AND retried) AS retried
FROM requests;
