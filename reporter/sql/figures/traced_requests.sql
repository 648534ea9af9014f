-- Every request in the order of issue, with what a trace of the run shows of it.
SELECT
    sample_uuid,
    samples.prompt_id,
    samples.conversation_id,
    samples.turn,
    samples.tags::VARCHAR AS tags,
    samples.endpoint,
    samples.phase,
    samples.measured,
    samples.status,
    samples.error,
    samples.error_message,
    samples.http_status,
    samples.issued_ns,
    samples.sent_ns,
    samples.first_byte_ns,
    samples.first_token_ns,
    samples.last_token_ns,
    samples.ended_ns,
    ttft_ms,
    tpot_ms,
    latency_ms,
    samples.input_tokens,
    samples.output_tokens,
    samples.finish_reason,
    samples.attempts,
    samples.trace_id,
    samples.span_id,
    chunk_gaps_us
FROM samples JOIN requests USING (sample_uuid)
WHERE samples.issued_ns IS NOT NULL
ORDER BY samples.issued_ns, sample_uuid;
