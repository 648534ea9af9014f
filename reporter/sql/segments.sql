-- One row a segment: a run that was interrupted and taken up again has several. The counts are of measured requests.
CREATE VIEW segments AS
SELECT
    segment,
    started_at_ns + shift_ns AS started_at_ns,
    make_timestamp(started_wall_ns // 1000) AS started_at_utc,
    ended,
    coalesce(issued, 0) AS issued,
    coalesce(completed, 0) AS completed,
    windows.duration_s AS window_s,
    windows.start_ns AS window_start_ns,
    windows.end_ns AS window_end_ns,
    complete_until_ns,
    written_ns,
    shift_ns,
    environment::JSON AS environment
FROM clocks
JOIN segment_ends USING (segment)
LEFT JOIN windows USING (segment)
LEFT JOIN (
    SELECT
        segment,
        count(*) FILTER (measured) AS issued,
        count(*) FILTER (measured AND status = 'completed') AS completed
    FROM requests
    GROUP BY segment
) USING (segment)
ORDER BY segment;
