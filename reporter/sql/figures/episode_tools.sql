-- One row a tool that measured episodes called.
SELECT
    name,
    count(*)::BIGINT AS count,
    count(error)::BIGINT AS failed,
    avg(duration_ms) AS mean_ms,
    quantile_cont(duration_ms, 0.99) AS p99_ms
FROM tool_calls
WHERE phase = 'performance'
GROUP BY name
ORDER BY count DESC, name
LIMIT 100;
