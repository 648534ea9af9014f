-- One row a request that a page draws: all of up to 1,000; of more, the 100 slowest and about 900 chosen at random by their ids.
-- Times are in ms from the start of the measured window.
WITH ended AS (
    SELECT
        sample_uuid,
        status,
        endpoint,
        coalesce(tags::VARCHAR, '{}') AS tags,
        1e3 * issued_s AS issued_ms,
        (least(coalesce(scheduled_ns, issued_ns), issued_ns) - issued_ns) / 1e6 AS scheduled_ms,
        (coalesce(sent_ns, issued_ns) - issued_ns) / 1e6 AS sent_ms,
        (first_token_ns - issued_ns) / 1e6 AS first_token_ms,
        (ended_ns - issued_ns) / 1e6 AS ended_ms,
        input_tokens,
        cached_tokens,
        output_tokens
    FROM samples
    WHERE measured AND ended_ns IS NOT NULL AND issued_s IS NOT NULL
),

chosen AS (
    SELECT sample_uuid FROM ended
    WHERE hash(sample_uuid) % 1000000 < (SELECT if(count(*) <= 1000, 1e6, 9e8 / count(*)) FROM ended)
    UNION
    (SELECT sample_uuid FROM ended ORDER BY ended_ms - scheduled_ms DESC, sample_uuid LIMIT 100)
)

SELECT
    sample_uuid,
    status = 'failed' AS is_failed,
    endpoint,
    tags,
    issued_ms + scheduled_ms AS scheduled_ms,
    issued_ms + sent_ms AS sent_ms,
    issued_ms + first_token_ms AS first_token_ms,
    issued_ms + ended_ms AS ended_ms,
    input_tokens,
    cached_tokens,
    output_tokens
FROM ended JOIN chosen USING (sample_uuid)
ORDER BY scheduled_ms, sample_uuid;
