-- One row for each chunk that carried a token. gap_ms is the time since the chunk before; the first has none.
-- A gap is stored in whole microseconds of running time, so at_ns is within 0.5 us of the arrival.
CREATE VIEW chunks AS
SELECT
    sample_uuid,
    chunk - 1 AS chunk_index,
    sent_ns + 1000 * sum(gap_us) OVER (PARTITION BY sample_uuid ORDER BY chunk)::BIGINT AS at_ns,
    CASE WHEN chunk > 1 THEN gap_us / 1e3 END AS gap_ms
FROM (
    SELECT sample_uuid, sent_ns, unnest(chunk_gaps_us) AS gap_us, generate_subscripts(chunk_gaps_us, 1) AS chunk
    FROM requests
);
