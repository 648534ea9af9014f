-- The moments that the window follows from (reporter.window.Timeline).
SELECT
    (SELECT ended FROM session) AS ended,
    (SELECT started_ns FROM phases WHERE phase = 'performance') AS started_ns,
    (SELECT duration_s FROM phases WHERE phase = 'performance') AS duration_s,
    (SELECT max(at_ns) FROM session_events WHERE type = 'STOP_PERFORMANCE_TRACKING') AS stopped_ns,
    min(issued_ns) FILTER (measured) AS first_issue_ns,
    max(ended_ns) FILTER (measured AND status = 'completed') AS last_completion_ns,
    max(ended_ns) FILTER (measured) AS last_end_ns,
    greatest(
        (SELECT max(at_ns) FROM session_events),
        max(issued_ns), max(sent_ns), max(first_token_ns), max(ended_ns)
    ) AS last_event_ns
FROM requests;
