-- One row a figure of the record: the measured requests, and the sessions that completed, against it.
WITH pairs AS (
    SELECT 'input_tokens' AS figure, recorded_input_tokens::DOUBLE AS recorded, input_tokens::DOUBLE AS realised
    FROM session_turns
    WHERE measured AND status = 'completed'
    UNION ALL
    SELECT 'output_tokens', recorded_output_tokens, output_tokens FROM session_turns WHERE measured AND status = 'completed'
    UNION ALL
    SELECT 'delay_ms', delay_ms, waited_ms FROM session_turns WHERE measured
    UNION ALL
    SELECT 'session_ms', recorded_ms / (SELECT (settings ->> '$.session_trees.speed')::DOUBLE FROM session), duration_ms
    FROM sessions
    WHERE measured AND ending = 'completed'
)

SELECT
    figure,
    count(*)::BIGINT AS count,
    avg(recorded) AS recorded_mean,
    avg(realised) AS realised_mean,
    sum(realised) / nullif(sum(recorded), 0) AS ratio,
    quantile_cont(abs(realised - recorded), 0.99) AS off_p99,
    max(abs(realised - recorded)) AS off_max
FROM pairs
WHERE recorded IS NOT NULL AND realised IS NOT NULL
GROUP BY figure;
