-- One row a request: when its events happened, and which rows of the log tell more about it.
-- Codes: 20 issued, 21 sent, 22 first chunk, 23 complete, 24 error, 25 cancelled, 26 another attempt (recorder/event.py).
-- Should an event be there twice, the earlier one counts, wherever it stands in the log; but of sendings the later,
-- for a request that met a stale connection is sent once more, and so is one whose first attempt failed: then only
-- what came after the last sending counts.
CREATE TABLE marks AS
SELECT
    sample_uuid::VARCHAR AS sample_uuid,
    min(at_ns) FILTER (code = 20) AS issued_ns,
    max(at_ns) FILTER (code = 21) AS sent_ns,
    CASE
        WHEN count(*) FILTER (code = 26) = 0 THEN min(at_ns) FILTER (code = 22)
        WHEN max(at_ns) FILTER (code = 22) >= max(at_ns) FILTER (code = 21) THEN max(at_ns) FILTER (code = 22)
    END AS first_chunk_ns,
    min(at_ns) FILTER (code BETWEEN 23 AND 25) AS ended_ns,
    arg_min(seq, at_ns) FILTER (code = 20) AS issued_seq,
    arg_max(seq, at_ns) FILTER (code = 21) AS sent_seq,
    arg_min(seq, at_ns) FILTER (code BETWEEN 23 AND 25) AS ended_seq,
    sitting_of(min(seq)) AS sitting,
    count(*) FILTER (code = 20) AS issues,
    count(*) FILTER (code BETWEEN 23 AND 25) AS ends,
    count(*) FILTER (code = 26) + 1 AS attempts
FROM stream
GROUP BY ALL;
