-- Token totals of the measured requests that completed, and where the counts come from.
SELECT
    sum(input_tokens) AS input,
    sum(output_tokens) AS output,
    sum(reasoning_tokens) AS reasoning,
    sum(cached_tokens) AS cached,
    count(*) FILTER (token_source = 'server_usage') AS server_usage,
    count(*) FILTER (token_source = 'client_tokenizer') AS client_tokenizer,
    count(*) FILTER (token_source = 'chunks') AS chunks,
    count(*) FILTER (token_source IS NULL) AS unknown,
    count(*) FILTER (input_tokens IS NULL) AS input_unknown
FROM samples
WHERE measured AND status = 'completed';
