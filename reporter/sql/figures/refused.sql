-- Of the measured requests that completed, whose token counts cannot be true, and an example (reporter/findings/response_shapes.py).
SELECT
    count(*) AS refused,
    count(*) FILTER (token_source = 'chunks' AND NOT output_is_count) AS refused_to_chunks,
    count(*) FILTER (counted_input IS NULL AND refused_tokens ->> '$.input_tokens' IS NOT NULL) AS refused_input,
    arg_min({'request': sample_uuid, 'counts': refused_tokens, 'bytes': bytes}, sample_uuid) AS refused_example
FROM counted
WHERE measured AND status = 'completed' AND refused_tokens IS NOT NULL;
