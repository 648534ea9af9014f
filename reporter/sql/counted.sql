-- One row a request with its token counts, the URL that it went to, and the window of its segment.
-- `counted_after_first` is how many came after the first chunk that counts. Every figure reads this view: so windows are a
-- list, whose place is the segment, and not joined, and counts are columns, of which only those are made that are read.
CREATE VIEW counted AS
SELECT
    requests.*,
    coalesce(
        (SELECT settings ->> '$.urls[*]' FROM session)[endpoint_index + 1],
        (SELECT settings ->> '$.url' FROM session)
    ) AS endpoint,
    (SELECT list(start_ns ORDER BY sitting) FROM windows)[sitting] AS window_start_ns,
    (SELECT list(end_ns ORDER BY sitting) FROM windows)[sitting] AS window_end_ns,
    CASE getvariable('token_source')
        WHEN 'client_tokenizer' THEN client_input
        WHEN 'server_usage' THEN input_tokens
        ELSE coalesce(input_tokens, client_input)
    END AS counted_input,
    CASE token_source
        WHEN 'server_usage' THEN server_output
        WHEN 'client_tokenizer' THEN client_output
        WHEN 'chunks' THEN chunks
    END AS counted_output,
    -- Where each chunk is one token, so is the first. The token that ends a text has none, and no chunk.
    CASE
        WHEN stream IS false THEN NULL
        WHEN chunks = 1 THEN 0
        WHEN token_source = 'chunks' THEN greatest(chunks - 1, 0)
        WHEN token_source = 'server_usage' AND server_output = 0 THEN 0
        WHEN token_source = 'server_usage'
            AND (silent_tokens OR chunks = server_total OR (chunks = server_total - 1 AND finish_reason = 'stop'))
        THEN server_output - 1
        ELSE if(client_output = 0, 0, client_after_first)
    END AS counted_after_first
FROM (
    SELECT
        *,
        -- Some gateways count 0 whatever the answer is.
        CASE WHEN output_tokens > 0 OR coalesce(chunks, 0) = 0 THEN output_tokens END AS server_total,
        CASE WHEN all_counted() THEN server_total ELSE client_server END AS server_output,
        counted_by(server_output, client_output, chunks, stream) AS token_source
    FROM recounted
) AS requests;
