-- For each segment, from when the first measured request was due until the last one was, until the one that was issued
-- last was done, until the last of all was, and until the last completion; and how many there were.
SELECT
    segment,
    count(scheduled_ns) AS requests,
    min(scheduled_ns) AS start_ns,
    max(scheduled_ns) AS last_due_ns,
    arg_max(ended_ns, issued_ns) AS last_issued_done_ns,
    max(ended_ns) AS last_done_ns,
    max(ended_ns) FILTER (status = 'completed') AS last_completion_ns
FROM segments LEFT JOIN (FROM requests WHERE measured AND status <> 'abandoned') USING (segment)
GROUP BY segment
ORDER BY segment;
