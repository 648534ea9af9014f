-- One row a request with its token counts, the URL that it went to, and the window of its segment.
-- `tokens.after_first` is how many came after the first chunk that counts.
CREATE VIEW counted AS
SELECT
    requests.*,
    coalesce(
        (SELECT settings ->> '$.urls[*]' FROM session)[endpoint_index + 1],
        (SELECT settings ->> '$.url' FROM session)
    ) AS endpoint,
    windows.start_ns AS window_start_ns,
    windows.end_ns AS window_end_ns,
    {
        'input': CASE getvariable('token_source')
            WHEN 'client_tokenizer' THEN client_input
            WHEN 'server_usage' THEN input_tokens
            ELSE coalesce(input_tokens, client_input)
        END,
        'output': CASE token_source
            WHEN 'server_usage' THEN server_output
            WHEN 'client_tokenizer' THEN client_output
            WHEN 'chunks' THEN chunks
        END,
        -- Where each chunk is one token, so is the first. The token that ends a text has none, and no chunk.
        'after_first': CASE
            WHEN stream IS false THEN NULL
            WHEN chunks = 1 THEN 0
            WHEN token_source = 'chunks' THEN greatest(chunks - 1, 0)
            WHEN token_source = 'server_usage' AND server_output = 0 THEN 0
            WHEN token_source = 'server_usage'
                AND (silent_tokens OR chunks = server_total OR (chunks = server_total - 1 AND finish_reason = 'stop'))
            THEN server_output - 1
            ELSE if(client_output = 0, 0, client_after_first)
        END
    } AS tokens
FROM (
    SELECT
        requests.*,
        -- Some gateways count 0 whatever the answer is.
        CASE WHEN output_tokens > 0 OR coalesce(chunks, 0) = 0 THEN output_tokens END AS server_total,
        CASE WHEN all_counted() THEN server_total ELSE client_tokens.server END AS server_output,
        client_tokens.input AS client_input,
        client_tokens.output AS client_output,
        client_tokens.after_first AS client_after_first,
        counted_by(server_output, client_output, chunks, stream) AS token_source
    FROM requests LEFT JOIN client_tokens USING (sample_uuid)
) AS requests
LEFT JOIN windows USING (sitting);
