-- What the load generator itself found during the run; the report adds what it finds in the figures.
CREATE VIEW findings AS
SELECT
    at_ns,
    wall_time(at_ns) AS at_utc,
    segment,
    node,
    data ->> '$.code' AS code,
    data ->> '$.severity' AS severity,
    data ->> '$.message' AS message,
    data ->> '$.remedy' AS remedy
FROM session_events
WHERE type = 'FINDING'
ORDER BY at_ns, seq;
