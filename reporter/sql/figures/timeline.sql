-- For each segment, in order, the moments that its window follows from (reporter.log.window.Timeline).
SELECT
    ended,
    if(is_bare(), test_started_ns, performance.started_ns) AS started_ns,
    performance.duration_s,
    stopped_ns,
    first_issue_ns,
    last_completion_ns,
    last_end_ns,
    greatest(last_session_ns, last_request_ns) AS last_event_ns
FROM segment_ends
LEFT JOIN (SELECT segment, started_ns, duration_s FROM phases WHERE phase = 'performance') AS performance USING (segment)
LEFT JOIN (
    SELECT
        segment,
        max(at_ns) FILTER (type = 'STOP_PERFORMANCE_TRACKING' AND node IS NULL) AS stopped_ns,
        min(at_ns) FILTER (type = 'TEST_STARTED') AS test_started_ns,
        max(at_ns) AS last_session_ns
    FROM session_events
    GROUP BY segment
) USING (segment)
LEFT JOIN (
    SELECT
        segment,
        min(issued_ns) FILTER (measured) AS first_issue_ns,
        max(ended_ns) FILTER (measured AND status = 'completed') AS last_completion_ns,
        max(ended_ns) FILTER (measured) AS last_end_ns,
        greatest(max(issued_ns), max(sent_ns), max(first_token_ns), max(ended_ns)) AS last_request_ns
    FROM requests
    GROUP BY segment
) USING (segment)
ORDER BY segment;
