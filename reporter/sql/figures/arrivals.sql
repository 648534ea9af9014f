-- What arrived inside the window (the window of its sitting), of the measured requests that completed, inside it or in the drain after it.
-- Of a response that straddles the window's end, the share of its chunks that had arrived by then counts, which is
-- exact up to the tokens of one chunk. A response that is not streamed arrives when it is complete.
WITH arriving AS (
    SELECT
        sample_uuid,
        in_window,
        input_tokens,
        output_tokens,
        coalesce(first_token_ns, complete_ns) AS first_ns,
        coalesce(last_token_ns, complete_ns) AS last_ns,
        windows.end_ns AS end_ns
    FROM samples JOIN windows USING (sitting)
    WHERE measured AND status = 'completed'
),

straddling AS (
    SELECT
        sample_uuid,
        arriving.output_tokens AS tokens,
        (end_ns - sent_ns) / 1e3 AS until_us,
        unnest(chunk_gaps_us) AS gap_us,
        generate_subscripts(chunk_gaps_us, 1) AS chunk
    FROM arriving JOIN requests USING (sample_uuid)
    WHERE first_ns <= end_ns AND last_ns > end_ns
),

straddling_chunks AS (
    SELECT
        sample_uuid,
        tokens,
        sum(gap_us) OVER (PARTITION BY sample_uuid ORDER BY chunk) <= until_us AS arrived
    FROM straddling
),

straddling_tokens AS (
    SELECT any_value(tokens) * count(*) FILTER (arrived) / count(*) AS tokens
    FROM straddling_chunks
    GROUP BY sample_uuid
)

SELECT
    count(*) FILTER (in_window) AS completions,
    coalesce(sum(input_tokens) FILTER (first_ns <= end_ns), 0) AS input_tokens,
    coalesce(sum(output_tokens) FILTER (last_ns <= end_ns), 0)
    + coalesce((SELECT sum(tokens) FROM straddling_tokens), 0) AS output_tokens
FROM arriving;
