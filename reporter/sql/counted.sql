-- One row a request with its token counts, the URL that it went to, and the window of its segment.
-- `counted_after_first` is how many came after the first chunk that counts, `counted_answer` how many of `counted_output` the
-- answer has, where further choices have some too, and `counted_seen` how many came after the first stamp of the stream and
-- up to `beyond_ms` after its last: TPOT divides by them (docs/metrics.md, TPOT). Every figure reads this view: so windows are a
-- list, whose place is the segment, and not joined, and counts are columns, of
-- which only those are made that are read: each in a query within the next, since DuckDB copies an alias where it is used.
CREATE VIEW counted AS
SELECT
    *,
    holds_back AND first_token_ns = first_output_ns AND coalesce(first_visible_ns > first_token_ns, true) AS calls_at_once,
    CASE
        WHEN all_counted() AND token_source = 'server_usage' AND counted_shown = chunks + 1
            AND NOT coalesce(is_cut(finish_reason), false)
        THEN chunks - 1
        -- What was held back before the first chunk is not known.
        WHEN NOT calls_at_once OR calls_at_once IS NULL THEN greatest(counted_shown - 1, 0)
        WHEN call_chars <= 8 * chunks THEN chunks - 1
    END AS counted_seen,
    CASE WHEN holds_back AND NOT calls_at_once THEN greatest(finish_ns - last_token_ns, 0) / 1e6 END AS beyond_ms
FROM (
    SELECT
        *,
        all_counted() AND token_source = 'server_usage' AND call_chars > 0 AND counted_shown > chunks + 1 AS holds_back
    FROM (
        SELECT
            *,
            -- Reasoning that the server counts and does not send.
            counted_answer - CASE
                WHEN reasoning_chars = 0 AND is_counted('reasoning') AND token_source = 'server_usage' AND chunks > 0
                THEN least(coalesce(reasoning_tokens, 0), greatest(counted_answer - chunks, 0))
                ELSE 0
            END AS counted_shown
        FROM (
            SELECT
                *,
                -- Where each chunk is one token, so is the first. The token that ends a text has none, and no chunk.
                CASE
                    WHEN stream IS false THEN NULL
                    WHEN chunks = 1 THEN 0
                    WHEN token_source = 'chunks' THEN greatest(chunks - 1, 0)
                    WHEN token_source = 'server_usage' AND server_output = 0 THEN 0
                    WHEN token_source = 'server_usage'
                        AND (silent_tokens OR chunks = server_total OR (chunks = server_total - 1 AND finish_reason = 'stop'))
                    THEN server_output - 1
                    -- A server that sends its usage with each chunk says how many tokens are in the first.
                    WHEN token_source = 'server_usage' AND all_counted()
                        AND try_cast(first_chunk ->> '$.tokens' AS BIGINT) > 0
                    THEN greatest(server_output - try_cast(first_chunk ->> '$.tokens' AS BIGINT), 0)
                    ELSE if(client_output = 0, 0, client_after_first)
                END AS counted_after_first,
                CASE
                    WHEN choices = 1 OR token_source <> 'server_usage' THEN counted_output
                    WHEN counted_output - chunks IN (0, 1) OR counted_output - chunks - other_chunks BETWEEN 0 AND choices
                    THEN chunks
                END AS counted_answer
            FROM (
                SELECT
                    *,
                    coalesce(
                        (SELECT settings ->> '$.urls[*]' FROM session)[endpoint_index + 1],
                        (SELECT settings ->> '$.url' FROM session)
                    ) AS endpoint,
                    (SELECT list(start_ns ORDER BY segment) FROM windows)[segment] AS window_start_ns,
                    (SELECT list(end_ns ORDER BY segment) FROM windows)[segment] AS window_end_ns,
                    CASE getvariable('token_source')
                        WHEN 'client_tokenizer' THEN client_input
                        WHEN 'server_usage' THEN input_tokens
                        ELSE coalesce(input_tokens, client_input)
                    END AS counted_input,
                    CASE token_source
                        WHEN 'server_usage' THEN server_output
                        WHEN 'client_tokenizer' THEN client_output
                        WHEN 'chunks' THEN chunks
                    END AS counted_output
                FROM (
                    SELECT *, counted_by(server_output, client_output, chunks, stream) AS token_source
                    FROM (
                        SELECT
                            *,
                            -- Some gateways count 0 whatever the answer is.
                            CASE WHEN output_tokens > 0 OR coalesce(chunks, 0) = 0 THEN output_tokens END AS server_total,
                            CASE WHEN all_counted() THEN server_total ELSE client_server END AS server_output
                        FROM recounted
                    )
                )
            )
        )
    )
);
