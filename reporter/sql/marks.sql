-- One row a request: when its events happened, and which rows of the log tell more about it.
-- Codes: 20 issued, 21 sent, 22 first chunk, 23 complete, 24 error, 25 cancelled (recorder/event.py).
-- Should an event be there twice, the earlier one counts, wherever it stands in the log; but of sendings the later,
-- for a request that met a stale connection is sent once more.
CREATE TABLE marks AS
SELECT
    sample_uuid::VARCHAR AS sample_uuid,
    min(at_ns) FILTER (code = 20) AS issued_ns,
    max(at_ns) FILTER (code = 21) AS sent_ns,
    min(at_ns) FILTER (code = 22) AS first_chunk_ns,
    min(at_ns) FILTER (code >= 23) AS ended_ns,
    arg_min(seq, at_ns) FILTER (code = 20) AS issued_seq,
    arg_max(seq, at_ns) FILTER (code = 21) AS sent_seq,
    arg_min(seq, at_ns) FILTER (code >= 23) AS ended_seq,
    count(*) FILTER (code = 20) AS issues,
    count(*) FILTER (code >= 23) AS ends
FROM stream
GROUP BY ALL;
