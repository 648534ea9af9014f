-- One row a request, as the log tells it; the view `samples` adds what follows from it.
-- `measured`: issued for the performance phase; one that went out late counts like the others.
CREATE TABLE requests AS
SELECT
    sample_uuid,
    prompt_id,
    phase,
    coalesce(phase = 'performance', false) AS measured,
    CASE endings.code WHEN 23 THEN 'completed' WHEN 24 THEN 'failed' WHEN 25 THEN 'cancelled' ELSE 'in_flight' END AS status,
    CASE endings.code WHEN 24 THEN coalesce(error, 'unknown') END AS error,
    coalesce(message, reason) AS error_message,
    endings.status AS http_status,
    scheduled_ns,
    issued_ns,
    sent_ns,
    first_byte_ns,
    coalesce(first_token_ns, first_chunk_ns) AS first_token_ns,
    first_output_ns,
    last_token_ns,
    ended_ns,
    reused,
    coalesce(retried, false) AS retried,
    connect_ms,
    tls_ms,
    dns_ms,
    input_tokens,
    output_tokens,
    reasoning_tokens,
    cached_tokens,
    chunks,
    reads,
    coalesced,
    bytes,
    finish_reason,
    stream,
    chunk_gaps_us,
    issues,
    ends,
    ended_seq
FROM marks
LEFT JOIN issues ON issues.seq = issued_seq
LEFT JOIN sends ON sends.seq = sent_seq
LEFT JOIN endings ON endings.seq = ended_seq;

DROP TABLE marks;
DROP TABLE issues;
DROP TABLE sends;
DROP TABLE endings;

-- Filled in at report time, and only where the server told no token counts and a tokenizer was given.
CREATE TABLE client_tokens (sample_uuid VARCHAR, input BIGINT, output BIGINT);
