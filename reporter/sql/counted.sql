-- One row a request with its token counts, the URL that it went to, and the window of its sitting.
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
        'input': coalesce(input_tokens, client_tokens.input),
        'output': coalesce(told_output, client_tokens.output, CASE WHEN stream IS NOT false THEN chunks END),
        'source': CASE
            WHEN told_output IS NOT NULL THEN 'server_usage'
            WHEN client_tokens.output IS NOT NULL THEN 'client_tokenizer'
            WHEN stream IS NOT false AND chunks IS NOT NULL THEN 'chunks'
        END
    } AS tokens
FROM (
    -- Some gateways count 0 whatever the answer is.
    SELECT *, CASE WHEN output_tokens > 0 OR coalesce(chunks, 0) = 0 THEN output_tokens END AS told_output FROM requests
) AS requests
LEFT JOIN client_tokens USING (sample_uuid) LEFT JOIN windows USING (sitting);
