-- One row a request, as the log tells it; the view `samples` adds what follows from it.
-- `measured`: issued for the performance phase; one that went out late counts like the others.
-- `settled`: it ended, and not by the client's own doing; what is not, a further sitting asks again. A conversation is
-- asked again as a whole: all of it is settled, by a result of its last turn or by a turn that failed, or nothing.
CREATE TABLE requests AS
WITH conversations AS (
    SELECT conversation, bool_or(code = 24 OR turn + 1 = turns) AS settled_together
    FROM issues JOIN marks ON issued_seq = issues.seq JOIN endings ON endings.seq = ended_seq
    WHERE conversation IS NOT NULL AND code <> 25 AND coalesce(error NOT IN ('worker_lost', 'client_bug'), true)
    GROUP BY conversation
)

SELECT
    sample_uuid,
    prompt_id,
    conversation AS conversation_id,
    turn,
    turns,
    endpoint AS endpoint_index,
    tags,
    sitting,
    phase,
    coalesce(phase = 'performance', false) AS measured,
    CASE
        WHEN conversation IS NOT NULL THEN coalesce(settled_together, false)
        ELSE coalesce(endings.code, 25) <> 25 AND coalesce(error NOT IN ('worker_lost', 'client_bug'), true)
    END AS settled,
    CASE
        WHEN NOT settled AND sitting < (SELECT max(sitting) FROM clocks) THEN 'abandoned'
        WHEN endings.code = 23 THEN 'completed'
        WHEN endings.code = 24 THEN 'failed'
        WHEN endings.code = 25 THEN 'cancelled'
        ELSE 'in_flight'
    END AS status,
    CASE endings.code WHEN 24 THEN coalesce(error, 'unknown') END AS error,
    coalesce(message, reason) AS error_message,
    endings.status AS http_status,
    scheduled_ns,
    free_ns,
    issued_ns,
    sent_ns,
    first_byte_ns,
    coalesce(first_token_ns, first_chunk_ns) AS first_token_ns,
    first_output_ns,
    first_visible_ns,
    last_token_ns,
    ended_ns,
    reused,
    coalesce(retried, false) AS retried,
    attempts,
    connect_ms,
    tls_ms,
    dns_ms,
    input_tokens,
    output_tokens,
    reasoning_tokens,
    cached_tokens,
    chunks,
    silent_chunks,
    silent_tokens,
    reads,
    coalesced,
    bytes,
    finish_reason,
    stream,
    first_chunk,
    chunk_gaps_us,
    issues,
    ends,
    ended_seq
FROM marks
LEFT JOIN issues ON issues.seq = issued_seq
LEFT JOIN sends ON sends.seq = sent_seq
LEFT JOIN endings ON endings.seq = ended_seq
LEFT JOIN conversations USING (conversation);

DROP TABLE marks;
DROP TABLE issues;
DROP TABLE sends;
DROP TABLE endings;

-- Filled in at report time, and only where somebody has to look at the texts (reporter/tokens.py): what a tokenizer
-- counted of what counts, in all and behind the first chunk; and, where only some categories count, what of the server's
-- count is of them.
CREATE TABLE client_tokens (
    sample_uuid VARCHAR,
    input BIGINT,
    output BIGINT,
    after_first BIGINT,
    told BIGINT
);
