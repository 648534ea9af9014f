-- One row a request: its stamps, and every figure that follows from them.
-- The report is about `WHERE measured AND status = 'completed'`.
CREATE VIEW samples AS
SELECT
    sample_uuid,
    prompt_id,
    conversation_id,
    turn,
    role,
    endpoint,
    tags,
    segment,
    node,
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
    complete_ns,
    ended_ns,
    wall_time(issued_ns) AS issued_at_utc,
    (issued_ns - window_start_ns) / 1e9 AS issued_s,
    first_counted_ns,
    tpot_tokens,
    ttft_ms,
    (first_output_ns - begun_ns) / 1e6 AS ttfo_ms,
    (first_visible_ns - begun_ns) / 1e6 AS ttfv_ms,
    (first_byte_ns - begun_ns) / 1e6 AS ttfb_ms,
    tpot_ms,
    decode_ms,
    1e3 / nullif(tpot_ms, 0) AS generation_tps,
    CASE WHEN ttft_ms > 0 THEN 1e3 * counted_input / ttft_ms END AS prompt_tps,
    (complete_ns - request_begun_ns) / 1e6 AS latency_ms,
    (complete_ns - scheduled_ns) / 1e6 AS latency_from_schedule_ms,
    (first_token_ns - scheduled_ns) / 1e6 AS ttft_from_schedule_ms,
    (first_output_ns - scheduled_ns) / 1e6 AS ttfo_from_schedule_ms,
    (first_visible_ns - scheduled_ns) / 1e6 AS ttfv_from_schedule_ms,
    (first_byte_ns - scheduled_ns) / 1e6 AS ttfb_from_schedule_ms,
    (last_token_ns - begun_ns) / 1e6 AS last_token_ms,
    (last_token_ns - scheduled_ns) / 1e6 AS last_token_from_schedule_ms,
    (free_ns - scheduled_ns) / 1e6 AS held_ms,
    request_bytes,
    uploaded_ns,
    since(upload_begun_ns, uploaded_ns) AS upload_ms,
    since(upload_begun_ns, coalesce(uploaded_low_ns, uploaded_ns)) AS upload_low_ms,
    since(upload_begun_ns, coalesce(uploaded_high_ns, uploaded_ns)) AS upload_high_ms,
    since(uploaded_ns, first_token_ns) AS ttft_after_upload_ms,
    since(coalesce(uploaded_high_ns, uploaded_ns), first_token_low_ns) AS ttft_after_upload_low_ms,
    since(coalesce(uploaded_low_ns, uploaded_ns), first_token_ns) AS ttft_after_upload_high_ms,
    (issued_ns - coalesce(free_ns, scheduled_ns)) / 1e6 AS issue_lag_ms,
    -- What a retried request waited for on a stale connection, or for an attempt that failed, is not the client's.
    CASE WHEN NOT retried AND attempts = 1
        THEN (coalesce(upload_begun_ns, sent_ns) - issued_ns) / 1e6 - coalesce(dns_ms, 0) - coalesce(connect_ms, 0) - coalesce(tls_ms, 0)
    END AS send_lag_ms,
    -- Where a connection was opened, all from issue to sent is its set-up, shared among many that were opened at once.
    issue_lag_ms + CASE WHEN reused IS NOT false AND NOT retried AND attempts = 1 THEN send_lag_ms ELSE 0 END AS own_ms,
    -- The least and the most that a moment and a figure can be, where stamps are in doubt (docs/log.md).
    sent_high_ns,
    first_byte_low_ns,
    first_token_low_ns,
    first_output_low_ns,
    first_visible_low_ns,
    last_token_low_ns,
    first_counted_low_ns,
    ttft_low_ms,
    since(begun_high_ns, first_output_low_ns) AS ttfo_low_ms,
    since(begun_high_ns, first_visible_low_ns) AS ttfv_low_ms,
    since(begun_high_ns, first_byte_low_ns) AS ttfb_low_ms,
    since(begun_high_ns, last_token_low_ns) AS last_token_low_ms,
    since(request_begun_high_ns, complete_low_ns) AS latency_low_ms,
    since(scheduled_ns, first_token_low_ns) AS ttft_from_schedule_low_ms,
    since(scheduled_ns, first_output_low_ns) AS ttfo_from_schedule_low_ms,
    since(scheduled_ns, first_visible_low_ns) AS ttfv_from_schedule_low_ms,
    since(scheduled_ns, first_byte_low_ns) AS ttfb_from_schedule_low_ms,
    since(scheduled_ns, last_token_low_ns) AS last_token_from_schedule_low_ms,
    since(scheduled_ns, complete_low_ns) AS latency_from_schedule_low_ms,
    decode_low_ms,
    decode_high_ms,
    tpot_low_ms,
    tpot_high_ms,
    -- Stamps count nanoseconds, so that no time is shorter than one, and no speed infinite. Chunks that share a stamp have
    -- no speed by it, and may have one in truth.
    CASE WHEN tpot_tokens >= 1 THEN 1e3 / nullif(tpot_high_ms, 0) END AS generation_tps_low,
    CASE WHEN tpot_tokens >= 1 AND tpot_high_ms > 0 THEN 1e3 / greatest(tpot_low_ms, 1e-6 / tpot_tokens) END
        AS generation_tps_high,
    CASE WHEN ttft_ms > 0 THEN 1e3 * counted_input / greatest(ttft_low_ms, 1e-6) END AS prompt_tps_high,
    reused,
    retried,
    attempts,
    trace_id,
    span_id,
    dns_ms,
    connect_ms,
    tls_ms,
    counted_input AS input_tokens,
    counted_output AS output_tokens,
    reasoning_tokens,
    cached_tokens,
    tokens_of_media(media_tokens, input_tokens, client_input) AS media_tokens,
    token_source,
    refused_tokens,
    chunks,
    silent_chunks,
    silent_tokens,
    reads,
    coalesced,
    bytes,
    finish_reason,
    finish_ns,
    choices,
    content_chars,
    reasoning_chars,
    call_chars,
    tagged_chars,
    stream AS streamed
FROM (
    SELECT
        *,
        CASE
            WHEN first_counted_ns IS NULL THEN NULL
            WHEN tpot_tokens < 1 THEN CASE getvariable('tpot_n1') WHEN 'zero' THEN 0 END
            ELSE (decode_ms + after_last_ms) / tpot_tokens
        END AS tpot_ms,
        CASE WHEN tpot_tokens < 1 THEN tpot_ms ELSE (decode_low_ms + after_last_ms) / tpot_tokens END AS tpot_low_ms,
        CASE WHEN tpot_tokens < 1 THEN tpot_ms ELSE (decode_high_ms + after_last_ms) / tpot_tokens END AS tpot_high_ms
    FROM (
        SELECT
            *,
            (first_token_ns - begun_ns) / 1e6 AS ttft_ms,
            since(begun_high_ns, first_token_low_ns) AS ttft_low_ms,
            -- What TPOT divides ends with the response or with its last token; one chunk alone has no time after it.
            getvariable('tpot_end') IS NOT DISTINCT FROM 'complete' AS to_complete,
            CASE
                WHEN to_complete THEN (complete_ns - first_counted_ns) / 1e6
                WHEN coalesce(chunks, 2) > 1 THEN (last_token_ns - first_counted_ns) / 1e6
            END AS decode_ms,
            CASE
                WHEN to_complete THEN since(first_counted_ns, complete_low_ns)
                WHEN coalesce(chunks, 2) > 1 THEN since(first_counted_ns, last_token_low_ns)
            END AS decode_low_ms,
            CASE
                WHEN to_complete THEN since(first_counted_low_ns, complete_ns)
                WHEN coalesce(chunks, 2) > 1 THEN since(first_counted_low_ns, last_token_ns)
            END AS decode_high_ms
        FROM (
            SELECT
                *,
                begun(scheduled_ns, issued_ns, sent_ns, sent_ns) AS begun_ns,
                begun(scheduled_ns, issued_ns, sent_high_ns, sent_high_ns) AS begun_high_ns,
                begun(scheduled_ns, issued_ns, sent_ns, issued_ns) AS request_begun_ns,
                begun(scheduled_ns, issued_ns, sent_high_ns, issued_ns) AS request_begun_high_ns,
                CASE status WHEN 'completed' THEN ended_ns END AS complete_ns,
                CASE status WHEN 'completed' THEN complete_low(ended_ns, last_token_ns, last_token_low_ns) END
                    AS complete_low_ns,
                CASE WHEN is_counted('reasoning') THEN first_token_ns ELSE first_output_ns END AS first_counted_ns,
                CASE WHEN is_counted('reasoning') THEN first_token_low_ns ELSE first_output_low_ns END
                    AS first_counted_low_ns,
                CASE getvariable('tpot_denominator')
                    WHEN 'tokens_after_first_chunk' THEN counted_after_first
                    WHEN 'n' THEN counted_answer
                    WHEN 'n_minus_1' THEN if(counted_answer = 0, 0, counted_answer - 1)
                    ELSE if(getvariable('tpot_end') IS NOT DISTINCT FROM 'complete', greatest(counted_answer - 1, 0), counted_seen)
                END AS tpot_tokens,
                CASE
                    WHEN getvariable('tpot_end') IS NOT DISTINCT FROM 'complete' THEN 0
                    WHEN coalesce(getvariable('tpot_denominator'), 'seen') = 'seen' THEN coalesce(beyond_ms, 0)
                    ELSE 0
                END AS after_last_ms
            FROM counted
        )
    )
);
