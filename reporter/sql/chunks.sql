-- One row for each chunk that carried a token. gap_ms is the time since the chunk before; the first has none.
-- A gap is stored in whole microseconds of running time, so at_ns is within 0.5 us of the arrival; where the stamp is in
-- doubt, the chunk arrived between at_low_ns and at_ns.
CREATE VIEW chunks AS
SELECT sample_uuid, chunk_index, at_ns, gap_ms, at_ns - 1000 * coalesce(early_us, 0) AS at_low_ns
FROM (
    SELECT
        sample_uuid,
        chunk - 1 AS chunk_index,
        sent_ns + 1000 * sum(gap_us) OVER (PARTITION BY sample_uuid ORDER BY chunk)::BIGINT AS at_ns,
        CASE WHEN chunk > 1 THEN gap_us / 1e3 END AS gap_ms
    FROM (
        SELECT sample_uuid, sent_ns, unnest(chunk_gaps_us) AS gap_us, generate_subscripts(chunk_gaps_us, 1) AS chunk
        FROM requests
    )
)
LEFT JOIN early USING (sample_uuid, chunk_index);
