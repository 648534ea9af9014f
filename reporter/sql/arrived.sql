-- One row a measured request that completed, or was cut by the client at the end of the run: what of it arrived inside the
-- window (the window of its segment), be it that it completed inside it, in the drain after it, or not at all.
-- Of a response that straddles the window's end (or its start, where that is the steady state's), the share of its chunks
-- that arrived inside counts, which is exact up to the tokens of one chunk. A response that is not streamed arrives when
-- it is complete.
CREATE VIEW arrived AS
-- Read twice, and quickly: materialized, `timed` takes memory for each request.
WITH timed AS NOT MATERIALIZED (
    SELECT
        sample_uuid,
        scheduled_ns,
        endpoint,
        turn,
        tags,
        arrived_input AS input_tokens,
        arrived_output AS output_tokens,
        status = 'completed' AS completed,
        completed AND ended_ns BETWEEN window_start_ns AND window_end_ns AS in_window,
        coalesce(first_token_ns, ended_ns) AS first_ns,
        coalesce(last_token_ns, ended_ns) AS last_ns,
        window_start_ns AS start_ns,
        window_end_ns AS end_ns
    FROM arriving
    WHERE measured AND window_end_ns IS NOT NULL
),

straddling AS (
    SELECT
        sample_uuid,
        timed.output_tokens AS tokens,
        (start_ns - sent_ns) / 1e3 AS since_us,
        (end_ns - sent_ns) / 1e3 AS until_us,
        unnest(chunk_gaps_us) AS gap_us,
        generate_subscripts(chunk_gaps_us, 1) AS chunk
    FROM timed JOIN requests USING (sample_uuid)
    WHERE (first_ns <= end_ns AND last_ns > end_ns) OR (first_ns < start_ns AND last_ns >= start_ns)
),

straddling_chunks AS (
    SELECT
        sample_uuid,
        tokens,
        sum(gap_us) OVER (PARTITION BY sample_uuid ORDER BY chunk) BETWEEN since_us AND until_us AS in_time
    FROM straddling
),

straddling_tokens AS (
    SELECT sample_uuid, any_value(tokens) * count(*) FILTER (in_time) / count(*) AS in_time
    FROM straddling_chunks
    GROUP BY sample_uuid
)

SELECT
    sample_uuid,
    scheduled_ns,
    endpoint,
    turn,
    tags,
    completed,
    in_window,
    if(first_ns BETWEEN start_ns AND end_ns OR input_tokens IS NULL, input_tokens, 0) AS input_tokens,
    CASE
        WHEN first_ns >= start_ns AND last_ns <= end_ns THEN output_tokens
        WHEN output_tokens IS NOT NULL THEN coalesce(in_time, 0)
    END AS output_tokens
FROM timed LEFT JOIN straddling_tokens USING (sample_uuid);
