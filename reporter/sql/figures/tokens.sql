-- Token totals of the measured requests that completed, and where the counts come from.
SELECT
    sum(counted_input)::BIGINT AS input,
    sum(counted_output)::BIGINT AS output,
    sum(reasoning_tokens)::BIGINT AS reasoning,
    sum(cached_tokens)::BIGINT AS cached,
    sum(server_output) FILTER (client_output IS NOT NULL)::BIGINT AS usage_output,
    sum(client_output) FILTER (server_output IS NOT NULL)::BIGINT AS recounted_output,
    count(*) FILTER (token_source = 'server_usage') AS server_usage,
    count(*) FILTER (token_source = 'client_tokenizer') AS client_tokenizer,
    count(*) FILTER (token_source = 'chunks') AS chunks,
    -- Vectors and scores do not count as tokens.
    count(*) FILTER (token_source IS NULL AND (SELECT coalesce(settings ->> '$.dataset.facts.inputs', settings ->> '$.dataset.facts.without_tokens') IS NULL FROM session)) AS unknown,
    count(*) FILTER (counted_input IS NULL) AS input_unknown
FROM counted
WHERE measured AND status = 'completed';
