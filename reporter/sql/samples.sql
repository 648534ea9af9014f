-- One row a request: its stamps, and every figure that follows from them.
-- The report is about `WHERE measured AND status = 'completed'`.
CREATE VIEW samples AS
SELECT
    sample_uuid,
    prompt_id,
    conversation_id,
    turn,
    endpoint,
    tags,
    sitting,
    phase,
    measured,
    coalesce(
        measured AND status = 'completed' AND ended_ns BETWEEN window_start_ns AND window_end_ns,
        false
    ) AS in_window,
    status,
    error,
    error_message,
    http_status,
    scheduled_ns,
    issued_ns,
    sent_ns,
    first_byte_ns,
    first_token_ns,
    first_output_ns,
    first_visible_ns,
    last_token_ns,
    CASE status WHEN 'completed' THEN ended_ns END AS complete_ns,
    ended_ns,
    CASE WHEN is_counted('reasoning') THEN first_token_ns ELSE first_output_ns END AS first_counted_ns,
    CASE getvariable('tpot_denominator')
        WHEN 'tokens_after_first_chunk' THEN tokens.after_first
        ELSE if(tokens.output = 0, 0, tokens.output - 1)
    END AS tpot_tokens,
    (first_token_ns - begun(scheduled_ns, issued_ns, sent_ns)) / 1e6 AS ttft_ms,
    (first_output_ns - begun(scheduled_ns, issued_ns, sent_ns)) / 1e6 AS ttfo_ms,
    (first_visible_ns - begun(scheduled_ns, issued_ns, sent_ns)) / 1e6 AS ttfv_ms,
    (first_byte_ns - begun(scheduled_ns, issued_ns, sent_ns)) / 1e6 AS ttfb_ms,
    CASE
        WHEN first_counted_ns IS NULL THEN NULL
        WHEN tpot_tokens < 1 THEN CASE getvariable('tpot_n1') WHEN 'zero' THEN 0 END
        WHEN getvariable('tpot_end') = 'complete' THEN (complete_ns - first_counted_ns) / 1e6 / tpot_tokens
        WHEN chunks > 1 THEN (last_token_ns - first_counted_ns) / 1e6 / tpot_tokens
    END AS tpot_ms,
    (complete_ns - begun(scheduled_ns, issued_ns, issued_ns)) / 1e6 AS latency_ms,
    (complete_ns - scheduled_ns) / 1e6 AS latency_from_schedule_ms,
    (first_token_ns - scheduled_ns) / 1e6 AS ttft_from_schedule_ms,
    (first_output_ns - scheduled_ns) / 1e6 AS ttfo_from_schedule_ms,
    (first_visible_ns - scheduled_ns) / 1e6 AS ttfv_from_schedule_ms,
    (first_byte_ns - scheduled_ns) / 1e6 AS ttfb_from_schedule_ms,
    (last_token_ns - begun(scheduled_ns, issued_ns, sent_ns)) / 1e6 AS last_token_ms,
    (last_token_ns - scheduled_ns) / 1e6 AS last_token_from_schedule_ms,
    (free_ns - scheduled_ns) / 1e6 AS held_ms,
    (issued_ns - coalesce(free_ns, scheduled_ns)) / 1e6 AS issue_lag_ms,
    -- What a retried request waited for on a stale connection, or for an attempt that failed, is not the client's.
    CASE WHEN NOT retried AND attempts = 1
        THEN (sent_ns - issued_ns) / 1e6 - coalesce(dns_ms, 0) - coalesce(connect_ms, 0) - coalesce(tls_ms, 0)
    END AS send_lag_ms,
    -- Where a connection was opened, all from issue to sent is its set-up: also how the event loop shared itself out
    -- among many that were opened at once.
    issue_lag_ms + CASE WHEN reused IS NOT false AND NOT retried AND attempts = 1 THEN send_lag_ms ELSE 0 END AS own_ms,
    reused,
    retried,
    attempts,
    dns_ms,
    connect_ms,
    tls_ms,
    tokens.input AS input_tokens,
    tokens.output AS output_tokens,
    reasoning_tokens,
    cached_tokens,
    token_source,
    chunks,
    silent_chunks,
    silent_tokens,
    reads,
    coalesced,
    bytes,
    finish_reason,
    stream AS streamed
FROM counted;
