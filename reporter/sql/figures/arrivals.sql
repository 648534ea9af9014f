-- What arrived inside the window, of the measured requests that completed, or were cut.
SELECT
    count(*) FILTER (in_window) AS completions,
    (SELECT count(duration_s) FROM windows) AS segments,
    coalesce(sum(input_tokens), 0)::BIGINT AS input_tokens,
    coalesce(sum_of_tokens(output_tokens), 0) AS output_tokens
FROM arrived;
