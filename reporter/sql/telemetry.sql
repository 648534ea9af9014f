-- One row a sensor reading.
CREATE VIEW telemetry AS
SELECT at_ns, wall_time(at_ns) AS at_utc, segment, node, data ->> '$.source' AS source, data
FROM session_events
WHERE type = 'TELEMETRY'
ORDER BY at_ns, seq;
