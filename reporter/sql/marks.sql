-- One row a request: when its events happened, and which rows of the log have more about it.
-- Names of events stand for their codes (reporter/log/event_codes.py).
-- Should an event be there twice, the earlier one counts, wherever it is in the log; but of sendings the later,
-- for a request that met a stale connection is sent once more, and so is one whose first attempt failed: then only
-- what came after the last sending counts.
CREATE TABLE marks AS
SELECT
    sample_uuid::VARCHAR AS sample_uuid,
    min(at_ns) FILTER (code = EventType.LOADGEN_ISSUE_CALLED) AS issued_ns,
    max(at_ns) FILTER (code = EventType.REQUEST_SENT) AS sent_ns,
    CASE
        WHEN count(*) FILTER (code = EventType.RETRY) = 0 THEN min(at_ns) FILTER (code = EventType.FIRST_CHUNK)
        WHEN max(at_ns) FILTER (code = EventType.FIRST_CHUNK) >= max(at_ns) FILTER (code = EventType.REQUEST_SENT)
            THEN max(at_ns) FILTER (code = EventType.FIRST_CHUNK)
    END AS first_chunk_ns,
    min(at_ns) FILTER (code BETWEEN EventType.COMPLETE AND EventType.CANCELLED) AS ended_ns,
    arg_min(seq, at_ns) FILTER (code = EventType.LOADGEN_ISSUE_CALLED) AS issued_seq,
    arg_max(seq, at_ns) FILTER (code = EventType.REQUEST_SENT) AS sent_seq,
    arg_min(seq, at_ns) FILTER (code BETWEEN EventType.COMPLETE AND EventType.CANCELLED) AS ended_seq,
    segment_of(min(seq)) AS segment,
    node_of(max(seq)) AS node,
    count(*) FILTER (code = EventType.LOADGEN_ISSUE_CALLED) AS issues,
    count(*) FILTER (code BETWEEN EventType.COMPLETE AND EventType.CANCELLED) AS ends,
    count(*) FILTER (code = EventType.RETRY) + 1 AS attempts
FROM (SELECT * REPLACE (at_ns + shift_of(seq) AS at_ns) FROM stream)
GROUP BY ALL;
