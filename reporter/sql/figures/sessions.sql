-- One row a figure of the measured sessions that completed: its distribution over them.
WITH figures AS (
    UNPIVOT (
        SELECT
            duration_ms AS session_ms,
            first_ttft_ms,
            later_ttft_ms,
            ttfat_ms,
            join_wait_ms,
            critical_ms,
            tool_ms,
            delay_ms,
            turns::DOUBLE AS turns,
            streams::DOUBLE AS streams,
            input_tokens::DOUBLE AS input_tokens,
            output_tokens::DOUBLE AS output_tokens
        FROM sessions
        WHERE measured AND ending = 'completed'
    ) ON COLUMNS(*) INTO NAME figure VALUE value
)

SELECT
    figure,
    count(value)::BIGINT AS count,
    avg(value) AS mean,
    median(value) AS p50,
    quantile_cont(value, 0.95) AS p95,
    quantile_cont(value, 0.99) AS p99,
    min(value) AS min,
    max(value) AS max
FROM figures
GROUP BY figure;
