-- One row a figure of the measured episodes: its distribution over them.
WITH figures AS (
    UNPIVOT (
        SELECT
            turns::DOUBLE AS turns,
            tool_calls::DOUBLE AS tool_calls,
            duration_ms,
            setup_ms,
            wall_ms,
            model_ms,
            tool_ms,
            user_ms,
            own_ms,
            finish_ms,
            100 * model_ms / nullif(wall_ms, 0) AS model_share_pct,
            100 * tool_ms / nullif(wall_ms, 0) AS tool_share_pct,
            100 * own_ms / nullif(wall_ms, 0) AS own_share_pct,
            input_tokens::DOUBLE AS input_tokens,
            output_tokens::DOUBLE AS output_tokens,
            reward
        FROM episodes
        WHERE measured AND ending <> 'cut'
    ) ON COLUMNS(*) INTO NAME figure VALUE value
)

SELECT
    figure,
    count(value)::BIGINT AS count,
    avg(value) AS mean,
    median(value) AS median,
    quantile_cont(value, 0.99) AS p99,
    min(value) AS min,
    max(value) AS max,
    sum(value) AS total
FROM figures
GROUP BY figure;
