-- One row a turn of measured episodes, by its number: how many asked it, and how it was answered.
SELECT
    turn::BIGINT AS turn,
    count(*)::BIGINT AS count,
    count(*) FILTER (status = 'failed')::BIGINT AS failed,
    quantile_cont(ttft_ms, 0.5) FILTER (status = 'completed') AS ttft_p50_ms,
    quantile_cont(latency_ms, 0.5) FILTER (status = 'completed') AS latency_p50_ms,
    avg(input_tokens) FILTER (status = 'completed') AS input_tokens_mean,
    avg(output_tokens) FILTER (status = 'completed') AS output_tokens_mean
FROM samples
WHERE measured AND status <> 'abandoned' AND conversation_id IN (SELECT conversation_id FROM requests WHERE is_episode)
GROUP BY turn
ORDER BY turn
LIMIT 100;
