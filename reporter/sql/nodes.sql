-- One row a node of a run of several machines; none for a run with one log. `shift_ns` is of the last segment.
CREATE VIEW nodes AS
SELECT
    node,
    CASE
        WHEN NOT is_here THEN 'missing'
        ELSE coalesce(ended, if((SELECT ended FROM session) = 'running', 'running', 'cut_off'))
    END AS state,
    shift_ns,
    uncertainty_ns,
    clock_readings,
    clock_is_steady,
    coalesce(issued, 0) AS issued,
    coalesce(completed, 0) AS completed,
    coalesce(failed, 0) AS failed,
    coalesce(cancelled, 0) AS cancelled,
    coalesce(in_flight, 0) AS in_flight
FROM node_logs
LEFT JOIN (
    SELECT node, arg_max(coalesce(nullif(data ->> '$.reason', ''), 'completed'), seq) AS ended
    FROM session_events
    WHERE type = 'TEST_ENDED' AND node IS NOT NULL AND segment = (SELECT max(segment) FROM clocks)
    GROUP BY node
) USING (node)
LEFT JOIN (
    SELECT
        node,
        count(*) AS issued,
        count(*) FILTER (status = 'completed') AS completed,
        count(*) FILTER (status = 'failed') AS failed,
        count(*) FILTER (status = 'cancelled') AS cancelled,
        count(*) FILTER (status = 'in_flight') AS in_flight
    FROM requests
    WHERE measured
    GROUP BY node
) USING (node)
ORDER BY node;
