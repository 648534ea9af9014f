-- One row a depth of agents: their measured requests.
SELECT
    depth,
    count(*)::BIGINT AS count,
    count(*) FILTER (status = 'failed')::BIGINT AS failed,
    median(ttft_ms) AS ttft_p50_ms,
    quantile_cont(ttft_ms, 0.95) AS ttft_p95_ms,
    avg(input_tokens) AS input_tokens_mean
FROM session_turns
WHERE measured
GROUP BY depth
ORDER BY depth;
