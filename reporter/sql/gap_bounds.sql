-- The least and the most that each time between two chunks can be, for requests with a stamp in doubt.
CREATE VIEW gap_bounds AS
WITH arrivals AS (
    SELECT sample_uuid, chunk_index, at_ns, at_low_ns
    FROM chunks SEMI JOIN (SELECT sample_uuid FROM requests WHERE late_chunks IS NOT NULL) USING (sample_uuid)
)

SELECT sample_uuid, low_ms, high_ms
FROM (
    SELECT
        sample_uuid,
        greatest(at_low_ns - lag(at_ns) OVER one_by_one, 0) / 1e6 AS low_ms,
        (at_ns - lag(at_low_ns) OVER one_by_one) / 1e6 AS high_ms
    FROM arrivals
    WINDOW one_by_one AS (PARTITION BY sample_uuid ORDER BY chunk_index)
)
WHERE high_ms IS NOT NULL;
