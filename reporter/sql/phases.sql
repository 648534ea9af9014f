-- One row a phase of a segment; ended_ns is NULL for the one that a segment was cut off in.
CREATE VIEW phases AS
SELECT
    segment,
    data ->> '$.phase' AS phase,
    min(at_ns) FILTER (type = 'PHASE_STARTED') AS started_ns,
    max(at_ns) FILTER (type = 'PHASE_ENDED') AS ended_ns,
    max((data ->> '$.duration_s')::DOUBLE) AS duration_s,
    max((data ->> '$.requests')::BIGINT) AS requests
FROM session_events
WHERE type IN ('PHASE_STARTED', 'PHASE_ENDED') AND node IS NULL
GROUP BY segment, phase
ORDER BY started_ns;
